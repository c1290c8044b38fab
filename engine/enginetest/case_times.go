package enginetest

import (
	"fmt"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/filter"
)

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
