package gateway

import (
	"context"
	"log/slog"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/hybridge-search/hybridge/access"
)

// Health says that the process is alive.
type Health struct {
	Status  string `json:"status" enum:"ok"`
	Version string `json:"version,omitempty"`
}

// Readiness says which back ends are available.
type Readiness struct {
	Status   string            `json:"status" enum:"ready,unready,stopping"`
	BackEnds map[string]string `json:"back_ends" doc:"ok or unavailable, by the name of the back end; the log says why."`
}

func (s *Server) healthRoutes() {
	register(s, route{
		method: http.MethodGet, path: "/healthz", tag: "operation",
		id: "health", summary: "Whether the process answers",
	}, func(context.Context, access.Scope, *struct{}) (*Health, error) {
		return &Health{Status: "ok", Version: s.options.Version}, nil
	})
	r := route{
		method: http.MethodGet, path: "/readyz", tag: "operation", status: http.StatusOK,
		id: "readiness", summary: "Whether searches can be served, per back end",
		about: "Answers 503 with the same body while a back end is away or the gateway is stopping.",
	}
	s.documentReadiness(&r)
	s.mount(&r, s.readiness)
}

// readiness tells the reasons only to the log, because they name hosts.
func (s *Server) readiness(ctx context.Context, _ access.Scope, c *fiber.Ctx) error {
	answer := Readiness{Status: "ready", BackEnds: map[string]string{}}
	for name, err := range s.options.Readiness(ctx) {
		answer.BackEnds[name] = "ok"
		if err != nil {
			answer.BackEnds[name], answer.Status = "unavailable", "unready"
			annotate(ctx, slog.String(name, err.Error()))
		}
	}
	if s.draining.Load() {
		answer.Status = "stopping"
	}
	status := http.StatusOK
	if answer.Status != "ready" {
		status = http.StatusServiceUnavailable
	}
	return writeJSON(c, status, answer)
}

func (s *Server) documentReadiness(r *route) {
	in := s.inputOf(reflect.TypeFor[struct{}]())
	op := s.operation(r, in)
	content := map[string]*huma.MediaType{"application/json": {Schema: s.schemaOf(reflect.TypeFor[Readiness]())}}
	op.Responses["200"] = &huma.Response{Description: "Ready", Content: content}
	op.Responses["503"] = &huma.Response{Description: "Not ready", Content: content}
	s.openapi.AddOperation(op)
}
