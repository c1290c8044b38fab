package typing

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/lib/tracing"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/engines"
)

const (
	correctedWords = 3  // unknown words at most; a question with more is about something else, or in another language
	shortestWord   = 4  // letters that are corrected by one
	longWord       = 8  // letters from which two may differ
	longestWord    = 40 // beyond, it is no word
	shortWord      = 5  // letters up to which a substituted letter makes another word
	longestEnding  = 3  // letters in which forms of a word differ
	similarWords   = 24 // words of the index that are considered
	formSamples    = 16 // chunks in which the forms of each are looked for: one form may be far more frequent
	chineseWord    = 4  // characters of a Chinese word of which one may differ
)

// Corrector corrects words of a question.
type Corrector struct {
	Analyzer ask.Analyzer
	Query    string // as typed
	Question *ask.Question
	Subjects []engines.Subject
}

// Correct gives the query with unknown words replaced by similar words in chunks that the caller may
// see; empty if there is nothing to correct.
func (c *Corrector) Correct(ctx context.Context, unknown []analysis.QueryTerm) string {
	if len(unknown) > correctedWords {
		return ""
	}
	ctx, span := tracing.Start(ctx, engines.SpanDidYou)
	defer span.End(nil)
	var edits []edit
	for _, word := range unknown {
		edits = append(edits, c.correct(ctx, word)...)
	}
	if len(edits) == 0 {
		return ""
	}
	return apply(c.Query, edits)
}

// correct gives the edits for all places of a word.
func (c *Corrector) correct(ctx context.Context, word analysis.QueryTerm) []edit {
	query := c.Query
	var edits []edit
	for _, token := range c.Question.Parsed.Tokens {
		if token.Text != word.Text {
			continue
		}
		var found edit
		var ok bool
		if r, _ := utf8.DecodeRuneInString(word.Text); isHan(r) {
			found, ok = c.chinese(ctx, token)
		} else {
			found, ok = c.latin(ctx, token)
		}
		if !ok {
			return nil
		}
		if found.text != query[found.start:found.end] {
			edits = append(edits, found)
		}
	}
	return edits
}

// latin corrects a word of letters. Parts of names, addresses and numbers are left alone, and
// abbreviations.
func (c *Corrector) latin(ctx context.Context, token analysis.Token) (edit, bool) {
	query := c.Query
	typed := query[token.Start:token.End]
	n := utf8.RuneCountInString(typed)
	plain := !strings.ContainsFunc(typed, func(r rune) bool { return !unicode.Is(unicode.Latin, r) })
	if n < shortestWord || n > longestWord || !plain || joined(query, token) || isAbbreviation(typed) {
		return edit{}, false
	}
	a := criteria{word: c.Analyzer.Fold(typed), most: 1}
	if n >= longWord {
		a.most = 2
	}
	a.near = nearForms(a.word, token.Text)
	a.prefix = firstRune(a.word)
	a.keep = func(form string, distance int) bool {
		capital, _ := utf8.DecodeRuneInString(form)
		typedCapital, _ := utf8.DecodeRuneInString(typed)
		if unicode.IsUpper(typedCapital) && token.Position > 0 && !unicode.IsUpper(capital) {
			return false // a name is no other word
		}
		return isMistyped(a.word, c.Analyzer.Fold(form), distance)
	}
	form := c.closest(ctx, &a)
	return edit{token.Start, token.End, inCaseOf(typed, form)}, form != ""
}

// chinese corrects a character that occurs in no searched text, if its neighbours are all other
// characters of a known word of four, and of no other: shorter words are too similar. A word
// with a wrong character is in no dictionary, so the tokenizer splits it there.
func (c *Corrector) chinese(ctx context.Context, token analysis.Token) (edit, bool) {
	query := c.Query
	run, at := hanAround(query, token)
	if utf8.RuneCountInString(query[token.Start:token.End]) != 1 {
		return edit{}, false
	}
	var found []edit
	// The first character of a word is assumed to be right.
	for from := max(0, at+1-chineseWord); from < at && from+chineseWord <= len(run.runes); from++ {
		runes := run.runes[from : from+chineseWord]
		window := c.Analyzer.Fold(string(runes))
		a := criteria{word: window, most: 1, near: []string{window}, prefix: firstRune(window)}
		a.keep = func(form string, _ int) bool { return differsAt([]rune(form), runes, at-from) }
		for _, one := range c.forms(ctx, &a) {
			found = append(found, edit{run.starts[from], run.starts[from+chineseWord], one.form})
		}
	}
	if len(found) != 1 {
		return edit{}, false
	}
	return found[0], true
}

// criteria holds the criteria for a correction.
type criteria struct {
	word   string // folded
	near   []string
	prefix string
	most   int // letters that differ
	keep   func(form string, distance int) bool
}

// correction is a form of a word that is in chunks that the caller may see.
type correction struct {
	form     string
	distance int
	chunks   int
}

// closest is the form with the fewest letters that differ, of equal ones that of the most
// frequent word.
func (c *Corrector) closest(ctx context.Context, a *criteria) string {
	all := c.forms(ctx, a)
	if len(all) == 0 {
		return ""
	}
	return slices.MinFunc(all, func(x, y correction) int {
		return cmp.Or(cmp.Compare(x.distance, y.distance), cmp.Compare(y.chunks, x.chunks),
			compareCase(x.form, y.form), strings.Compare(x.form, y.form))
	}).form
}

// forms collects the forms of all knowledge bases, each once.
func (c *Corrector) forms(ctx context.Context, a *criteria) []correction {
	var all []correction
	for i := range c.Subjects {
		subject := &c.Subjects[i]
		if subject.Lexicon() == nil {
			continue
		}
		for _, field := range subject.KB.FieldsOf(scoring.Text) {
			for _, found := range c.formsIn(ctx, subject, field, a) {
				at := slices.IndexFunc(all, func(o correction) bool { return o.form == found.form })
				if at < 0 {
					all = append(all, found)
				} else {
					all[at].chunks += found.chunks
				}
			}
		}
	}
	return all
}

// formsIn gives the forms of one field, none if the knowledge base is unavailable: corrections
// are no reason to fail or to degrade an answer.
func (c *Corrector) formsIn(
	ctx context.Context, subject *engines.Subject, field string, a *criteria,
) []correction {
	filter := c.Question.Filter
	filter.Required, filter.Excluded = nil, nil // phrases, which may have the word
	words, err := engines.Ask(ctx, subject, engines.CallWords, subject.Lexicon().Words, &engine.WordsRequest{
		KB: subject.KB, Field: field, Filter: filter, Prefix: a.prefix, Near: a.near, Distance: a.most, Limit: similarWords,
		Samples: formSamples,
	})
	if err != nil || len(words) == 0 {
		return nil
	}
	var ids []string
	for i := range words {
		ids = append(ids, words[i].In...)
	}
	slices.Sort(ids)
	chunks, err := visible(ctx, subject, c.Question, slices.Compact(ids))
	if err != nil {
		return nil
	}
	forms := newSurfaces(c.Analyzer, words)
	for i := range chunks {
		forms.read(&chunks[i], field)
	}
	return c.rank(words, forms, a)
}

func (c *Corrector) rank(words []engine.Word, forms *surfaces, a *criteria) []correction {
	var all []correction
	for i := range words {
		for form := range forms.forms[words[i].Text] {
			d := engine.Distance(a.word, c.Analyzer.Fold(form), a.most)
			if d > 0 && d <= a.most && a.keep(form, d) {
				all = append(all, correction{form, d, words[i].Chunks})
			}
		}
	}
	return all
}
