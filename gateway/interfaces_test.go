package gateway

import (
	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/ingest"
	"github.com/hybridge-search/hybridge/search"
)

// What is served in earnest.
var (
	_ Searcher = (*search.Searcher)(nil)
	_ Catalog  = (*catalog.Catalog)(nil)
	_ Ingester = (*ingest.Pipeline)(nil)
)
