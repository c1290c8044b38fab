package engine

import (
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/analysis/language"
)

// MetadataLanguage is the metadata key of the language that a chunk is written in
// (ISO 639-1, or a longer tag that begins with it).
const MetadataLanguage = "language"

// Language is what the metadata says of the chunk's language; empty where they say nothing.
func (c *Chunk) Language() string {
	tag, _ := c.Metadata[MetadataLanguage].(string)
	return language.Code(tag)
}

// Centroids are those of a vector field. They are shared and never changed.
type Centroids struct {
	Chunks     int // with a vector
	ByLanguage []Centroid
	Sample     []string // ids of the chunks of the sample, hidden ones included
}

// Centroid is the middle of the chunks in one language, within the fixed random sample
// of those that have a vector in a field.
type Centroid struct {
	Language string    // ISO 639-1; empty: the metadata do not say
	Chunks   int       // of the sample
	Mean     []float32 // [dim], of vectors of length 1
	IDs      []string  // of some of the chunks
}

// examples are enough ids to tell a language by.
const examples = 16

// NewCentroids are those of a sample, by language: the n-th vector of vectors,
// [n*dim]float32, is that of the n-th chunk, whose language is as its metadata have it.
func NewCentroids(ids, languages []string, vectors []float32) []Centroid {
	if len(ids) == 0 {
		return nil
	}
	dim := len(vectors) / len(ids)
	sums := map[string][]float64{}
	found := map[string]*Centroid{}
	for i, tag := range languages {
		l := language.Code(tag)
		if found[l] == nil {
			found[l], sums[l] = &Centroid{Language: l}, make([]float64, dim)
		}
		c := found[l]
		c.Chunks++
		if len(c.IDs) < examples {
			c.IDs = append(c.IDs, ids[i])
		}
		for j, x := range vectors[i*dim : (i+1)*dim] {
			sums[l][j] += float64(x)
		}
	}
	all := make([]Centroid, 0, len(found))
	for l, c := range found {
		c.Mean = make([]float32, dim)
		for j, sum := range sums[l] {
			c.Mean[j] = float32(sum / float64(c.Chunks))
		}
		all = append(all, *c)
	}
	slices.SortFunc(all, func(a, b Centroid) int { return strings.Compare(a.Language, b.Language) })
	return all
}
