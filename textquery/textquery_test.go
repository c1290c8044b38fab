package textquery

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTimes(t *testing.T) {
	q := &Query{
		Terms: []Term{
			{Text: "a", Weight: 2, Synonyms: []Phrase{{Terms: []string{"b", "c"}, Weight: 1}}}, {Text: "d", Weight: 1},
		},
		Phrases: []Phrase{{Terms: []string{"a", "d"}, Slop: 2, Weight: 4}}, MinimumMatch: 1,
	}
	want := &Query{
		Terms: []Term{
			{Text: "a", Weight: 1, Synonyms: []Phrase{{Terms: []string{"b", "c"}, Weight: 0.5}}},
			{Text: "d", Weight: 0.5, Synonyms: []Phrase{}},
		},
		Phrases: []Phrase{{Terms: []string{"a", "d"}, Slop: 2, Weight: 2}}, MinimumMatch: 1,
	}
	if diff := cmp.Diff(want, q.Times(0.5)); diff != "" {
		t.Errorf("half of it (-want +got):\n%s", diff)
	}
	if q.Terms[0].Weight != 2 || q.Phrases[0].Weight != 4 || q.Terms[0].Synonyms[0].Weight != 1 {
		t.Errorf("the query itself became %+v; want q.Terms[0].Weight 2 and q.Phrases[0].Weight 4 and q.Terms[0].Synonyms[0].Weight 1", q)
	}
}

func TestLengthsFactor(t *testing.T) {
	f := func(l *Lengths, want float64) {
		t.Helper()
		if got := l.Factor(); math.Abs(got-want) > 1e-12 {
			t.Errorf("%+v: %v, want %v", l, got, want)
		}
	}
	f(nil, 1)
	f(&Lengths{Average: 100, Own: 100}, 1)
	f(&Lengths{Average: 100, Own: 50}, 2.2/1.75) // 1 + 1.2·(0.25 + 0.375)
	f(&Lengths{Average: 0, Own: 50}, 1)
}
