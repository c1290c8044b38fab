package esquery

// Bool combines clauses:
//
//	{"bool": {"filter": […], "must": […], "should": […], "must_not": […], "minimum_should_match": 1}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl-bool-query.html
type Bool struct {
	Common
	Filter  []Query // must match, without score
	Must    []Query // must match, score added
	Should  []Query // may match, score added
	MustNot []Query
	// MinimumShouldMatch is the number of Should clauses that have to match;
	// 0 leaves Elasticsearch's default: 1 without Filter and Must, else 0.
	MinimumShouldMatch int
}

func (q Bool) writeQuery(w *writer) {
	w.begin("bool")
	w.optQueries("filter", q.Filter)
	w.optQueries("must", q.Must)
	w.optQueries("should", q.Should)
	w.optQueries("must_not", q.MustNot)
	w.optInt("minimum_should_match", q.MinimumShouldMatch)
	q.writeCommon(w)
	w.end()
}
