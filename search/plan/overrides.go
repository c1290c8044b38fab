package plan

import (
	"cmp"
	"maps"
	"math"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/scoring"
)

// Overrides are changes to a preset's plan by a request, a column of a comparison,
// or a preset of the configuration; nil leaves a value unchanged. The tags hold
// the names and the text of the API and of the configuration.
type Overrides struct {
	Candidates         *int                `json:"candidates,omitempty" minimum:"1" maximum:"10000" yaml:"candidates" accept:"1 to 10000" doc:"Size of the answer set that totals and facets count, and hits per leg."`
	Weights            map[string]float64  `json:"weights,omitempty" yaml:"weights" accept:"numbers >= 0" doc:"Weight per leg, finite and >= 0, at least one > 0."`
	Fields             map[string]float64  `json:"fields,omitzero" yaml:"fields" accept:"1, or numbers from 2 to 100" doc:"What parts of the text count in text legs, 1 or from 2 to 100, by title, content, important_keywords and questions; those left out have 1. The default is the knowledge base's, which must index them by themselves."`
	RRFK               *float64            `json:"rrf_k,omitempty" minimum:"1" maximum:"1000000" yaml:"rrf_k" accept:"1 to 1000000" doc:"Constant k of reciprocal rank fusion, >= 1."`
	Normalizer         *scoring.Normalizer `json:"normalizer,omitempty" yaml:"normalizer"` // described by the list of them
	Pivot              *float64            `json:"pivot,omitempty" exclusiveMinimum:"0" maximum:"1000000" yaml:"pivot" accept:"more than 0, at most 1000000" doc:"Saturates a text score s to s/(s+pivot); script_score and text."`
	MinimumShouldMatch *string             `json:"minimum_should_match,omitempty" yaml:"minimum_should_match" accept:"a number of terms, or a percentage" doc:"Terms that must match, \"30%\" or a number; percentages round down."`
	TextQuery          TextQuery           `json:"text_query,omitzero" yaml:"text_query" doc:"How the question becomes a text query, where not as the preset has it."`
	TextRequired       *bool               `json:"text_required,omitempty" yaml:"text_required" doc:"script_score and ragflow: leave out chunks that the text query does not match."`
	UseRerank          *bool               `json:"use_rerank,omitempty" yaml:"use_rerank" doc:"rrf: false gives the vector results as they are."`
	Rerank             *Rerank             `json:"rerank,omitempty" yaml:"rerank"`
	Signals            []Signal            `json:"signals,omitempty" yaml:"signals" doc:"What fields of a chunk say for it whatever the question: how recent, how popular, of which kind."`
	Rewrite            *Rewrite            `json:"rewrite,omitempty" yaml:"rewrite" doc:"What a language model (llm.url) writes to ask by too, at most 8 texts together with queries."`
	Diversity          *float64            `json:"diversity,omitempty" minimum:"0" maximum:"1" yaml:"diversity" accept:"0 to 1" doc:"How much a hit must be unlike those before it, by maximal marginal relevance over the vectors: 0 the order of the scores, 1 the most unlike."`
	Threshold          Threshold           `json:"threshold,omitzero" yaml:"threshold" doc:"What a hit must reach."`
	Return             string              `json:"return,omitempty" yaml:"return" accept:"chunk or parent" enum:"chunk,parent" doc:"parent: hits bring their section along, the chunks beside them with the same parent_id or title, and chunks of one section are one hit. The default is chunk."`
	DidYouMean         *bool               `json:"did_you_mean,omitempty" yaml:"did_you_mean" doc:"Correct the words of the question that no chunk has, see did_you_mean of the answer. Off by default."`
	GroupBy            *string             `json:"group_by,omitempty" yaml:"group_by" accept:"document_id" doc:"document_id: the best chunk of each document only."`
}

// Threshold cuts hits. Relevance is absolute on a hit's relevance, Answerable on that of
// the answer as a whole, which it empties; Score is absolute on the fused score in [0, 1];
// Relative is a share of the best hit's score; Text and Vector are absolute on
// a leg's raw score (BM25, cosine). In JSON it may be "auto", see AutoThreshold.
type Threshold struct {
	Relevance  *float64 `json:"relevance,omitempty" minimum:"0" maximum:"1" yaml:"relevance" accept:"0 to 1" doc:"On the relevance of a hit."`
	Answerable *float64 `json:"answerable,omitempty" minimum:"0" maximum:"1" yaml:"answerable" accept:"0 to 1" doc:"On answerable: below it the answer is empty."`
	Score      *float64 `json:"score,omitempty" minimum:"0" maximum:"1" yaml:"score" accept:"0 to 1" doc:"On the score."`
	Relative   *float64 `json:"relative,omitempty" minimum:"0" maximum:"1" yaml:"relative" accept:"0 to 1" doc:"As a share of the best hit's score."`
	Text       *float64 `json:"text,omitempty" minimum:"0" yaml:"text" accept:"a number >= 0" doc:"On the text leg's raw score."`
	Vector     *float64 `json:"vector,omitempty" minimum:"-1" maximum:"1" yaml:"vector" accept:"-1 to 1" doc:"On the raw cosine."`
}

// Over lays the overrides over others, which hold where these are nil: weights leg
// by leg.
func (o Overrides) Over(base Overrides) Overrides {
	if len(base.Weights) > 0 {
		weights := maps.Clone(base.Weights)
		maps.Copy(weights, o.Weights)
		o.Weights = weights
	}
	o.Candidates = cmp.Or(o.Candidates, base.Candidates)
	if o.Fields == nil {
		o.Fields = base.Fields
	}
	o.RRFK = cmp.Or(o.RRFK, base.RRFK)
	o.Normalizer = cmp.Or(o.Normalizer, base.Normalizer)
	o.Pivot = cmp.Or(o.Pivot, base.Pivot)
	o.MinimumShouldMatch = cmp.Or(o.MinimumShouldMatch, base.MinimumShouldMatch)
	o.TextQuery = o.TextQuery.Over(base.TextQuery)
	o.TextRequired = cmp.Or(o.TextRequired, base.TextRequired)
	o.UseRerank = cmp.Or(o.UseRerank, base.UseRerank)
	o.Rerank = cmp.Or(o.Rerank, base.Rerank)
	if o.Signals == nil {
		o.Signals = base.Signals
	}
	o.Rewrite = cmp.Or(o.Rewrite, base.Rewrite)
	o.Return = cmp.Or(o.Return, base.Return)
	o.Diversity = cmp.Or(o.Diversity, base.Diversity)
	o.DidYouMean = cmp.Or(o.DidYouMean, base.DidYouMean)
	o.Threshold = o.Threshold.Over(base.Threshold)
	o.GroupBy = cmp.Or(o.GroupBy, base.GroupBy)
	return o
}

// Over lays a threshold over another, field by field.
func (t Threshold) Over(base Threshold) Threshold {
	return Threshold{
		Relevance:  cmp.Or(t.Relevance, base.Relevance),
		Answerable: cmp.Or(t.Answerable, base.Answerable),
		Score:      cmp.Or(t.Score, base.Score),
		Relative:   cmp.Or(t.Relative, base.Relative),
		Text:       cmp.Or(t.Text, base.Text),
		Vector:     cmp.Or(t.Vector, base.Vector),
	}
}

// Validate refuses overrides that no plan can have. Its errors name the field and the accepted
// values.
func (o *Overrides) Validate() error {
	if n := o.Candidates; n != nil && (*n < 1 || *n > MaxCandidates) {
		return fault.Invalid("candidates", *n, "1 to 10000")
	}
	if err := o.validateWeights(); err != nil {
		return err
	}
	if k := o.RRFK; k != nil && !(*k >= 1 && *k <= 1e6) {
		return fault.Invalid("rrf_k", *k, "a number from 1 to 1000000")
	}
	if p := o.Pivot; p != nil && !(*p > 0 && *p <= 1e6) {
		return fault.Invalid("pivot", *p, "a number > 0 and <= 1000000")
	}
	if err := engine.CheckBoosts("fields", o.Fields); err != nil {
		return err
	}
	if err := o.Rewrite.validate(); err != nil {
		return err
	}
	if err := validateReturn(o.Return); err != nil {
		return err
	}
	if d := o.Diversity; d != nil && !(*d >= 0 && *d <= 1) {
		return fault.Invalid("diversity", *d, "0 to 1")
	}
	if err := o.Rerank.validate(); err != nil {
		return err
	}
	if err := validateSignals(o.Signals); err != nil {
		return err
	}
	if err := o.Threshold.validate(); err != nil {
		return err
	}
	if err := o.TextQuery.validate(); err != nil {
		return err
	}
	if g := o.GroupBy; g != nil && *g != GroupByDocument && *g != "document" && *g != "" {
		return fault.Invalid("group_by", *g, "document_id, or null")
	}
	if m := o.MinimumShouldMatch; m != nil {
		if _, err := analysis.ParseMinimum("minimum_should_match", *m); err != nil {
			return err
		}
	}
	if o.Normalizer != nil {
		return o.Normalizer.Validate()
	}
	return nil
}

func (o *Overrides) validateWeights() error {
	_, text := o.Weights[string(scoring.Text)]
	_, vector := o.Weights[string(scoring.Vector)]
	positive := !text || !vector // the preset's are there for the rest, and the planner looks at all
	for name, weight := range o.Weights {
		if math.IsNaN(weight) || math.IsInf(weight, 0) || weight < 0 {
			return fault.Invalid("weights."+name, weight, "a finite number >= 0")
		}
		positive = positive || weight > 0
	}
	if !positive {
		return fault.Invalid("weights", "all zero", "at least one weight > 0")
	}
	return nil
}

func (t *Threshold) validate() error {
	thresholds := []struct {
		field     string
		value     *float64
		low, high float64
		accepted  string
	}{
		{"threshold.relevance", t.Relevance, 0, 1, "0 to 1"},
		{"threshold.answerable", t.Answerable, 0, 1, "0 to 1"},
		{"threshold.score", t.Score, 0, 1, "0 to 1"},
		{"threshold.relative", t.Relative, 0, 1, "0 to 1"},
		{"threshold.text", t.Text, 0, math.MaxFloat32, "a finite number >= 0"},
		{"threshold.vector", t.Vector, -1, 1, "-1 to 1"},
	}
	for _, t := range thresholds {
		if t.value != nil && !(*t.value >= t.low && *t.value <= t.high) {
			return fault.Invalid(t.field, *t.value, t.accepted)
		}
	}
	return nil
}
