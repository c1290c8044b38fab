package analysis

import (
	"cmp"
	"slices"

	"github.com/hybridge-search/hybridge/textquery"
)

// Substitute is the synonym that counts for a term which no chunk holds, as if the
// question said the synonym.
type Substitute struct {
	DF     int     // chunks that may hold it: of a phrase, those that hold its rarest word; 0: there is none
	IDF    float64 // as engines score it: of a phrase, the sum of its words'
	Weight float64 // relative to the term's
}

// Vocabulary is the words whose document frequencies a query needs.
type Vocabulary struct {
	Words    []string // the terms, in their order, then the words of their synonyms
	Cut      int      // synonyms omitted because of a limit, at least
	terms    int
	synonyms [][]textquery.Phrase
}

// maxSynonymWords bounds what the synonyms of one question add to its words: every
// word costs an engine a look-up.
const maxSynonymWords = 1024

// VocabularyOf returns the vocabulary of a query with these synonyms.
func VocabularyOf(q Query, synonyms Expander, r Rules) Vocabulary {
	v := Vocabulary{Words: make([]string, len(q.Terms)), terms: len(q.Terms)}
	v.synonyms, v.Cut = expand(q, &termList{terms: q.Terms}, synonyms, r.withDefaults())
	for i := range q.Terms {
		v.Words[i] = q.Terms[i].Text
	}
	if v.synonyms == nil {
		return v
	}
	listed := map[string]bool{}
	for _, word := range v.Words {
		listed[word] = true
	}
	for _, synonym := range slices.Concat(v.synonyms...) {
		for _, word := range synonym.Terms {
			if !listed[word] && len(v.Words) < v.terms+maxSynonymWords {
				listed[word] = true
				v.Words = append(v.Words, word)
			}
		}
	}
	return v
}

// Substituted are frequencies of the words, in their order, with the substitutes that
// follow: a term that no chunk holds gets its heaviest synonym that chunks may hold, of
// equally heavy ones the most frequent.
func (v *Vocabulary) Substituted(f Frequencies) Frequencies {
	if v.synonyms == nil {
		return f
	}
	df := make(map[string]int, len(v.Words))
	for i, word := range v.Words {
		df[word] = f.Of(i)
	}
	f.Substitutes = make([]Substitute, v.terms)
	for i, synonyms := range v.synonyms {
		if f.Of(i) > 0 {
			continue
		}
		for _, synonym := range synonyms { // the heaviest first
			s := f.substitute(synonym, df)
			if s.Weight < f.Substitutes[i].Weight {
				break
			}
			if s.DF > f.Substitutes[i].DF {
				f.Substitutes[i] = s
			}
		}
	}
	return f
}

// substitute is a synonym of words of these document frequencies.
func (f *Frequencies) substitute(synonym textquery.Phrase, df map[string]int) Substitute {
	s := Substitute{DF: df[synonym.Terms[0]], Weight: synonym.Weight}
	for _, word := range synonym.Terms {
		s.DF = min(s.DF, df[word])
		s.IDF += f.idf(df[word])
	}
	return s
}

// expand returns the synonyms of each of a query's terms, the heaviest first, with
// weights relative to the term's; nil: there are none. A synonym of several terms is
// one of each of them, and its weight is divided among them: a chunk that holds only
// the synonym matches all of these terms, and must score the synonym once.
func expand(q Query, all *termList, synonyms Expander, r Rules) (expanded [][]textquery.Phrase, cut int) {
	if synonyms == nil || r.SynonymBoost <= 0 {
		return nil, 0
	}
	expansions := synonyms.Expand(q.Sequence())
	if len(expansions.All) == 0 {
		return nil, expansions.Cut
	}
	expanded = make([][]textquery.Phrase, len(all.terms))
	for _, e := range expansions.All {
		sources := sources(q, all, e)
		for _, i := range sources {
			expanded[i] = append(expanded[i], textquery.Phrase{
				Terms: e.Terms, Weight: r.SynonymBoost * e.Weight / float64(len(sources)),
			})
		}
	}
	for i := range expanded {
		expanded[i] = heaviestSynonyms(expanded[i], r.MaxSynonyms)
	}
	return expanded, expansions.Cut
}

// sources returns the indices of the distinct terms that an expansion is a synonym of.
// A term that is the synonym itself is not one of them.
func sources(q Query, all *termList, e Expansion) []int {
	var found []int
	for _, t := range q.Tokens[e.Start:e.End] {
		i := all.find(t.Text)
		if i < 0 || slices.Contains(found, i) || len(e.Terms) == 1 && e.Terms[0] == t.Text {
			continue
		}
		found = append(found, i)
	}
	return found
}

// heaviestSynonyms are at most limit distinct ones, the heaviest first.
func heaviestSynonyms(all []textquery.Phrase, limit int) []textquery.Phrase {
	slices.SortStableFunc(all, func(a, b textquery.Phrase) int { return cmp.Compare(b.Weight, a.Weight) })
	kept := all[:0]
	for _, p := range all {
		if len(kept) == limit {
			break
		}
		if !slices.ContainsFunc(kept, func(k textquery.Phrase) bool { return slices.Equal(k.Terms, p.Terms) }) {
			kept = append(kept, p)
		}
	}
	return kept
}
