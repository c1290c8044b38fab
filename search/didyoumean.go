package search

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
	shortWord      = 5  // letters up to which another letter makes another word
	longestEnding  = 3  // letters in which forms of a word differ
	alikeWords     = 24 // words of the index that are looked at
	formSamples    = 16 // chunks in which the forms of each are looked for: one form may be far more frequent
	chineseWord    = 4  // characters of a Chinese word of which one may differ
)

// didYouMean is the question with words that no searched knowledge base has replaced by words
// that are close and are in chunks that the caller may see; empty where there is nothing to
// correct. While all words are known it looks at their frequencies and asks nothing.
func (s *Searcher) didYouMean(ctx context.Context, r *run, set *answerSet) string {
	unknown := s.unknownWords(ctx, r, set)
	if len(unknown) == 0 || len(unknown) > correctedWords {
		return ""
	}
	ctx, span := tracing.Start(ctx, engines.SpanDidYou)
	defer span.End(nil)
	c := corrector{searcher: s, run: r}
	var edits []edit
	for _, word := range unknown {
		edits = append(edits, c.correct(ctx, word)...)
	}
	if len(edits) == 0 {
		return ""
	}
	return apply(r.req.Query, edits)
}

// unknownWords are the terms of the question that no searched text field has, nor a synonym
// of them. Where a plan needs no statistics they are asked for only if no chunk matched.
func (s *Searcher) unknownWords(ctx context.Context, r *run, set *answerSet) []analysis.QueryTerm {
	terms := r.question.Parsed.Terms
	known := make([]bool, len(terms))
	asked := false
	for i := range set.retrievals {
		rt := &set.retrievals[i]
		for l := range rt.measured.legs {
			if rt.measured.legs[l].Kind != scoring.Text || rt.measured.legs[l].Query > 0 {
				continue
			}
			f, ok := s.frequenciesIn(ctx, rt, l)
			if !ok {
				return nil // what is there is not known
			}
			asked = true
			for at := range known {
				known[at] = known[at] || f.DF[at] > 0 || at < len(f.Substitutes) && f.Substitutes[at].DF > 0
			}
		}
	}
	if !asked || !slices.Contains(known, false) {
		return nil
	}
	var unknown []analysis.QueryTerm
	for at := range terms {
		if !known[at] {
			unknown = append(unknown, terms[at])
		}
	}
	return unknown
}

// frequenciesIn are those of the question's terms in the field of a leg.
func (s *Searcher) frequenciesIn(ctx context.Context, rt *retrieval, l int) (analysis.Frequencies, bool) {
	leg := &rt.measured.legs[l]
	switch {
	case leg.err != nil:
		return analysis.Frequencies{}, false
	case leg.frequencies.DF != nil:
		return leg.frequencies, true
	case rt.matchedByText():
		return analysis.Frequencies{}, false
	}
	words := rt.vocabulary(0)
	stats, err := engines.Ask(ctx, rt.Subject, engines.CallStatistics, rt.Engine.Statistics,
		&engine.StatisticsRequest{KB: rt.KB, Field: leg.Field, Terms: words.Words})
	if err != nil || stats.TextErr != nil {
		return analysis.Frequencies{}, false
	}
	return ask.FrequenciesOf(words, stats), true
}

// matchedByText reports whether a text leg has found a chunk.
func (rt *retrieval) matchedByText() bool {
	for l := range rt.legs {
		if rt.legs[l].Kind != scoring.Text {
			continue
		}
		for h := range rt.hits {
			if o := rt.hits[h].Observations[l]; o.Raw > 0 {
				return true
			}
		}
	}
	return false
}

// edit replaces a piece of the question.
type edit struct {
	start, end int
	text       string
}

// apply makes all edits.
func apply(query string, edits []edit) string {
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(a.start, b.start) })
	var corrected strings.Builder
	at := 0
	for _, e := range edits {
		if e.start < at {
			continue // of the same word
		}
		corrected.WriteString(query[at:e.start])
		corrected.WriteString(e.text)
		at = e.end
	}
	corrected.WriteString(query[at:])
	if corrected.String() == query {
		return ""
	}
	return corrected.String()
}

type corrector struct {
	searcher *Searcher
	run      *run
}

// correct gives the edits for all places of a word.
func (c *corrector) correct(ctx context.Context, word analysis.QueryTerm) []edit {
	query := c.run.req.Query
	var edits []edit
	for _, token := range c.run.question.Parsed.Tokens {
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
func (c *corrector) latin(ctx context.Context, token analysis.Token) (edit, bool) {
	query := c.run.req.Query
	typed := query[token.Start:token.End]
	n := utf8.RuneCountInString(typed)
	plain := !strings.ContainsFunc(typed, func(r rune) bool { return !unicode.Is(unicode.Latin, r) })
	if n < shortestWord || n > longestWord || !plain || joined(query, token) || isAbbreviation(typed) {
		return edit{}, false
	}
	a := alike{word: c.searcher.Analyzer.Fold(typed), most: 1}
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
		return isMistyped(a.word, c.searcher.Analyzer.Fold(form), distance)
	}
	form := c.closest(ctx, &a)
	return edit{token.Start, token.End, inCaseOf(typed, form)}, form != ""
}

// isMistyped reports whether one word is likely another, mistyped, and not a word that is merely
// not in the texts: an inflection, or one of as many letters with another letter in one place.
func isMistyped(typed, form string, distance int) bool {
	x, y := []rune(typed), []rune(form)
	if len(y) < shortestWord || strings.ContainsFunc(form, func(r rune) bool { return !unicode.Is(unicode.Latin, r) }) {
		return false
	}
	if ending, longer := strings.CutPrefix(typed, form); longer && !strings.HasSuffix(form, ending) {
		return false // leaky is no mistyped leak; lleak and leakk are
	}
	from := 0
	for from < min(len(x), len(y)) && x[from] == y[from] {
		from++
	}
	if distance > 1 {
		return max(len(x), len(y))-from > longestEnding || from < shortestWord
	}
	if len(x) != len(y) || len(x) >= longWord || !slices.Equal(x[from+1:], y[from+1:]) {
		return true // a letter more, or less, or two swapped; or long enough
	}
	return len(x) > shortWord && (isVowel(x[from]) && isVowel(y[from]) || areNeighbours(x[from], y[from]))
}

func isVowel(r rune) bool { return strings.ContainsRune("aeiouy", r) }

// areNeighbours reports whether two letters are beside each other on a keyboard.
func areNeighbours(a, b rune) bool {
	for _, row := range []string{"qwertyuiop", "asdfghjkl", "zxcvbnm"} {
		if i, j := strings.IndexRune(row, a), strings.IndexRune(row, b); i >= 0 && j >= 0 {
			return i-j == 1 || j-i == 1
		}
	}
	return false
}

// joined reports whether a word is part of something longer, such as an address.
func joined(query string, token analysis.Token) bool {
	joins := func(r, beyond rune) bool {
		return strings.ContainsRune("-_./@'’:#\\&+=", r) && (unicode.IsLetter(beyond) || unicode.IsDigit(beyond))
	}
	before, size := utf8.DecodeLastRuneInString(query[:token.Start])
	beyond, _ := utf8.DecodeLastRuneInString(query[:token.Start-size])
	after, size := utf8.DecodeRuneInString(query[token.End:])
	behind, _ := utf8.DecodeRuneInString(query[token.End+size:])
	return unicode.IsDigit(before) || unicode.IsDigit(after) || joins(before, beyond) || joins(after, behind)
}

// isAbbreviation reports whether a word has a capital behind its first letter.
func isAbbreviation(word string) bool {
	_, size := utf8.DecodeRuneInString(word)
	return strings.ContainsFunc(word[size:], unicode.IsUpper)
}

// nearForms are what a word of the index may be near to: it is a stem, and lacks an ending.
func nearForms(word, stem string) []string {
	forms := []string{word}
	if stem != word {
		forms = append(forms, stem)
	}
	runes := []rune(word)
	for cut := 1; cut <= 4 && len(runes)-cut >= shortestWord; cut++ {
		if short := string(runes[:len(runes)-cut]); !slices.Contains(forms, short) {
			forms = append(forms, short)
		}
	}
	return forms
}

func firstRune(word string) string {
	_, size := utf8.DecodeRuneInString(word)
	return word[:size]
}

// inCaseOf begins a form as what was typed begins: a text may have it at the start of a sentence.
func inCaseOf(typed, form string) string {
	first, _ := utf8.DecodeRuneInString(typed)
	begins, size := utf8.DecodeRuneInString(form)
	switch {
	case form == "":
		return ""
	case form == strings.ToUpper(form): // of a heading
		return inCaseOf(typed, strings.ToLower(form))
	case isAbbreviation(form):
		return form
	case unicode.IsUpper(first):
		return string(unicode.ToUpper(begins)) + form[size:]
	default:
		return string(unicode.ToLower(begins)) + form[size:]
	}
}

// chinese corrects a character that nothing searched has, where with its neighbours it makes all
// but that one of a known word of four, and of no other: shorter words are too much alike. A word
// with a wrong character is in no dictionary, so it is cut there.
func (c *corrector) chinese(ctx context.Context, token analysis.Token) (edit, bool) {
	query := c.run.req.Query
	run, at := hanAround(query, token)
	if utf8.RuneCountInString(query[token.Start:token.End]) != 1 {
		return edit{}, false
	}
	var found []edit
	// The first character of a word is taken to be right.
	for from := max(0, at+1-chineseWord); from < at && from+chineseWord <= len(run.runes); from++ {
		runes := run.runes[from : from+chineseWord]
		window := c.searcher.Analyzer.Fold(string(runes))
		a := alike{word: window, most: 1, near: []string{window}, prefix: firstRune(window)}
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

// differsAt reports whether two words of the same length differ in one place and nowhere else.
func differsAt(form, typed []rune, at int) bool {
	return len(form) == len(typed) && slices.Equal(form[:at], typed[:at]) && slices.Equal(form[at+1:], typed[at+1:])
}

// hanRun is ideographs without anything between them.
type hanRun struct {
	runes  []rune
	starts []int // of each in the question, and the end of the last
}

// hanAround is the run around a character, and its place there.
func hanAround(query string, token analysis.Token) (run hanRun, at int) {
	start := token.Start
	for n := 0; n < chineseWord; n++ {
		r, size := utf8.DecodeLastRuneInString(query[:start])
		if !isHan(r) {
			break
		}
		start -= size
	}
	for i, r := range query[start:] {
		if !isHan(r) || start+i >= token.End && len(run.runes)-at >= chineseWord {
			break
		}
		if start+i == token.Start {
			at = len(run.runes)
		}
		run.runes, run.starts = append(run.runes, r), append(run.starts, start+i)
	}
	if n := len(run.runes); n > 0 {
		run.starts = append(run.starts, run.starts[n-1]+utf8.RuneLen(run.runes[n-1]))
	}
	return run, at
}

// alike is what a correction must be like.
type alike struct {
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
func (c *corrector) closest(ctx context.Context, a *alike) string {
	all := c.forms(ctx, a)
	if len(all) == 0 {
		return ""
	}
	return slices.MinFunc(all, func(x, y correction) int {
		return cmp.Or(cmp.Compare(x.distance, y.distance), cmp.Compare(y.chunks, x.chunks),
			compareCase(x.form, y.form), strings.Compare(x.form, y.form))
	}).form
}

// forms are those of all knowledge bases, each once.
func (c *corrector) forms(ctx context.Context, a *alike) []correction {
	var all []correction
	for i := range c.run.subjects {
		subject := &c.run.subjects[i]
		lexicon, ok := subject.Engine.(engine.Lexicon)
		if !ok {
			continue
		}
		for _, field := range subject.KB.FieldsOf(scoring.Text) {
			for _, found := range c.formsIn(ctx, subject, lexicon, field, a) {
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

// formsIn are those of one field. A knowledge base that cannot be asked has none: corrections
// are no reason to fail or to degrade an answer.
func (c *corrector) formsIn(
	ctx context.Context, subject *engines.Subject, lexicon engine.Lexicon, field string, a *alike,
) []correction {
	filter := c.run.question.Filter
	filter.Required, filter.Excluded = nil, nil // phrases, which may have the word
	words, err := engines.Ask(ctx, subject, engines.CallWords, lexicon.Words, &engine.WordsRequest{
		KB: subject.KB, Field: field, Filter: filter, Prefix: a.prefix, Near: a.near, Distance: a.most, Limit: alikeWords,
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
	chunks, err := c.searcher.visible(ctx, subject, &c.run.question, slices.Compact(ids))
	if err != nil {
		return nil
	}
	forms := newSurfaces(c.searcher.Analyzer, words)
	for i := range chunks {
		forms.read(&chunks[i], field)
	}
	return c.rank(words, forms, a)
}

func (c *corrector) rank(words []engine.Word, forms *surfaces, a *alike) []correction {
	var all []correction
	for i := range words {
		for form := range forms.forms[words[i].Text] {
			d := engine.Distance(a.word, c.searcher.Analyzer.Fold(form), a.most)
			if d > 0 && d <= a.most && a.keep(form, d) {
				all = append(all, correction{form, d, words[i].Chunks})
			}
		}
	}
	return all
}
