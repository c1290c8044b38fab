package esquery

import "github.com/go-json-experiment/json/jsontext"

// KNN finds the approximate nearest neighbours of a vector; its score for
// cosine is (1 + cosine) / 2. As a query clause:
//
//	{"knn": {"field": "vector", "query_vector": […], "k": 10, "num_candidates": 100,
//	         "filter": […], "rescore_vector": {"oversample": 3}}}
//
// Filter restricts before the neighbours are counted, so k of them come back.
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl-knn-query.html
type KNN struct {
	Common
	Field         string
	Vector        []float32 // [dim]float32
	K             int
	NumCandidates int // per shard, K..10000
	Filter        []Query
	// Oversample re-scores Oversample x K candidates with the unquantised
	// vectors; 0 leaves it out.
	Oversample float64
}

// MarshalJSONTo implements json.MarshalerTo.
func (q KNN) MarshalJSONTo(enc *jsontext.Encoder) error { return wrap(enc, "knn", q.body()) }

type knnBody struct {
	Field         string    `json:"field"`
	QueryVector   []float32 `json:"query_vector"`
	K             int       `json:"k"`
	NumCandidates int       `json:"num_candidates"`
	Filter        []Query   `json:"filter,omitempty"`
	Rescore       *rescore  `json:"rescore_vector,omitempty"`
	Common
}

type rescore struct {
	Oversample float64 `json:"oversample"`
}

func (q KNN) body() knnBody {
	body := knnBody{
		Field: q.Field, QueryVector: q.Vector, K: q.K, NumCandidates: q.NumCandidates,
		Filter: q.Filter, Common: q.Common,
	}
	if q.Oversample > 0 {
		body.Rescore = &rescore{q.Oversample}
	}
	return body
}
