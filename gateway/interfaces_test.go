package gateway

import (
	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/gateway/chunks"
	"github.com/hybridge-search/hybridge/gateway/searches"
	"github.com/hybridge-search/hybridge/ingest"
	"github.com/hybridge-search/hybridge/search"
)

// What is served in earnest.
var (
	_ searches.Searcher = (*search.Searcher)(nil)
	_ Catalog           = (*catalog.Catalog)(nil)
	_ chunks.Ingester   = (*ingest.Pipeline)(nil)
)
