package relevance

import (
	"math"
	"slices"

	"github.com/hybridge-search/hybridge/analysis/language"
	"github.com/hybridge-search/hybridge/embedding/bank"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
)

// Estimator estimates the relevance of the hits of a knowledge base, from the legs' scores
// and never from the fused score: so it is the same for every preset.
type Estimator struct {
	Asked   string // language of the question
	Profile *Profile
	Scales  []LegScale // of the vector legs; none: by words
	Err     error      // why vectors give no evidence
	Bound   float64    // of the text scores, if evidence is by words; 0: there is none
	Chunks  int        // from which the best is chosen
	Words   []int      // the text legs of the question itself
	Vectors int        // how many vector legs can be run
}

// LegScale converts the cosines of a leg into evidence.
type LegScale struct {
	Leg    int
	Name   string // of the leg
	Asked  string // language of the phrasing
	Parts  []Part
	Chunks int // with a vector
}

// Part is the chunks in one language, and the line that stands for their evidence.
type Part struct {
	bank.Scale
	Language string
	Share    float64     // of the chunks, in [0, 1]
	Middle   float64     // cosine of the question and their mean vector
	Exact    *bank.Exact // in another language than the question
}

// ScaleOf gives the scale of a leg, nil where there is none.
func (j *Estimator) ScaleOf(leg int) *LegScale {
	for i := range j.Scales {
		if j.Scales[i].Leg == leg {
			return &j.Scales[i]
		}
	}
	return nil
}

// Moments of a leg's evidence, given those of its cosines.
func (j *Estimator) Moments(leg int, cosines *scoring.Moments) *scoring.Moments {
	if s := j.ScaleOf(leg); s != nil {
		return s.moments(cosines)
	}
	return cosines // of a text leg
}

// Of gives the part of a language, nil if there is none.
func (s *LegScale) Of(language string) *Part {
	for i := range s.Parts {
		if s.Parts[i].Language == language {
			return &s.Parts[i]
		}
	}
	return nil
}

// Copy is for one of the searches that share the measurements.
func (j *Estimator) Copy() *Estimator {
	if j == nil {
		return nil
	}
	own := *j
	return &own
}

// ByVectors reports whether cosines are evidence here.
func (j *Estimator) ByVectors() bool { return len(j.Scales) > 0 }

// byWords is the evidence of a chunk if no vectors were compared.
func (j *Estimator) byWords(chunkLanguage string, raw func(leg int) float64) float64 {
	best := math.NaN()
	for _, leg := range j.Words {
		if j.Bound > 0 && chunkLanguage == j.Asked {
			best = answer.LargerKnown(best, raw(leg)/j.Bound)
		}
	}
	return best
}

// LanguageOf is the language of a hit.
func (j *Estimator) LanguageOf(h *engine.Hit) string {
	if j.Profile.Mixed() {
		for _, named := range h.Facets[engine.MetadataLanguage] {
			if l := language.Code(named); j.Profile.Has(l) {
				return l
			}
		}
	}
	return j.Profile.Main
}

// The kinds of evidence, each on its own scale.
const (
	byVectors = iota
	byWords
	kindsOfEvidence
)

func kindOf(j *Estimator) int {
	if j.ByVectors() {
		return byVectors
	}
	return byWords
}

// knows reports whether a hit can have evidence.
func (j *Estimator) knows() bool { return j.ByVectors() || j.Bound > 0 }

// WithoutVectors reports whether there are no chunks with vectors, so that no evidence is missing.
func (j *Estimator) WithoutVectors() bool { return j != nil && j.Err == nil && j.Chunks == 0 }

// CoversAll reports whether evidence is known in every vector leg.
func (j *Estimator) CoversAll() bool {
	return j != nil && len(j.Scales) == j.Vectors && !slices.ContainsFunc(j.Scales, func(s LegScale) bool {
		return s.Of(j.Profile.Main) == nil
	})
}

// Foreign reports whether chunks are in another language than the question.
func (j *Estimator) Foreign() bool {
	return j != nil && slices.ContainsFunc(j.Scales, func(s LegScale) bool {
		return slices.ContainsFunc(s.Parts, func(p Part) bool { return p.Language != s.Asked })
	})
}

// moments of the evidence over the knowledge base, from those of the cosines: within each
// language these are taken to vary alike, around the language's own mean. Languages of a few
// chunks are no parts, so the shares of those that are add up to less than 1.
func (s *LegScale) moments(cosines *scoring.Moments) *scoring.Moments {
	var all, middle, squares float64
	for _, p := range s.Parts {
		all += p.Share
	}
	for _, p := range s.Parts {
		middle += p.Share / all * p.Middle
		squares += p.Share / all * p.Middle * p.Middle
	}
	within := max(cosines.Deviation*cosines.Deviation-max(squares-middle*middle, 0), 0)
	var mean, second float64
	for _, p := range s.Parts {
		m := p.Evidence(p.Middle)
		mean += p.Share / all * m
		second += p.Share / all * (p.Slope*p.Slope*within + m*m)
	}
	return &scoring.Moments{Mean: mean, Deviation: math.Sqrt(max(second-mean*mean, 0))}
}

// InOtherLanguages selects chunks in another language than the question. Chunks without a
// language are in the main one.
func (j *Estimator) InOtherLanguages() []filter.Condition {
	others := []filter.Condition{{Field: engine.MetadataLanguage, In: []filter.Value{{V: j.Asked}}, Not: true}}
	if j.Asked == j.Profile.Main {
		others = append(others, filter.Condition{Field: engine.MetadataLanguage, Exists: new(true)})
	}
	return others
}

// InOwnLanguage selects chunks in the language of the question, if it is not the main
// one: all of them name it.
func (j *Estimator) InOwnLanguage() []filter.Condition {
	return []filter.Condition{{Field: engine.MetadataLanguage, In: []filter.Value{{V: j.Asked}}}}
}

// CosineWith is the cosine of a mean vector, of vectors of length 1, and another vector,
// as the mean of the cosines is.
func CosineWith(mean, v []float32) float64 {
	var dot, square float64
	for i := range v {
		dot += float64(mean[i]) * float64(v[i])
		square += float64(v[i]) * float64(v[i])
	}
	if square == 0 {
		return 0
	}
	return dot / math.Sqrt(square)
}

// lines gives the scales of all legs, by the language of the chunks.
func (j *Estimator) lines() []answer.LanguageScale {
	var lines []answer.LanguageScale
	for i := range j.Scales {
		for _, p := range j.Scales[i].Parts {
			lines = append(lines, answer.LanguageScale{
				Leg: j.Scales[i].Name, Language: p.Language, Share: p.Share, Scale: p.Scale,
			})
		}
	}
	return lines
}
