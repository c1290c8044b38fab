package typing

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/engines"
)

// typed is the typed text, taken apart.
type typed struct {
	text   string // folded, single spaces
	head   string // the text before the last word, as typed
	begun  string // the last word, folded
	stem   string // as a whole word is indexed
	before []string
	// chinese: it has ideographs. whole: texts must have all of it in one piece.
	chinese, whole bool

	folds  func(string) string
	tokens func(string) []analysis.Token
}

// typedOf assumes that the last word is incomplete.
func typedOf(analyzer ask.Analyzer, query string) *typed {
	t := &typed{
		text: strings.Join(strings.Fields(analyzer.Fold(query)), " "), folds: analyzer.Fold,
		tokens: func(text string) []analysis.Token { return analyzer.ParsePlain(text).Tokens },
	}
	t.chinese = strings.ContainsFunc(query, isHan)
	tokens := t.tokens(query)
	if len(tokens) == 0 {
		return t
	}
	last := tokens[len(tokens)-1]
	t.head, t.begun, t.stem = query[:last.Start], analyzer.Fold(query[last.Start:last.End]), last.Text
	for _, token := range tokens[:len(tokens)-1] {
		whole := !token.Stop && token.End <= last.Start
		if whole && !slices.Contains(t.before, token.Text) && len(t.before) < suggestRequired {
			t.before = append(t.before, token.Text)
		}
	}
	return t
}

func isHan(r rune) bool { return unicode.Is(unicode.Han, r) }

// byLastCharacter is for Chinese that the dictionary cut into other words than the one being
// typed: only its last character is incomplete.
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

// stems gives the indexed forms of the last word if it is complete: shorter than it, by the
// ending that a stem lacks.
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

// titles gives the titles and questions that complete the typed text.
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
// as Chinese may be cut into other words, the typed text in one piece.
func (t *typed) goesOn(text string) bool {
	folded := t.folds(text)
	if folded == t.text {
		return false // there is nothing left to suggest
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

// terms completes the last word of the typed text.
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
