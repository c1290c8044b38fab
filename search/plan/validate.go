package plan

import (
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/analysis/language"
	"github.com/hybridge-search/hybridge/fault"
)

// Validate checks everything about a request that needs neither a preset nor a
// knowledge base. Its errors name the field and the accepted values.
func (r *Request) Validate() error {
	checks := []func() error{
		r.validateQuestion, r.validateQueries, r.validateTargets, r.validateSizes, r.Overrides.Validate,
		r.validateVector, r.validateHighlight, r.validateNames, r.validateFacetMode, r.validateLanguage,
		r.validateBoosts, r.validateCopies, r.validateAsker,
	}
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (r *Request) validateLanguage() error {
	if r.Language != "" && language.Code(r.Language) == "" {
		return fault.Invalid("language", r.Language, "an ISO 639-1 code such as en or zh, or left out")
	}
	return nil
}

func (r *Request) validateBoosts() error {
	for _, id := range slices.Sorted(maps.Keys(r.Boosts)) {
		if !slices.Contains(r.KnowledgeBases, id) {
			return fault.Invalid("boosts", id, "a knowledge base of the request")
		}
		if b := r.Boosts[id]; !(b > 0 && b <= MaxBoost) {
			return fault.Invalid("boosts."+id, b, "a number > 0 and <= 100")
		}
	}
	return nil
}

func (r *Request) validateCopies() error {
	if c := r.Copies; c != "" && c != CopiesFold && c != CopiesKeep {
		return fault.Invalid("copies", c, "fold or keep")
	}
	return nil
}

func (r *Request) validateAsker() error {
	for field, key := range map[string]string{"client_id": r.ClientID, "session_id": r.SessionID} {
		if len(key) > MaxNameBytes || !utf8.ValidString(key) || strings.ContainsFunc(key, unicode.IsControl) {
			return fault.Invalid(field, key, "at most 256 bytes of UTF-8 without control characters")
		}
	}
	return nil
}

func (r *Request) validateQuestion() error {
	if r.Everything {
		return r.validateEverything()
	}
	return r.ValidateQuery()
}

// ValidateQuery checks the text of the question alone.
func (r *Request) ValidateQuery() error {
	switch {
	case len(r.Query) > MaxQueryBytes:
		return &fault.Error{
			Kind: fault.TooLarge, Field: "query",
			Detail: fault.Invalid("query", r.Query, "at most 32768 bytes").Detail,
		}
	case !utf8.ValidString(r.Query):
		return fault.Invalid("query", r.Query, "valid UTF-8")
	case strings.TrimSpace(r.Query) == "":
		return fault.Invalid("query", r.Query, "a question of at least one character that is not blank")
	}
	return nil
}

func (r *Request) validateTargets() error {
	if n := len(r.KnowledgeBases); n == 0 || n > MaxKnowledgeBases {
		return fault.Invalid("knowledge_bases", fault.Length(n), "a list of 1 to 64 ids")
	}
	for i, id := range r.KnowledgeBases {
		if slices.Contains(r.KnowledgeBases[:i], id) {
			return fault.Invalid("knowledge_bases", id, "named once")
		}
	}
	return nil
}

func (r *Request) validateSizes() error {
	sizes := []struct {
		field    string
		value    *int
		low      int
		high     int
		accepted string
	}{
		{"top_k", r.TopK, 1, MaxTopK, "1 to 10000"},
		{"offset", r.Offset, 0, math.MaxInt32, ">= 0"},
		{"limit", r.Limit, 1, MaxTopK, "1 to 10000"},
		{"neighbours", &r.Neighbours, 0, MaxNeighbours, "0 to 20"},
	}
	for _, s := range sizes {
		if s.value != nil && (*s.value < s.low || *s.value > s.high) {
			return fault.Invalid(s.field, *s.value, s.accepted)
		}
	}
	return nil
}

func (r *Request) validateVector() error {
	if len(r.Vector) > MaxVectorDimension {
		return fault.Invalid("vector", fault.Length(len(r.Vector)), "at most 4096 numbers")
	}
	for _, x := range r.Vector {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return fault.Invalid("vector", x, "finite numbers")
		}
	}
	return nil
}

func (r *Request) validateHighlight() error {
	h := r.Highlight
	if h == nil {
		return nil
	}
	if n := h.FragmentSize; n != nil && (*n < 10 || *n > MaxFragmentSize) {
		return fault.Invalid("highlight.fragment_size", *n, "10 to 2000 characters")
	}
	if n := h.Fragments; n != nil && (*n < 0 || *n > MaxFragments) {
		return fault.Invalid("highlight.fragments", *n, "0 to 50")
	}
	for field, mark := range map[string]*string{"highlight.pre": h.Pre, "highlight.post": h.Post} {
		if mark != nil && len(*mark) > MaxNameBytes {
			return fault.Invalid(field, *mark, "at most 256 bytes")
		}
	}
	return nil
}

func (r *Request) validateNames() error {
	if len(r.Facets) > MaxFacets {
		return fault.Invalid("facets", fault.Length(len(r.Facets)), "at most 16 fields")
	}
	for _, field := range r.Facets {
		if field == "" || len(field) > MaxNameBytes || !utf8.ValidString(field) {
			return fault.Invalid("facets", field, "field names of 1 to 256 bytes")
		}
	}
	if u := r.User; u != nil && len(*u) > MaxNameBytes {
		return fault.Invalid("user", *u, "at most 256 bytes")
	}
	return nil
}
