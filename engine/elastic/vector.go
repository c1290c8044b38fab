package elastic

import (
	"math"
	"strconv"
	"strings"

	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/mappings"
)

const (
	oversample    = 3 // int8 alone is .011 off
	minCandidates = 100
	maxCandidates = 10_000 // Elasticsearch's limit, as for the size of a page
)

// unit checks a vector and gives it length 1, so that no square under- or
// overflows in float32; nil for a vector of length 0, which has no cosine.
func unit(vector []float32, dims int) ([]float32, error) {
	if len(vector) != dims {
		return nil, fault.Invalid("vector", strconv.Itoa(len(vector))+" numbers", strconv.Itoa(dims)+" numbers")
	}
	sum := 0.0
	for _, x := range vector {
		sum += float64(x) * float64(x)
	}
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		return nil, fault.Invalid("vector", "with NaN or an infinite number in it", "finite numbers")
	}
	length := math.Sqrt(sum)
	if length == 0 {
		return nil, nil
	}
	scaled := make([]float32, dims)
	for i, x := range vector {
		scaled[i] = float32(float64(x) / length)
	}
	return scaled, nil
}

func nearestClause(field mappings.VectorField, vector []float32, k int, filters []esquery.Query) esquery.Query {
	return esquery.KNN{
		Field: field.Name, Vector: vector, K: k, NumCandidates: min(max(2*k, minCandidates), maxCandidates),
		Filter: filters, Oversample: oversample,
	}
}

// cosineOfScript and cosineOfNearest convert the two scales of vector scores.
func cosineOfScript(score float64) float64  { return clampCosine(score - 1) }
func cosineOfNearest(score float64) float64 { return clampCosine(2*score - 1) }

func clampCosine(c float64) float64 { return min(1, max(-1, c)) }

// noField says which fields there are.
func (t *target) noField(where, name string) error {
	var known []string
	for _, f := range t.kb.Fields() {
		known = append(known, f.Name)
	}
	return fault.Invalid(where, name, "a field of the knowledge base: "+strings.Join(known, ", "))
}

func methodOf(nearest bool) string {
	if nearest {
		return methodNearest
	}
	return methodExact
}

// The methods that results and legs report.
const (
	methodText    = "bm25"
	methodExact   = "exact"
	methodNearest = "knn"
	methodUnion   = "union"
)
