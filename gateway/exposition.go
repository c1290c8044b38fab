package gateway

import (
	"context"
	"net/http"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
)

// registerMetrics adds the metrics. They need a key, if keys are configured, because they are
// of all tenants.
func registerMetrics(api *endpoint.API, registry *prometheus.Registry) {
	r := endpoint.Route{
		Method: http.MethodGet, Path: endpoint.MetricsPath, Tag: "operation", Access: endpoint.Reads, Role: keys.Operate,
		ID: "metrics", Summary: "Metrics in Prometheus' text format",
		About: "Requests, legs, engines, caches, jobs and the process, for a scraper. /guide/ has the " +
			"dashboard and the alerts.",
	}
	api.Document.AddOperation(api.Document.RawOperation(&r, "text/plain"))
	expose := adaptor.HTTPHandler(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	api.Mount(&r, func(_ context.Context, _ access.Scope, c *fiber.Ctx) error { return expose(c) })
}
