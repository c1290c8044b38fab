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
	Expand(terms []string) []Expansion
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
	// PartWeight multiplies the weight of terms that are parts of a longer word
	// of the question, which is a term as well and says more; 0 means 1.
	PartWeight float64 `json:"part_weight,omitempty"`
	// Minimum is how many distinct terms must match.
	Minimum Minimum `json:"minimum_should_match"`
	// Phrases adds the compounds as phrases, of weight PhraseBoost times the
	// largest weight of their terms.
	Phrases     bool    `json:"phrases,omitempty"`
	PhraseSlop  int     `json:"phrase_slop,omitempty"`
	PhraseBoost float64 `json:"phrase_boost,omitempty"`
	// SynonymBoost multiplies the weight of synonyms; 0 uses none.
	SynonymBoost float64 `json:"synonym_boost,omitempty"`
	// MaxSynonyms bounds the synonyms of a term, the heaviest stay; 0 means 8.
	MaxSynonyms int `json:"max_synonyms,omitempty"`
	// MaxTerms bounds the terms, and the phrases, of a query as long as a
	// document: the known ones of the largest idf stay; 0 means 256.
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
// synonyms may be nil. Required and excluded phrases stay with the Query: they
// filter, whatever the plan's text leg is.
func Compose(q Query, f Frequencies, synonyms Expander, r Rules) textquery.Query {
	r = r.withDefaults()
	q.Terms = heaviest(q.Terms, f, r.MaxTerms)
	weights := r.Weighting.weights(q.Terms, f)
	c := composer{query: q, frequencies: f, rules: r, at: make(map[string]int, len(q.Terms))}
	c.out.Terms = make([]textquery.Term, len(q.Terms))
	for i, t := range q.Terms {
		c.at[t.Text] = i
		if t.Part {
			weights[i] *= r.PartWeight
		}
		c.out.Terms[i] = textquery.Term{Text: t.Text, Weight: weights[i]}
	}
	c.out.MinimumMatch = r.Minimum.Of(len(q.Terms))
	if synonyms != nil && r.SynonymBoost > 0 {
		c.expand(synonyms)
	}
	if r.Phrases && r.PhraseBoost > 0 {
		c.phrases()
	}
	return c.out
}

type composer struct {
	query       Query
	frequencies Frequencies
	rules       Rules
	at          map[string]int // term → index in out.Terms
	out         textquery.Query
}

// heaviest keeps the limit terms of most idf mass, in their order; those that
// the knowledge base does not know go first.
func heaviest(terms []QueryTerm, f Frequencies, limit int) []QueryTerm {
	if len(terms) <= limit {
		return terms
	}
	mass := func(t QueryTerm) float64 {
		if f.DF[t.Text] == 0 {
			return 0
		}
		return float64(t.Count) * f.IDF(t.Text)
	}
	byPlace := make(map[string]int, len(terms))
	for i, t := range terms {
		byPlace[t.Text] = i
	}
	kept := slices.Clone(terms)
	slices.SortStableFunc(kept, func(a, b QueryTerm) int { return cmp.Compare(mass(b), mass(a)) })
	kept = kept[:limit]
	slices.SortFunc(kept, func(a, b QueryTerm) int { return cmp.Compare(byPlace[a.Text], byPlace[b.Text]) })
	return kept
}

// expand gives each term of a source the synonym, its weight shared among
// them: a chunk that holds only the synonym satisfies them all and scores it
// once.
func (c *composer) expand(synonyms Expander) {
	for _, e := range synonyms.Expand(c.query.Sequence()) {
		sources := c.sources(e)
		for _, i := range sources {
			t := &c.out.Terms[i]
			t.Synonyms = attach(t.Synonyms, textquery.Phrase{
				Terms:  e.Terms,
				Weight: t.Weight * c.rules.SynonymBoost * e.Weight / float64(len(sources)),
			})
		}
	}
	for i := range c.out.Terms {
		t := &c.out.Terms[i]
		slices.SortStableFunc(t.Synonyms, func(a, b textquery.Phrase) int { return cmp.Compare(b.Weight, a.Weight) })
		t.Synonyms = t.Synonyms[:min(c.rules.MaxSynonyms, len(t.Synonyms))]
	}
}

// sources are the distinct terms of the query that an expansion stands for,
// without the synonym itself.
func (c *composer) sources(e Expansion) []int {
	var found []int
	for _, t := range c.query.Tokens[e.Start:e.End] {
		i, ok := c.at[t.Text]
		if !ok || slices.Contains(found, i) || len(e.Terms) == 1 && e.Terms[0] == t.Text {
			continue
		}
		found = append(found, i)
	}
	return found
}

// attach adds a synonym, or raises the weight of the one that is there.
func attach(all []textquery.Phrase, p textquery.Phrase) []textquery.Phrase {
	for i := range all {
		if slices.Equal(all[i].Terms, p.Terms) {
			all[i].Weight = max(all[i].Weight, p.Weight)
			return all
		}
	}
	return append(all, p)
}

// phrases adds the compounds that can match: whose terms all are known.
func (c *composer) phrases() {
	for _, compound := range c.query.Compounds {
		if len(c.out.Phrases) == c.rules.MaxTerms {
			return
		}
		largest, possible := 0.0, true
		for _, t := range compound.Terms {
			possible = possible && (c.frequencies.Docs == 0 || c.frequencies.DF[t] > 0)
			if i, ok := c.at[t]; ok {
				largest = max(largest, c.out.Terms[i].Weight)
			}
		}
		if largest > 0 && possible {
			c.out.Phrases = append(c.out.Phrases, textquery.Phrase{
				Terms: compound.Terms, Slop: c.rules.PhraseSlop, Weight: c.rules.PhraseBoost * largest,
			})
		}
	}
}
