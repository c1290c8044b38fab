package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/scoring"
)

// NeedsStatistics reports whether anything in the plan depends on statistics of the
// knowledge base.
func (p *Plan) NeedsStatistics() bool {
	return p.Coverage || p.Text.Weighting == analysis.TFIDF ||
		p.Fusion.Normalizer == scoring.ZScore || p.Fusion.Normalizer == scoring.Theoretical
}

// WeighBy lets a model decide the weight of words for each question. The plan must fuse z-scores of text and vectors
// (fault.InvalidArgument); the legs are then asked separately, to compare their best hits. A plan with legs of one kind
// stays unchanged.
func (p *Plan) WeighBy(m *WeightModel) error {
	has := func(kind scoring.Kind) bool {
		return slices.ContainsFunc(p.Legs, func(l Leg) bool { return l.Kind == kind })
	}
	if m == nil || has(scoring.Text) != has(scoring.Vector) {
		return nil
	}
	if p.Fusion.Method != scoring.Linear || p.Fusion.Normalizer != scoring.ZScore {
		return &fault.Error{
			Kind: fault.InvalidArgument, Field: "weights_by",
			Detail: "weights_by needs a preset that fuses z-scores: balanced, or linear with normalizer z_score",
		}
	}
	const least = 100 // hits of a joint ranking beyond it rank low in both legs
	for i := range p.Legs {
		p.Legs[i].K = max(p.Legs[i].K, least)
	}
	p.WeightsBy, p.Joint = m, false
	return nil
}

// MaxObserved is how many hits of each leg may be observed.
const MaxObserved = 200

// TakeApart asks for the legs of a joint ranking separately.
func (p *Plan) TakeApart() {
	if !p.Joint {
		return
	}
	p.Joint = false
	for i := range p.Legs {
		p.Legs[i].K = MaxObserved
	}
}

// FusesAlone refuses a request whose answer depends on more than the legs' scores.
func (p *Plan) FusesAlone(req *Request) error {
	t := &p.Threshold
	rewritten := p.Rewrite != nil && p.Rewrite.Texts() > 0
	for _, asked := range []struct {
		field string
		value any
		is    bool
	}{
		{"everything", true, len(p.Legs) == 0},
		{"queries", fault.Length(len(req.Queries)), len(req.Queries) > 0},
		{"rewrite", true, rewritten},
		{"preset", p.Preset, p.SecondStage != nil || len(p.Distinct) > 0},
		{"diversity", p.Diversity, p.Diversity > 0},
		{"group_by", p.GroupBy, p.GroupBy != ""},
		{"text_required", true, p.TextRequired},
		{"return", p.Return, p.Return != ""},
		{"copies", req.Copies, req.Copies == CopiesFold},
		{"threshold.relevance", true, t.ByRelevance()},
		{"threshold.text", true, t.Text != nil},
		{"threshold.vector", true, t.Vector != nil},
	} {
		if asked.is {
			return fault.Invalid(asked.field, asked.value, "left out: what comes before or after the fusion cannot be observed")
		}
	}
	return nil
}

// Several phrasings of a question are legs of one answer, as in RAG-Fusion (Rackauckas 2024,
// https://arxiv.org/abs/2402.03367): each leg of the plan is there once for each phrasing, at
// its share of the weight. The question itself is the first: it alone has operators, is
// reranked and corrected, and is subject to thresholds on raw scores.

// MaxPhrasings is how many Request.Queries may have.
const MaxPhrasings = 8

func (r *Request) validateQueries() error {
	if n := len(r.Queries); n > MaxPhrasings {
		return fault.Invalid("queries", fault.Length(n), "at most 8 phrasings")
	}
	for i, text := range r.Queries {
		field := "queries[" + strconv.Itoa(i) + "]"
		switch {
		case len(text) > MaxQueryBytes:
			return &fault.Error{
				Kind: fault.TooLarge, Field: field, Detail: fault.Invalid(field, text, "at most 32768 bytes").Detail,
			}
		case !utf8.ValidString(text):
			return fault.Invalid(field, text, "valid UTF-8")
		case strings.TrimSpace(text) == "":
			return fault.Invalid(field, text, "a question of at least one character that is not blank")
		}
	}
	return nil
}

// Phrase has the legs ask for n more phrasings. No phrasing's words are required then: a hit
// of one may have none of another's.
func (p *Plan) Phrase(n int) {
	if n == 0 {
		return
	}
	if p.Fusion.Method == scoring.Single { // as the presets have it for several legs
		p.Fusion = scoring.Fusion{Method: scoring.RRF, RRFK: scoring.DefaultRRFK}
	}
	planned := p.Legs
	p.Legs, p.TextRequired, p.Relaxations = nil, false, nil
	for query := range n + 1 {
		for _, l := range planned {
			if l.Kind == scoring.Signal {
				continue
			}
			l.Weight /= float64(n + 1)
			if l.Query = query; query > 0 {
				l.Name += ":" + strconv.Itoa(query)
			}
			p.Legs = append(p.Legs, l)
		}
	}
	for _, l := range planned {
		if l.Kind == scoring.Signal {
			p.Legs = append(p.Legs, l)
		}
	}
}

// BoostFields sets the boosts of parts of the text in the text legs of a plan: those of the request,
// else of the preset, else of the knowledge base.
func (p *Plan) BoostFields(kb *engine.KnowledgeBase) error {
	boosts, kept := p.Fields, kb.Parts()
	if boosts == nil {
		boosts = kb.Boosts
		if p.DefaultBoosts != nil && kb.Attach == nil {
			boosts = maps.Clone(p.DefaultBoosts)
			maps.DeleteFunc(boosts, func(part string, _ float64) bool { return !slices.Contains(kept, part) })
		}
	}
	if boosts == nil {
		return nil
	}
	for part, by := range boosts {
		if by != 1 && !slices.Contains(kept, part) {
			return lacksPart(kb, part)
		}
	}
	boosts = maps.Clone(boosts)
	maps.DeleteFunc(boosts, func(_ string, by float64) bool { return by == 1 })
	p.Fields = nil
	if len(boosts) == 0 {
		return nil
	}
	p.Fields = boosts
	for i := range p.Legs {
		if l := &p.Legs[i]; l.Kind == scoring.Text && l.Field == engine.FieldText {
			l.Boosts = boostsOf(boosts)
		}
	}
	return nil
}

func lacksPart(kb *engine.KnowledgeBase, part string) error {
	has := "none of its parts"
	if kept := kb.Parts(); len(kept) > 0 {
		has = strings.Join(kept, ", ")
	}
	return &fault.Error{
		Kind: fault.InvalidArgument, Field: "fields." + part,
		Detail: fmt.Sprintf("knowledge base %s does not index %s by itself; it has %s (a new one with fields does)",
			kb.ID, part, has),
	}
}

// boostsOf gives the boosts in the order of the parts.
func boostsOf(boosts map[string]float64) []engine.Boost {
	var list []engine.Boost
	for _, part := range engine.Parts() {
		if by, boosted := boosts[part]; boosted {
			list = append(list, engine.Boost{Part: part, By: by})
		}
	}
	return list
}

// Leg is the leg of a plan for the signal.
func (s *Signal) Leg() Leg {
	signal, err := s.of("")
	if err != nil { // validated before
		return Leg{}
	}
	return Leg{Name: s.name(), Kind: scoring.Signal, Field: signal.Field, Weight: s.Weight, Signal: s}
}

// AsOf is the reference time of a plan's recencies: rounded down, so that for a 256th of the
// half-life an answer can be cached and its pages belong to one ranking.
func (p *Plan) AsOf(now time.Time) {
	for i := range p.Legs {
		s := p.Legs[i].Signal
		if s == nil || s.Recency == nil {
			continue
		}
		if half, err := parseAge("", s.Recency.HalfLife, time.Second); err == nil {
			moment := now.UTC().Truncate(max(time.Second, (half / 256).Truncate(time.Second)))
			p.Legs[i].AsOf = &moment
		}
	}
}

// EngineSignal is the signal that a leg requests from the engine, nil if none.
func (l *Leg) EngineSignal() *engine.Signal {
	if l.Signal == nil {
		return nil
	}
	signal, err := l.Signal.of("")
	if err != nil { // validated before
		return nil
	}
	if signal.Recency != nil && l.AsOf != nil {
		signal.Recency.Now = *l.AsOf
	}
	return &signal
}
