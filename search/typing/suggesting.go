package typing

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/engines"
	"github.com/hybridge-search/hybridge/search/plan"
	"github.com/hybridge-search/hybridge/textquery"
)

// MaxSuggested is the maximum number of suggestions.
func (r *SuggestRequest) MaxSuggested() int {
	if r.Limit != nil {
		return *r.Limit
	}
	return defaultSuggestions
}

// Suggester completes the typed text.
type Suggester struct {
	Analyzer ask.Analyzer
	Resolver engines.Resolver
}

// Suggest asks all knowledge bases of a request. An unavailable one is degraded.
func (s Suggester) Suggest(
	ctx context.Context, scope access.Scope, req *plan.Request, q *ask.Question, limit int,
) (*Suggestions, error) {
	suggested := &Suggestions{Degraded: []answer.Degraded{}}
	found := make([][]Suggestion, len(req.KnowledgeBases))
	failed := make([]error, len(req.KnowledgeBases))
	subjects := make([]engines.Subject, len(req.KnowledgeBases))
	for i, id := range req.KnowledgeBases {
		var err error
		if subjects[i], err = s.Resolver.Resolve(ctx, scope, req, id); engines.IsUnavailable(err) {
			failed[i] = err
		} else if err != nil {
			return nil, err
		}
	}
	typed := typedOf(s.Analyzer, req.Query)
	engines.Each(len(subjects), func(i int) {
		if failed[i] == nil {
			found[i], failed[i] = s.suggestFrom(ctx, &subjects[i], q, typed)
		}
	})
	if ctx.Err() != nil {
		return nil, engines.ContextFault(ctx)
	}
	for i, err := range failed {
		if err != nil {
			suggested.Degraded = append(suggested.Degraded, answer.NewDegraded(stepSuggest, req.KnowledgeBases[i], err))
		}
	}
	if len(suggested.Degraded) == len(subjects) && !slices.ContainsFunc(failed, isUnsupported) {
		return nil, failed[0]
	}
	suggested.Suggestions = ordered(merged(found, s.Analyzer.Fold), typed, limit)
	return suggested, nil
}

func isUnsupported(err error) bool { return fault.Is(err, fault.Unsupported) }

// suggestFrom finds suggestions in one knowledge base.
func (s Suggester) suggestFrom(
	ctx context.Context, subject *engines.Subject, q *ask.Question, t *typed,
) ([]Suggestion, error) {
	if subject.Lexicon() == nil {
		return nil, fault.New(fault.Unsupported, "engine %s has no suggestions", subject.Engine.Name())
	}
	if t.begun == "" {
		return nil, nil
	}
	found, err := s.suggestBy(ctx, subject, q, t)
	if other := t.byLastCharacter(); err == nil && len(found) == 0 && other != nil {
		found, err = s.suggestBy(ctx, subject, q, other)
	}
	return found, err
}

func (s Suggester) suggestBy(
	ctx context.Context, subject *engines.Subject, q *ask.Question, t *typed,
) ([]Suggestion, error) {
	field, lexicon := subject.KB.FieldsOf(scoring.Text)[0], subject.Lexicon()
	filter := q.Filter
	for _, word := range t.before {
		filter.Required = append(filter.Required, textquery.Phrase{Terms: []string{word}, Weight: 1})
		filter.Fields = []string{field}
	}
	words, err := engines.Ask(ctx, subject, engines.CallWords, lexicon.Words, &engine.WordsRequest{
		KB: subject.KB, Field: field, Filter: filter, Prefix: t.begun, Words: t.stems(), Limit: suggestWords, Samples: 1,
	})
	if err != nil || len(words) == 0 {
		return nil, err
	}
	of, ids := make([]string, len(words)), make([]string, len(words))
	for i := range words {
		of[i], ids[i] = words[i].Text, words[i].In[0]
	}
	opening, err := engines.Ask(ctx, subject, engines.CallOpenings, lexicon.Openings, &engine.OpeningsRequest{
		KB: subject.KB, Field: field, Filter: filter, Words: of, Within: titleTokens,
		Limit: suggestTitles, PerDocument: suggestAlike * documentsOfPairs(&subject.KB),
	})
	if err != nil {
		return nil, err
	}
	ids = append(ids, opening...)
	slices.Sort(ids)
	chunks, err := visible(ctx, subject, q, slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	forms := newSurfaces(s.Analyzer, words)
	for i := range chunks {
		forms.read(&chunks[i], field)
	}
	return append(t.titles(subject, chunks), t.terms(subject, words, forms)...), nil
}

// documentsOfPairs is the factor by which more pairs of a document are considered: a file of
// pairs is one document.
func documentsOfPairs(kb *engine.KnowledgeBase) int {
	if kb.Kind == engine.KindQA {
		return suggestTitles
	}
	return 1
}

// merged gives the suggestions of all knowledge bases, each once.
func merged(found [][]Suggestion, fold func(string) string) []Suggestion {
	type key struct {
		kind SuggestionKind
		text string
	}
	places := map[key]int{}
	most := map[key]int{}
	all := []Suggestion{}
	for _, one := range slices.Concat(found...) {
		k := key{one.Kind, fold(one.Text)}
		at, known := places[k]
		if !known {
			places[k], most[k] = len(all), one.Count
			all = append(all, one)
			continue
		}
		all[at].Count += one.Count
		if one.Count > most[k] {
			most[k], all[at].KnowledgeBase = one.Count, one.KnowledgeBase
		}
	}
	return all
}

// ordered puts texts that begin with the typed text first, then words, then texts that contain
// it elsewhere. Words take half of the places if there are enough texts.
func ordered(all []Suggestion, t *typed, limit int) []Suggestion {
	var begin, terms, within []Suggestion
	for _, one := range all {
		switch {
		case one.Kind == SuggestTerm:
			terms = append(terms, one)
		case strings.HasPrefix(t.folds(one.Text), t.text):
			begin = append(begin, one)
		default:
			within = append(within, one)
		}
	}
	for _, part := range [][]Suggestion{begin, terms, within} {
		slices.SortStableFunc(part, func(a, b Suggestion) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(len(a.Text), len(b.Text)), strings.Compare(a.Text, b.Text))
		})
	}
	texts := min(len(begin)+len(within), max(limit-len(terms), (limit+1)/2))
	words := min(len(terms), limit-texts)
	first := min(len(begin), texts)
	return append(append(append([]Suggestion{}, begin[:first]...), terms[:words]...), within[:texts-first]...)
}

const (
	suggestWords    = 24 // words of the index that may complete the last one
	suggestRequired = 8  // words before that, which must be in the chunk too
	suggestTitles   = 48 // chunks whose titles are considered
	suggestAlike    = 8  // of them of one document, whose chunks may all have one title
	titleTokens     = 24 // about the length of a title, or of a category with a question
	longestTitle    = 160
)
