// Package textquery is the engine-neutral text query: what an analysed
// question asks of a text field. Every engine evaluates it to the same score:
//
//	score(chunk) = Σ_terms max(weight·bm25(term), max_synonyms weight·bm25(synonym))
//	             + Σ_phrases weight·bm25(phrase)
//
// with Lucene's BM25 including its factor k1 + 1, and a chunk matches when at
// least MinimumMatch (at least one) of the terms, or a synonym of them, is in it.
package textquery

// Query is the text half of a search over one text field. A Query without
// Terms matches nothing.
type Query struct {
	// Terms are distinct; any of them may match.
	Terms []Term `json:"terms"`
	// Phrases add to the score of chunks that already match by their terms;
	// they never count for MinimumMatch.
	Phrases []Phrase `json:"phrases,omitempty"`
	// MinimumMatch is how many distinct terms must match; 0 means 1.
	MinimumMatch int `json:"minimum_match,omitempty"`
}

// Empty reports whether the query has no term and so matches nothing.
func (q *Query) Empty() bool { return q == nil || len(q.Terms) == 0 }

// Term is one token of the query with its alternatives; the best scoring
// alternative counts, as in Elasticsearch's dis_max.
type Term struct {
	Text     string   `json:"text"`
	Weight   float64  `json:"weight"` // finite, > 0
	Synonyms []Phrase `json:"synonyms,omitempty"`
}

// Phrase is a sequence of tokens within Slop positions (Lucene's sloppy
// phrase: frequency = Σ 1/(1 + distance), weight = sum of the idfs). One token
// is a plain term.
type Phrase struct {
	Terms  []string `json:"terms"`
	Slop   int      `json:"slop,omitempty"`
	Weight float64  `json:"weight,omitempty"` // finite, > 0; ignored where a phrase only filters
}
