package ask

import (
	"sync"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/search/engines"
)

// FrequenciesOf gives the frequencies of a vocabulary from its statistics.
func FrequenciesOf(v *analysis.Vocabulary, stats *engine.Statistics) analysis.Frequencies {
	return v.Substituted(analysis.Frequencies{Docs: stats.Docs, AverageLength: stats.AverageLength, DF: stats.DF})
}

// Expander gives the synonyms of a knowledge base, nil where it has none.
func (s Asker) Expander(kb *engine.KnowledgeBase) analysis.Expander {
	if s.Synonyms == nil {
		return nil
	}
	return s.Synonyms.For(kb.Ref)
}

// Vocabularies gives the words of each phrasing of a question, the same for all of its knowledge bases: they are
// counted together.
func (s Asker) Vocabularies(
	q *Question, subjects []engines.Subject, rules *analysis.Rules,
) (of func(query int) *analysis.Vocabulary) {
	each := make([]func() *analysis.Vocabulary, 1+len(q.Further))
	for query := range each {
		each[query] = sync.OnceValue(func() *analysis.Vocabulary {
			var all expanders
			for i := range subjects {
				if e := s.Expander(&subjects[i].KB); e != nil {
					all = append(all, e)
				}
			}
			v := analysis.VocabularyOf(q.In(query).Parsed, all, *rules)
			return &v
		})
	}
	return func(query int) *analysis.Vocabulary { return each[query]() }
}

// expanders combines the synonyms of several.
type expanders []analysis.Expander

// Expand implements analysis.Expander.
func (all expanders) Expand(terms []string) (found analysis.Expansions) {
	for _, e := range all {
		found = found.And(e.Expand(terms))
	}
	return found
}
