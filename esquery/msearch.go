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
type SearchHeader struct {
	Index      string `json:"index"`
	Routing    string `json:"routing,omitzero"`
	SearchType string `json:"search_type,omitzero"`
}

// NDJSON gives the body, with the final newline that Elasticsearch insists on.
func (m MultiSearch) NDJSON() ([]byte, error) {
	values := make([]any, 0, 2*len(m))
	for i := range m {
		values = append(values, m[i].Header, m[i].Search)
	}
	return lines(values...)
}
