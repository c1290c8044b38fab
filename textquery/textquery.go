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
	// Lengths, where set, are what BM25 compares the length of a text with.
	Lengths *Lengths `json:"lengths,omitempty"`
}

// Lengths are average lengths of texts in tokens: the one to compare with, as where
// several indexes are scored as one, and that of the index itself, both > 0.
type Lengths struct {
	Average float64 `json:"average"`
	Own     float64 `json:"own"`
}

// Factor makes up for an engine that compares with its own average whatever it is told: what
// Lucene's BM25 (k1 1.2, b 0.75) gives for one occurrence in a text of its average length,
// compared with the average wanted, over what it gives compared with its own.
func (l *Lengths) Factor() float64 {
	if l == nil || !(l.Average > 0 && l.Own > 0) {
		return 1
	}
	const k1, b = 1.2, 0.75
	return (1 + k1) / (1 + k1*(1-b+b*l.Own/l.Average))
}

// Times is the query with every weight multiplied.
func (q *Query) Times(factor float64) *Query {
	out := *q
	out.Terms = make([]Term, len(q.Terms))
	for i, t := range q.Terms {
		t.Weight *= factor
		t.Synonyms = timesAll(t.Synonyms, factor)
		out.Terms[i] = t
	}
	out.Phrases = timesAll(q.Phrases, factor)
	return &out
}

func timesAll(phrases []Phrase, factor float64) []Phrase {
	out := make([]Phrase, len(phrases))
	for i, p := range phrases {
		p.Weight *= factor
		out[i] = p
	}
	return out
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
