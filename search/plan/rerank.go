package plan

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hybridge-search/hybridge/fault"
)

// Defaults and limits of reranking.
const (
	DefaultRerankWindow = 50
	DefaultRerankWeight = 0.7
	MaxRerankWindow     = 1_000
	MaxRerankBudget     = 600_000  // ms
	MaxRerankedText     = 16 << 10 // bytes
)

// Rerank asks a reranker to read the best candidates. A name alone, in JSON and YAML, means
// that its scores replace the others: weight 1.
type Rerank struct {
	Name     string   `json:"name" yaml:"name" doc:"Name of a reranker of the configuration."`
	Window   *int     `json:"window,omitempty" minimum:"1" maximum:"1000" yaml:"window" accept:"1 to 1000" doc:"How many of the best candidates it reads; the default is 50."`
	Weight   *float64 `json:"weight,omitempty" minimum:"0" maximum:"1" yaml:"weight" accept:"0 to 1" doc:"Of its score, beside 1 - weight of the fused one; the default is 0.7."`
	BudgetMS *int     `json:"budget_ms,omitempty" minimum:"1" maximum:"600000" yaml:"budget_ms" accept:"1 to 600000" doc:"Time after which the answer comes as it was fused, and says so."`
}

// UnmarshalJSONFrom reads an object, or a name.
func (r *Rerank) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() != '"' {
		type plain Rerank // without this method
		return json.UnmarshalDecode(d, (*plain)(r), d.Options())
	}
	var name string
	if err := json.UnmarshalDecode(d, &name); err != nil {
		return err
	}
	return r.UnmarshalText([]byte(name))
}

// UnmarshalText reads a name.
func (r *Rerank) UnmarshalText(name []byte) error {
	*r = Rerank{Name: string(name), Weight: new(1.0)}
	return nil
}

// UnmarshalJSON is UnmarshalJSONFrom for encoding/json.
func (r *Rerank) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, r) }

// validate refuses invalid values.
func (r *Rerank) validate() error {
	if r == nil {
		return nil
	}
	if w := r.Window; w != nil && (*w < 1 || *w > MaxRerankWindow) {
		return fault.Invalid("rerank.window", *w, "1 to 1000")
	}
	if w := r.Weight; w != nil && !(*w >= 0 && *w <= 1) {
		return fault.Invalid("rerank.weight", *w, "0 to 1")
	}
	if b := r.BudgetMS; b != nil && (*b < 1 || *b > MaxRerankBudget) {
		return fault.Invalid("rerank.budget_ms", *b, "1 to 600000")
	}
	return nil
}

// Reranking configures a plan's reranker.
type Reranking struct {
	Name     string  `json:"name"`
	Window   int     `json:"window"`
	Weight   float64 `json:"weight"`
	BudgetMS int     `json:"budget_ms,omitempty"`
}

// MarshalJSON writes the name alone where that stands for all of it.
func (p *Reranking) MarshalJSON() ([]byte, error) {
	if *p == (Reranking{Name: p.Name, Window: DefaultRerankWindow, Weight: 1}) {
		return json.Marshal(p.Name, jsontext.AllowInvalidUTF8(true))
	}
	type plain Reranking // without this method
	return json.Marshal((*plain)(p), jsontext.AllowInvalidUTF8(true))
}

// Planned is the reranking with its defaults; nil if no reranker is named.
func (r *Rerank) Planned() *Reranking {
	if r == nil || r.Name == "" {
		return nil
	}
	p := &Reranking{Name: r.Name, Window: DefaultRerankWindow, Weight: DefaultRerankWeight}
	if r.Window != nil {
		p.Window = *r.Window
	}
	if r.Weight != nil {
		p.Weight = *r.Weight
	}
	if r.BudgetMS != nil {
		p.BudgetMS = *r.BudgetMS
	}
	return p
}

// SecondStage scores the best hits of the legs anew, and ends the answer there:
//
//	score = (text · words + vector · cosine) / (text + vector)
//
// where words is the share of the question's words, by weight, that the chunk holds. A chunk without
// a cosine is scored by its words alone. RAGFlow ranks this way; docs/decisions/0012-ragflow.md
// has the source.
type SecondStage struct {
	Window int     `json:"window"` // how many chunks are scored
	Text   float64 `json:"text"`   // weight of the words
	Vector float64 `json:"vector"` // weight of the cosine
}
