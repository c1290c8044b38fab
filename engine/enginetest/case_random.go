package enginetest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/textquery"
)

func randomCases() []testCase {
	return []testCase{
		{"random/filters find what the conditions say", randomFilters},
		{"random/times lie where their moment does", randomTimes},
		{"random/text queries find what they say", randomQueries},
	}
}

// dice draws from lists.
type dice struct{ *rand.Rand }

func newDice(seed uint64) dice { return dice{rand.New(rand.NewPCG(seed, 11))} }

func (d dice) word(words ...string) string { return words[d.IntN(len(words))] }

var metadataValues = []any{
	"x", "y", "Y", "10", "9", "2024", "2024-05-01", "2025-01-31", "true", "中文", "", "a b",
	"2024-12", "2024-12-31T23:30:00-01:00", "2025-01-01t00:30z", "2025-01-01 00:30:00.5+0030",
	"2024-02-30", "2024-12-31T24:00", "1969-12-31T23:59:59.999999999", "2025-01-31T12:00+00",
	"2025-01-31T13:00:00.000001+01:00",
	"2024-12-31T23:30:00.",
	1.0, 2.0, 9.0, 10.0, -3.5, 2024.0, 1e15, 0.0, true, false,
}

func (d dice) value() any { return metadataValues[d.IntN(len(metadataValues))] }

func (d dice) tagged(i int) engine.Chunk {
	c := passage(fmt.Sprintf("c%03d", i), "word", 1, float32(d.IntN(5)))
	c.DocumentID, c.DocumentName = d.word("d1", "d2", "d3"), d.word("", "one.md", "two.md")
	c.WrittenAt = d.word("", "2025-01-31T12:00:00Z", "2026-11-28T16:00:00Z")
	c.Owner, c.Available = d.word("", "u1", "u2"), d.IntN(8) > 0
	c.Metadata = map[string]any{}
	for _, field := range []string{"a", "b"} {
		switch d.IntN(4) {
		case 0: // absent
		case 1:
			c.Metadata[field] = []any{d.value(), d.value(), d.value()}
		default:
			c.Metadata[field] = d.value()
		}
	}
	return c
}

func (d dice) condition() filter.Condition {
	c := filter.Condition{
		Field: d.word("a", "a", "b", "b", "document_id", "document_name", "owner", "written_at", "nosuch"),
		Not:   d.IntN(3) == 0,
	}
	switch d.IntN(6) {
	case 5:
		c.Part = &filter.Part{
			Text: d.word("x", "2024", "0", "-05-", "01", "文", "中", "a b", "true", "d", "one", ".md", "1", "Y"),
			At:   []filter.Place{filter.Anywhere, filter.AtStart, filter.AtEnd}[d.IntN(3)],
		}
	case 0:
		exists := d.IntN(2) == 0
		c.Exists = &exists
	case 1, 2:
		c.Range = d.bounds()
	default:
		for range 1 + d.IntN(3) {
			c.In = append(c.In, filter.Value{V: d.value()})
		}
		c.In = append(c.In, filter.Value{V: d.word("d1", "u1", "one.md")})
	}
	return c
}

// nested joins conditions now and then.
func (d dice) nested(depth int) filter.Condition {
	if depth > 2 || d.IntN(3) > 0 {
		return d.condition()
	}
	c := filter.Condition{Field: "any_of", Not: d.IntN(3) == 0}
	for range 1 + d.IntN(3) {
		var all []filter.Condition
		for range 1 + d.IntN(2) {
			all = append(all, d.nested(depth+1))
		}
		c.AnyOf = append(c.AnyOf, all)
	}
	return c
}

var dayBounds = []string{
	"x", "2024", "2025", "2024-12", "2024-12-31", "2025-01-31", "2025-01-31T12:00:00Z", "2025-01-31T13:00+01:00",
	"2025-01-01T00:30", "2024-12-31T23:30:00.5-00:30", "1970", "9999", "0001-01-01", "2026-11-28 16:00:00.000001",
	"2024-02-30",
}

// bounds have one type and are not all open.
func (d dice) bounds() *filter.Range {
	bound := func() *filter.Value {
		return &filter.Value{V: d.word(dayBounds...)}
	}
	if d.IntN(2) == 0 {
		bound = func() *filter.Value { return &filter.Value{V: float64(d.IntN(12) - 2)} }
	}
	switch d.IntN(5) {
	case 0:
		return &filter.Range{GT: bound()}
	case 1:
		return &filter.Range{LTE: bound()}
	case 2:
		return &filter.Range{GTE: bound(), LT: bound()}
	case 3:
		return &filter.Range{GT: bound(), LTE: bound()}
	default:
		return &filter.Range{GTE: bound(), LTE: bound()}
	}
}

// randomFilters holds both kinds of leg to filter.Condition.Matches.
func randomFilters(t *testing.T, s *suite) {
	d := newDice(21)
	b := s.base(t, schema{Dimensions: 2})
	var chunks []engine.Chunk
	for i := range 120 {
		chunks = append(chunks, d.tagged(i))
	}
	b.write(chunks...)
	for range 160 {
		var f engine.Filter
		for range 1 + d.IntN(2) {
			f.Conditions = append(f.Conditions, d.nested(0))
		}
		f.Owner = d.word("", "", "", "u1")
		var want []string
		for i := range chunks {
			if passes(&f, &chunks[i]) {
				want = append(want, chunks[i].ID)
			}
		}
		result := b.search(engine.Request{Filter: f, Legs: []engine.Leg{words(200, "word"), near(200, 1, 0)}})
		what := describeConditions(f.Conditions)
		sameSet(t, "text, "+what, ranking(result, 0), want)
		sameSet(t, "vector, "+what, ranking(result, 1), want)
	}
}

// passes is the reference for a filter of conditions and an owner.
func passes(f *engine.Filter, c *engine.Chunk) bool {
	ok := c.Available && (f.Owner == "" || c.Owner == f.Owner)
	for i := range f.Conditions {
		ok = ok && f.Conditions[i].Matches(c)
	}
	return ok
}

func describeRange(r *filter.Range) string {
	text := ""
	for name, v := range map[string]*filter.Value{"gt": r.GT, "gte": r.GTE, "lt": r.LT, "lte": r.LTE} {
		if v != nil {
			text += fmt.Sprintf(" %s %#v", name, v.V)
		}
	}
	return text
}

func describeConditions(conditions []filter.Condition) string {
	var out []string
	for _, c := range conditions {
		text := fmt.Sprintf("%s in %#v", c.Field, c.In)
		if c.Exists != nil {
			text = fmt.Sprintf("%s exists %v", c.Field, *c.Exists)
		}
		if c.Range != nil {
			text = c.Field + describeRange(c.Range)
		}
		if c.AnyOf != nil {
			text = "any of"
			for _, all := range c.AnyOf {
				text += " [" + describeConditions(all) + "]"
			}
		}
		out = append(out, fmt.Sprintf("%s (not: %v)", text, c.Not))
	}
	return strings.Join(out, " and ")
}

// randomQueries checks which chunks match; their scores are Versus's matter.
func randomQueries(t *testing.T, s *suite) {
	d := newDice(22)
	b := s.base(t, schema{})
	vocabulary := []string{"red", "fox", "blue", "sea", "whale", "sun"}
	texts := map[string][]string{}
	var chunks []engine.Chunk
	for i := range 100 {
		var tokens []string
		for range d.IntN(6) {
			tokens = append(tokens, d.word(vocabulary...))
		}
		c := passage(fmt.Sprintf("c%03d", i), strings.Join(tokens, " "))
		texts[c.ID] = tokens
		chunks = append(chunks, c)
	}
	b.write(chunks...)
	for range 60 {
		q := &textquery.Query{MinimumMatch: d.IntN(4)}
		for _, i := range d.Perm(len(vocabulary))[:1+d.IntN(3)] {
			term := textquery.Term{Text: vocabulary[i], Weight: 0.5 + d.Float64()}
			if d.IntN(3) == 0 {
				first, second := d.word(vocabulary...), d.word(vocabulary...)
				term.Synonyms = []textquery.Phrase{{Terms: []string{first, second}, Weight: 0.8}}
			}
			q.Terms = append(q.Terms, term)
		}
		q.Phrases = []textquery.Phrase{{Terms: []string{"red", "fox"}, Weight: 2}}
		want := slices.DeleteFunc(slices.Collect(maps.Keys(texts)), func(id string) bool { return !matches(q, texts[id]) })
		leg := engine.Leg{Name: "text", Field: engine.FieldText, K: 200, Text: q}
		sameSet(t, fmt.Sprintf("%+v", *q), b.ids(leg, engine.Filter{}), want)
	}
}

// matches counts the terms that are there themselves or by a synonym.
func matches(q *textquery.Query, tokens []string) bool {
	n := 0
	for _, term := range q.Terms {
		there := slices.Contains(tokens, term.Text)
		for _, synonym := range term.Synonyms {
			there = there || contains(tokens, synonym.Terms)
		}
		if there {
			n++
		}
	}
	return n >= max(1, q.MinimumMatch)
}

// contains looks for tokens standing next to each other.
func contains(tokens, phrase []string) bool {
	for i := 0; i+len(phrase) <= len(tokens); i++ {
		if slices.Equal(tokens[i:i+len(phrase)], phrase) {
			return true
		}
	}
	return false
}

// time is a text that is a time, or nearly one.
func (d dice) time() string {
	year := d.word("2024", "2025", "2026", "1969", "0001", "9999", "0000")
	text := fmt.Sprintf("%s-%02d-%02d", year, d.IntN(14), d.IntN(33))
	switch d.IntN(6) {
	case 0:
		text = text[:[]int{4, 7, 10}[d.IntN(3)]]
	case 1: // the day alone
	default:
		text += d.word("T", "T", "T", "t", " ") + fmt.Sprintf("%02d:%02d", d.IntN(25), d.IntN(61)) +
			d.word("", ":00", ":30", ":59", ":60", ":30.5", ":00.123456", ":59.999999999", ":00.0000001", ":00.") +
			d.word("", "Z", "Z", "z", "+00:00", "+02:00", "-0530", "+14", "-23:59", "+24:00", "+05:60", "+2")
	}
	if d.IntN(8) == 0 { // not quite
		at := d.IntN(len(text))
		text = text[:at] + d.word("", "0", "-", ":", "Z", " ", "x", ".", "+", "９", "\n") + text[at+d.IntN(2):]
	}
	return text
}

// randomTimes holds engines to filter.ParseMoment.
func randomTimes(t *testing.T, s *suite) {
	d := newDice(23)
	b := s.base(t, schema{})
	var chunks []engine.Chunk
	for i := range 400 {
		c := passage(fmt.Sprintf("c%03d", i), "word")
		c.Metadata = map[string]any{"at": d.time()}
		if d.IntN(5) == 0 {
			c.Metadata["at"] = []any{d.time(), d.time()}
		}
		chunks = append(chunks, c)
	}
	b.write(chunks...)
	bound := func() *filter.Value {
		for d.IntN(3) > 0 {
			text := d.time()
			if _, ok := filter.ParseMoment(text); ok {
				return &filter.Value{V: text}
			}
		}
		return nil
	}
	for range 60 {
		c := filter.Condition{Field: "at", Range: &filter.Range{GT: bound(), GTE: bound(), LT: bound(), LTE: bound()}}
		if _, ok := c.Range.Moments(); !ok {
			continue
		}
		var want []string
		for i := range chunks {
			if c.Matches(&chunks[i]) {
				want = append(want, chunks[i].ID)
			}
		}
		filter := engine.Filter{Conditions: []filter.Condition{c}}
		sameSet(t, describeConditions(filter.Conditions), b.ids(words(400, "word"), filter), want)
	}
}
