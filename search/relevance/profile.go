package relevance

import (
	"slices"

	"github.com/hybridge-search/hybridge/analysis/language"
	"github.com/hybridge-search/hybridge/engine"
)

// Profile says in which languages the chunks of a knowledge base are.
type Profile struct {
	Main      string            // of most chunks, and of chunks that name none
	Centroids []engine.Centroid // of a vector field, by language; none where there are no vectors
	Chunks    int               // with a vector in it
}

// Mixed reports whether chunks are in several languages, so that each has to say its own.
func (p *Profile) Mixed() bool { return len(p.Centroids) > 1 }

// Sampled is how many chunks the centroids are of.
func (p *Profile) Sampled() int {
	n := 0
	for _, c := range p.Centroids {
		n += c.Chunks
	}
	return n
}

// Has reports whether chunks are in the language.
func (p *Profile) Has(l string) bool {
	return l == p.Main || slices.ContainsFunc(p.Centroids, func(c engine.Centroid) bool { return c.Language == l })
}

// minShare is the minimum share of the chunks for a language of the knowledge base that is
// easily mistaken for the main one.
const minShare = 0.02

// Correct counts few chunks in a language easily mistaken for the main one as chunks in
// the main one.
func (p *Profile) Correct() {
	parts, all := p.Centroids, float64(p.Sampled())
	p.Centroids = nil
	for _, c := range parts {
		if language.Alike(c.Language, p.Main) && float64(c.Chunks) < minShare*all {
			c.Language = p.Main
		}
		p.Add(c)
	}
}

// Add merges a centroid into the one of the same language.
func (p *Profile) Add(c engine.Centroid) {
	for i := range p.Centroids {
		same := &p.Centroids[i]
		if same.Language != c.Language {
			continue
		}
		n := float32(same.Chunks + c.Chunks)
		mean := make([]float32, len(c.Mean))
		for j := range mean {
			mean[j] = (same.Mean[j]*float32(same.Chunks) + c.Mean[j]*float32(c.Chunks)) / n
		}
		same.Mean, same.Chunks = mean, same.Chunks+c.Chunks
		return
	}
	p.Centroids = append(p.Centroids, c)
}

// MainLanguage is the language of most chunks; empty if unknown.
func MainLanguage(chunks []engine.Chunk) string {
	votes := map[string]int{}
	main := ""
	for i := range chunks {
		l := languageOf(&chunks[i])
		if l == "" {
			continue
		}
		if votes[l]++; votes[l] > votes[main] || votes[l] == votes[main] && l < main {
			main = l
		}
	}
	return main
}

// languageOf is the language that a chunk names, else the one detected in its text.
func languageOf(c *engine.Chunk) string {
	if named := c.Language(); named != "" {
		return named
	}
	return language.Of(c.FieldText(engine.FieldText))
}
