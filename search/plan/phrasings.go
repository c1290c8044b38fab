package plan

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/scoring"
)

// Several phrasings of a question are legs of one answer, as in RAG-Fusion (Rackauckas 2024,
// https://arxiv.org/abs/2402.03367): each leg of the plan is there once for each phrasing, at
// its share of the weight. The question itself is the first: it alone has operators, is
// reranked and corrected, and is what thresholds on raw scores are for.

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

// Phrase has the legs ask for n more phrasings. No phrasing's words are required then: what
// one of them finds may have none of another's.
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
