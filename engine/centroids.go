package engine

import (
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/analysis/language"
)

// MetadataLanguage is the metadata key of the language that a chunk is written in
// (ISO 639-1, or a longer tag that begins with it).
const MetadataLanguage = "language"

// Language returns the chunk's language from its metadata; empty if unknown.
func (c *Chunk) Language() string {
	tag, _ := c.Metadata[MetadataLanguage].(string)
	return language.Code(tag)
}

// Centroids holds the mean vectors of a vector field. It is shared and never changed.
type Centroids struct {
	Chunks     int // with a vector
	ByLanguage []Centroid
	Sample     []string // ids of the chunks of the sample, hidden ones included
}

// Centroid is the mean vector of the chunks in one language, within the fixed random sample
// of those that have a vector in a field.
type Centroid struct {
	Language string    // ISO 639-1; empty: unknown
	Chunks   int       // of the sample
	Mean     []float32 // [dim], of vectors of length 1
	IDs      []string  // up to examples of the chunks
}

// examples is the number of ids kept to identify a language by.
const examples = 16

// NewCentroids groups a sample by language and averages each group: vectors,
// [n*dim]float32, has one vector per chunk of ids and languages.
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
