package esquery

// MultiSearch is the body of an _msearch, one header and one search a line:
//
//	{"index": "manuals", "search_type": "dfs_query_then_fetch"}
//	{"query": …}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/search-multi-search.html
type MultiSearch []SearchLine

// SearchLine is one search of a MultiSearch.
type SearchLine struct {
	Header SearchHeader
	Search Search
}

// SearchHeader says where and how one search of a MultiSearch runs.
type SearchHeader struct{ Index, Routing, SearchType string }

func (h *SearchHeader) write(w *writer) {
	w.begin()
	w.text("index", h.Index)
	w.optText("routing", h.Routing)
	w.optText("search_type", h.SearchType)
	w.end()
}

// NDJSON gives the body, with the final newline that Elasticsearch insists on.
func (m MultiSearch) NDJSON() ([]byte, error) { return Marshal(m) }

func (m MultiSearch) writeBody(w *writer) {
	for i := range m {
		m[i].Header.write(w)
		w.endLine()
		m[i].Search.writeBody(w)
		w.endLine()
	}
}
