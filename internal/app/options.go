package app

import (
	"io/fs"
	"log/slog"
	"time"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/engine/elastic"
	"github.com/hybridge-search/hybridge/engine/postgres"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
)

// EmbeddedName is the name of the engine in the data directory.
const EmbeddedName = "embedded"

// Options configure a gateway.
type Options struct {
	Config  *config.Config
	Origins config.Origins // of its values
	Logger  *slog.Logger
	Version string // of the program
	// Preload is set for a gateway that runs for long: it starts the model and loads
	// knowledge bases before the first request.
	Preload bool
	Demo    fs.FS // documents of the demo; nil: docs.Demo
	// Grace is the time that Elasticsearch keeps replaced indices; 0: as long as other gateways may need them.
	Grace time.Duration
}

// defaultEngine is the name of the engine of new knowledge bases, if the settings name one.
func (o *Options) defaultEngine() string {
	switch {
	case o.Config.DefaultEngine != "":
		return o.Config.DefaultEngine
	case len(o.Config.Elasticsearch.URL) > 0:
		return elastic.Name
	case o.Config.Postgres.URL != "":
		return postgres.Name
	default:
		return ""
	}
}

// demoTenant is the tenant of the first key.
func (o *Options) demoTenant() string {
	if len(o.Config.Keys) > 0 {
		return o.Config.Keys[0].Tenant
	}
	return endpoint.DefaultTenant
}
