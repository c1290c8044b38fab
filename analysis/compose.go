package analysis

import (
	"cmp"
	"slices"

	"github.com/hybridge-search/hybridge/textquery"
)

// Expander knows synonyms. Package synonyms implements it.
type Expander interface {
	// Expand looks for sources of synonyms in a sequence of terms, stop words
	// included. Synonyms of synonyms are not followed.
	Expand(terms []string) Expansions
}

// Expansions are synonyms of a sequence of terms, each source of them once.
type Expansions struct {
	All []Expansion
	Cut int // synonyms omitted because of a limit, at least
}

// And is both.
func (e Expansions) And(o Expansions) Expansions {
	return Expansions{All: append(e.All, o.All...), Cut: e.Cut + o.Cut}
}

// Expansion is one synonym of the terms [Start, End) of the sequence.
type Expansion struct {
	Start  int      `json:"start"`
	End    int      `json:"end"`
	Terms  []string `json:"terms"`          // the synonym; several are an exact phrase
	Weight float64  `json:"weight"`         // the rule's own, in (0, 1]
	Rule   string   `json:"rule,omitempty"` // the rule that made it, for people
}

// Rules say how a Query becomes a text query.
type Rules struct {
	Weighting Weighting `json:"weighting,omitempty"`
	// PartWeight multiplies the weight of terms that are part of a longer word of
	// the question: that word is a term too and says more. 0 means 1.
	PartWeight float64 `json:"part_weight,omitempty"`
	// Minimum is the number of distinct terms that must match.
	Minimum Minimum `json:"minimum_should_match"`
	// Phrases adds the compounds as phrases. Each weighs PhraseBoost times its
	// heaviest term.
	Phrases     bool    `json:"phrases,omitempty"`
	PhraseSlop  int     `json:"phrase_slop,omitempty"`
	PhraseBoost float64 `json:"phrase_boost,omitempty"`
	// SynonymBoost multiplies the weight of synonyms; 0 omits them.
	SynonymBoost float64 `json:"synonym_boost,omitempty"`
	// MaxSynonyms bounds the synonyms of a term, the heaviest first; 0 means 8.
	MaxSynonyms int `json:"max_synonyms,omitempty"`
	// MaxTerms bounds the terms, and the phrases, of a query, which may be as long as a
	// document: the known terms of the largest idf. 0 means 256.
	MaxTerms int `json:"max_terms,omitempty"`
}

const (
	defaultMaxSynonyms = 8
	defaultMaxTerms    = 256
)

func (r Rules) withDefaults() Rules {
	if r.MaxSynonyms <= 0 {
		r.MaxSynonyms = defaultMaxSynonyms
	}
	if r.MaxTerms <= 0 {
		r.MaxTerms = defaultMaxTerms
	}
	if r.PartWeight <= 0 {
		r.PartWeight = 1
	}
	return r
}

// Compose weighs a query's terms and adds synonyms and phrases. It is pure;
// synonyms may be nil. Required and excluded phrases are not part of the result:
// they filter every leg.
func Compose(q Query, f Frequencies, synonyms Expander, r Rules) textquery.Query {
	r = r.withDefaults()
	c := composer{query: q, all: termList{terms: q.Terms}, frequencies: f, rules: r}
	terms, frequencies := q.Terms, f
	if len(terms) > r.MaxTerms {
		c.kept = heaviest(terms, f, r.MaxTerms)
		terms, frequencies = c.keptTerms()
	}
	weights := r.Weighting.appendWeights(make([]float64, 0, linearLimit), terms, frequencies)
	c.out.Terms = make([]textquery.Term, len(terms))
	for i := range terms {
		if terms[i].Part {
			weights[i] *= r.PartWeight
		}
		c.out.Terms[i] = textquery.Term{Text: terms[i].Text, Weight: weights[i]}
	}
	c.out.MinimumMatch = r.Minimum.Of(len(terms))
	expanded, _ := expand(q, &c.all, synonyms, r)
	c.addSynonyms(expanded)
	if r.Phrases && r.PhraseBoost > 0 {
		c.addPhrases()
	}
	return c.out
}

type composer struct {
	query       Query
	all         termList // of the query
	kept        []int    // the indices in all of the terms in out.Terms; nil: all of them
	frequencies Frequencies
	rules       Rules
	out         textquery.Query
}

// keptTerms returns the kept terms and their frequencies.
func (c *composer) keptTerms() ([]QueryTerm, Frequencies) {
	terms, f := make([]QueryTerm, len(c.kept)), c.frequencies
	f.DF, f.Substitutes = make([]int, len(c.kept)), make([]Substitute, len(c.kept))
	for i, from := range c.kept {
		terms[i], f.DF[i] = c.all.terms[from], c.frequencies.Of(from)
		f.Substitutes[i] = c.frequencies.substituteOf(from)
	}
	return terms, f
}

// outIndex returns the index in out.Terms of a term of the query, if it was kept.
func (c *composer) outIndex(term int) (at int, ok bool) {
	if c.kept == nil {
		return term, term >= 0
	}
	return slices.BinarySearch(c.kept, term)
}

// heaviest returns the indices of the limit terms with the most idf mass, in the
// order of the query. Terms that the knowledge base does not know are dropped first.
func heaviest(terms []QueryTerm, f Frequencies, limit int) []int {
	mass := make([]float64, len(terms))
	kept := make([]int, len(terms))
	for i := range terms {
		kept[i] = i
		if f.found(i) > 0 {
			mass[i] = f.mass(&terms[i], i)
		}
	}
	slices.SortStableFunc(kept, func(a, b int) int { return cmp.Compare(mass[b], mass[a]) })
	kept = kept[:limit]
	slices.Sort(kept)
	return kept
}

// addSynonyms adds the synonyms of the kept terms.
func (c *composer) addSynonyms(synonyms [][]textquery.Phrase) {
	for i := range synonyms {
		at, kept := c.outIndex(i)
		if !kept || len(synonyms[i]) == 0 {
			continue
		}
		t := &c.out.Terms[at]
		t.Synonyms = synonyms[i]
		for k := range t.Synonyms {
			t.Synonyms[k].Weight *= t.Weight
		}
	}
}

// addPhrases adds the compounds that can match: those whose terms are all known.
func (c *composer) addPhrases() {
	for i, compound := range c.query.Compounds {
		if len(c.out.Phrases) == c.rules.MaxTerms {
			return
		}
		largest, possible := 0.0, true
		for _, t := range compound.Terms {
			term := c.all.find(t)
			possible = possible && (c.frequencies.Docs == 0 || c.frequencies.Of(term) > 0)
			if at, ok := c.outIndex(term); ok {
				largest = max(largest, c.out.Terms[at].Weight)
			}
		}
		if largest > 0 && possible {
			if c.out.Phrases == nil {
				c.out.Phrases = make([]textquery.Phrase, 0, min(len(c.query.Compounds)-i, c.rules.MaxTerms))
			}
			c.out.Phrases = append(c.out.Phrases, textquery.Phrase{
				Terms: compound.Terms, Slop: c.rules.PhraseSlop, Weight: c.rules.PhraseBoost * largest,
			})
		}
	}
}
