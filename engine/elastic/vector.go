package elastic

import (
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/mappings"
)

const (
	oversample    = 3 // cosines of int8 vectors alone are off by .011
	minCandidates = 100
	maxCandidates = 10_000 // Elasticsearch's limit, as for the size of a page
)

func knnClause(field mappings.VectorField, vector []float32, k int, filters []esquery.Query) esquery.Query {
	return esquery.KNN{
		Field: field.Name, Vector: vector, K: k, NumCandidates: min(max(2*k, minCandidates), maxCandidates),
		Filter: filters, Oversample: oversample,
	}
}

// cosineOfScript and cosineOfKNN convert the two scales of vector scores.
func cosineOfScript(score float64) float64 { return clampCosine(score - 1) }
func cosineOfKNN(score float64) float64    { return clampCosine(2*score - 1) }

func clampCosine(c float64) float64 { return min(1, max(-1, c)) }

func methodOf(knn bool) string {
	if knn {
		return methodKNN
	}
	return methodExact
}

// The methods that results and legs report.
const (
	methodText  = "bm25"
	methodExact = "exact"
	methodKNN   = "knn"
	methodUnion = "union"
)
