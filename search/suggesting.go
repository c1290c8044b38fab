package search

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/tracing"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/engines"
	"github.com/hybridge-search/hybridge/search/plan"
	"github.com/hybridge-search/hybridge/textquery"
)

// Suggest says how what was typed may go on: by titles, questions and words of chunks that
// the caller may see.
func (s *Searcher) Suggest(ctx context.Context, scope access.Scope, req SuggestRequest) (_ *Suggestions, err error) {
	ctx, span := tracing.Start(ctx, engines.SpanSuggest)
	defer func() { span.End(err) }()
	if err := req.validate(); err != nil {
		return nil, err
	}
	q := ask.Question{}
	if q.Filter.Conditions, err = plan.ParseFilter(req.Filter); err != nil {
		return nil, err
	}
	q.Filter.Conditions = slices.Concat(scope.Filter, q.Filter.Conditions)
	if req.User != nil {
		q.Filter.Owner = *req.User
	}
	release, err := s.admitWork(ctx, scope, 1)
	if err != nil {
		return nil, err
	}
	defer release()
	as := &plan.Request{Query: req.Query, KnowledgeBases: req.KnowledgeBases, Engine: req.Engine}
	return engines.Settled(engine.OneSearch(ctx), s.Catalog, scope, as, func() (*Suggestions, []answer.Degraded, error) {
		answer, err := s.suggest(ctx, scope, as, &q, req.limit())
		if err != nil {
			return nil, nil, err
		}
		return answer, answer.Degraded, nil
	})
}

func (r *SuggestRequest) limit() int {
	if r.Limit != nil {
		return *r.Limit
	}
	return defaultSuggestions
}

func (s *Searcher) suggest(
	ctx context.Context, scope access.Scope, req *plan.Request, q *ask.Question, limit int,
) (*Suggestions, error) {
	suggested := &Suggestions{Degraded: []answer.Degraded{}}
	found := make([][]Suggestion, len(req.KnowledgeBases))
	failed := make([]error, len(req.KnowledgeBases))
	subjects := make([]engines.Subject, len(req.KnowledgeBases))
	for i, id := range req.KnowledgeBases {
		var err error
		if subjects[i], err = s.resolver().Resolve(ctx, scope, req, id); engines.IsUnavailable(err) {
			failed[i] = err
		} else if err != nil {
			return nil, err
		}
	}
	typed := s.typedOf(req.Query)
	var group errgroup.Group
	group.SetLimit(engines.ParallelSubjects)
	for i := range subjects {
		if failed[i] == nil {
			group.Go(func() error {
				found[i], failed[i] = s.suggestFrom(ctx, &subjects[i], q, typed)
				return nil
			})
		}
	}
	_ = group.Wait()
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

// typed is what was typed, taken apart.
type typed struct {
	text   string // folded, single spaces
	head   string // what stands before the last word, as it was typed
	begun  string // the last word, folded
	stem   string // as a whole word is indexed
	before []string
	// chinese: it has ideographs. whole: texts must have all of it in one piece.
	chinese, whole bool

	folds  func(string) string
	tokens func(string) []analysis.Token
}

// typedOf takes the last word for one that is begun.
func (s *Searcher) typedOf(query string) *typed {
	t := &typed{
		text: strings.Join(strings.Fields(s.Analyzer.Fold(query)), " "), folds: s.Analyzer.Fold,
		tokens: func(text string) []analysis.Token { return s.Analyzer.ParsePlain(text).Tokens },
	}
	t.chinese = strings.ContainsFunc(query, isHan)
	tokens := t.tokens(query)
	if len(tokens) == 0 {
		return t
	}
	last := tokens[len(tokens)-1]
	t.head, t.begun, t.stem = query[:last.Start], s.Analyzer.Fold(query[last.Start:last.End]), last.Text
	for _, token := range tokens[:len(tokens)-1] {
		whole := !token.Stop && token.End <= last.Start
		if whole && !slices.Contains(t.before, token.Text) && len(t.before) < suggestRequired {
			t.before = append(t.before, token.Text)
		}
	}
	return t
}

func isHan(r rune) bool { return unicode.Is(unicode.Han, r) }

// byLastCharacter is for Chinese of which the dictionary made other words than the one that is
// being typed: its last character alone is begun.
func (t *typed) byLastCharacter() *typed {
	r, size := utf8.DecodeLastRuneInString(t.begun)
	if !isHan(r) || size == len(t.begun) && len(t.before) == 0 {
		return nil
	}
	other := *t
	other.whole = true
	other.begun, other.stem, other.before = string(r), string(r), nil
	other.head = strings.TrimSuffix(t.head+t.begun, string(r))
	return &other
}

// stems are the whole words as which what was begun may be indexed: shorter than it is, by
// the ending that a stem lacks.
func (t *typed) stems() []string {
	all := []string{t.stem}
	runes := []rune(t.begun)
	for cut := 1; cut <= 4 && len(runes)-cut >= 4; cut++ {
		if word := string(runes[:len(runes)-cut]); word != t.stem && !isHan(runes[0]) {
			all = append(all, word)
		}
	}
	return all
}

// suggestFrom takes suggestions out of one knowledge base.
func (s *Searcher) suggestFrom(ctx context.Context, subject *engines.Subject, q *ask.Question, t *typed) ([]Suggestion, error) {
	lexicon, ok := subject.Engine.(engine.Lexicon)
	if !ok {
		return nil, fault.New(fault.Unsupported, "engine %s has no suggestions", subject.Engine.Name())
	}
	if t.begun == "" {
		return nil, nil
	}
	found, err := s.suggestBy(ctx, subject, lexicon, q, t)
	if other := t.byLastCharacter(); err == nil && len(found) == 0 && other != nil {
		found, err = s.suggestBy(ctx, subject, lexicon, q, other)
	}
	return found, err
}

func (s *Searcher) suggestBy(
	ctx context.Context, subject *engines.Subject, lexicon engine.Lexicon, q *ask.Question, t *typed,
) ([]Suggestion, error) {
	field := subject.KB.FieldsOf(scoring.Text)[0]
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
	chunks, err := s.visible(ctx, subject, q, slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	forms := newSurfaces(s.Analyzer, words)
	for i := range chunks {
		forms.read(&chunks[i], field)
	}
	return append(t.titles(subject, chunks), t.terms(subject, words, forms)...), nil
}

// documentsOfPairs is how many times as many pairs of a document may be looked at: a file of
// pairs is one document.
func documentsOfPairs(kb *engine.KnowledgeBase) int {
	if kb.Kind == engine.KindQA {
		return suggestTitles
	}
	return 1
}

// titles are those, and the questions, that go on where the typing is.
func (t *typed) titles(subject *engines.Subject, chunks []engine.Chunk) []Suggestion {
	var all []Suggestion
	add := func(text string, kind SuggestionKind) {
		text = strings.Join(strings.Fields(text), " ")
		if text == "" || utf8.RuneCountInString(text) > longestTitle || !t.goesOn(text) {
			return
		}
		at := slices.IndexFunc(all, func(s Suggestion) bool { return s.Text == text && s.Kind == kind })
		if at < 0 {
			at = len(all)
			all = append(all, Suggestion{Text: text, Kind: kind, KnowledgeBase: subject.KB.ID})
		}
		all[at].Count++
	}
	for i := range chunks {
		if c := &chunks[i]; c.QA != nil {
			add(c.Question, SuggestQuestion)
		}
		add(chunks[i].Title, SuggestTitle)
	}
	return all
}

// goesOn reports whether a text has all words before the last, and one that begins with it; or,
// as Chinese may be cut into other words, what was typed in one piece.
func (t *typed) goesOn(text string) bool {
	folded := t.folds(text)
	if folded == t.text {
		return false // nothing is left to suggest
	}
	if t.chinese && strings.Contains(folded, t.text) {
		return true
	}
	if t.whole {
		return false
	}
	tokens := t.tokens(text)
	for _, word := range t.before {
		if !slices.ContainsFunc(tokens, func(token analysis.Token) bool { return token.Text == word }) {
			return false
		}
	}
	return slices.ContainsFunc(tokens, func(token analysis.Token) bool {
		return strings.HasPrefix(t.folds(text[token.Start:token.End]), t.begun)
	})
}

// terms are what was typed with its last word completed.
func (t *typed) terms(subject *engines.Subject, words []engine.Word, forms *surfaces) []Suggestion {
	var all []Suggestion
	for i := range words {
		form := forms.best(words[i].Text, func(form string) bool { return strings.HasPrefix(t.folds(form), t.begun) })
		if form == "" || t.folds(t.head+form) == t.folds(t.head+t.begun) {
			continue
		}
		all = append(all, Suggestion{
			Text: strings.TrimLeftFunc(t.head, unicode.IsSpace) + form, Kind: SuggestTerm,
			KnowledgeBase: subject.KB.ID, Count: words[i].Chunks,
		})
	}
	return all
}

// merged are the suggestions of all knowledge bases, each once.
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

// ordered puts texts that begin with what was typed first, then words, then texts that have
// it elsewhere. Words take half of the places where there are enough texts.
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
