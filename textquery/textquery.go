// Package textquery is the engine-neutral query of a text field, made from an analysed
// question. Every engine gives it the same score:
//
//	score(chunk) = Σ_terms max(weight·bm25(term), max_synonyms weight·bm25(synonym))
//	             + Σ_phrases weight·bm25(phrase)
//
// with Lucene's BM25 including its factor k1 + 1. A chunk matches if it holds at least
// MinimumMatch of the terms, and at least one. A synonym of a term counts as the term.
package textquery

// Query searches one text field. A Query without Terms matches nothing.
type Query struct {
	// Terms are distinct; any of them may match.
	Terms []Term `json:"terms"`
	// Phrases add to the score of chunks that match by their terms. They do not count for
	// MinimumMatch.
	Phrases []Phrase `json:"phrases,omitempty"`
	// MinimumMatch is how many distinct terms must match; 0 means 1.
	MinimumMatch int `json:"minimum_match,omitempty"`
}

// Empty reports whether the query has no term and so matches nothing.
func (q *Query) Empty() bool { return q == nil || len(q.Terms) == 0 }

// Term is one token of the query with its synonyms. The best scoring of them counts, as in
// Elasticsearch's dis_max.
type Term struct {
	Text     string   `json:"text"`
	Weight   float64  `json:"weight"` // finite, > 0
	Synonyms []Phrase `json:"synonyms,omitempty"`
}

// Phrase is a sequence of tokens within Slop positions, as Lucene's sloppy phrase:
// frequency = Σ 1/(1 + distance), idf = the sum of the idfs. A single token is a plain
// term.
type Phrase struct {
	Terms  []string `json:"terms"`
	Slop   int      `json:"slop,omitempty"`
	Weight float64  `json:"weight,omitempty"` // finite, > 0; ignored where a phrase only filters
}
