package esquery

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

func (q KNN) writeQuery(w *writer) {
	w.begin()
	q.write(w)
	w.end()
}

// write writes the clause as a member of a query or of a search.
func (q *KNN) write(w *writer) {
	w.member("knn").begin()
	w.text("field", q.Field)
	w.vector("query_vector", q.Vector)
	w.int("k", q.K)
	w.int("num_candidates", q.NumCandidates)
	w.optQueries("filter", q.Filter)
	if q.Oversample > 0 {
		w.member("rescore_vector").begin()
		w.float("oversample", q.Oversample)
		w.end()
	}
	q.writeCommon(w)
	w.end()
}
