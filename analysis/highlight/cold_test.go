package highlight

import (
	"slices"
	"testing"
	"time"
)

// mixedSets are those that the benchmarks of the gateway ask about.
var mixedSets = []string{"scifact", "drcd", "lecoqa_statute", "lecoqa_faq", "stackfaq"}

// caches is more memory than caches hold.
var caches = make([]int, 8<<20)

// chill leaves caches as other processes leave them between two searches: with
// nothing of ours but the page, which was just decoded.
func chill(p *page) (sum int) {
	for i := range caches {
		caches[i]++
	}
	for _, text := range p.texts {
		for i := range len(text) {
			sum += int(text[i])
		}
	}
	for _, t := range p.query.Terms {
		sum += len(t.Text) + int(t.Text[0])
	}
	return sum
}

// BenchmarkCold marks pages of all sets in turn, or of one, with cold caches: the first
// quarter and the middle of the times that a page takes in µs, and of those to make
// its matcher alone, and to select its tokens alone.
func BenchmarkCold(b *testing.B) {
	bySet := make([][]page, 0, len(mixedSets))
	for _, set := range mixedSets {
		bySet = append(bySet, pages(b, set))
	}
	var mixed []page
	for i := range bySet[0] {
		for _, of := range bySet {
			mixed = append(mixed, of[i])
		}
	}
	coldSteps(b, "mixed", mixed)
	for s, set := range mixedSets {
		coldSteps(b, set, bySet[s])
	}
}

func coldSteps(b *testing.B, name string, of []page) {
	cold(b, name+"/page", of, func(p *page, _ *Matcher) { p.mark() })
	cold(b, name+"/matcher", of, func(p *page, _ *Matcher) { NewMatcher(&p.asked, p.query, shared) })
	cold(b, name+"/select", of, func(p *page, m *Matcher) {
		for _, text := range p.texts {
			m.exact(nil, text)
		}
	})
}

func cold(b *testing.B, name string, of []page, step func(p *page, m *Matcher)) {
	b.Run(name, func(b *testing.B) {
		var took []time.Duration
		for i := 0; b.Loop(); i++ {
			p := &of[i%len(of)]
			m := NewMatcher(&p.asked, p.query, shared)
			chill(p)
			start := time.Now()
			step(p, m)
			took = append(took, time.Since(start))
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/4])/1e3, "µs-p25")
		b.ReportMetric(float64(took[len(took)/2])/1e3, "µs-p50")
		b.ReportMetric(0, "ns/op")
	})
}
