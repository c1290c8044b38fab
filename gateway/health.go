package gateway

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"reflect"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
)

// Health says that the process is alive.
type Health struct {
	Status  string `json:"status" enum:"ok"`
	Version string `json:"version,omitempty"`
}

// Spare is the error of a back end that keyword search does without.
type Spare struct{ Err error }

// Error implements error.
func (s Spare) Error() string { return s.Err.Error() }

// Unwrap gives the reason.
func (s Spare) Unwrap() error { return s.Err }

// Readiness says which back ends are available.
type Readiness struct {
	Status   string            `json:"status" enum:"ready,unready,stopping" doc:"ready as soon as keyword search serves."`
	BackEnds map[string]string `json:"back_ends" doc:"ok or unavailable, by the name of the back end; the log says why."`

	Warnings []Warning `json:"warnings,omitempty" doc:"What is wrong although the gateway goes on."`
}

// Warning is a problem that does not stop the gateway.
type Warning struct {
	Code   string `json:"code" enum:"damaged_chunks,lost_writes,disk_full" doc:"What is wrong, stable."`
	Detail string `json:"detail" locale:"text"`
}

// healthService tells whether the gateway serves.
type healthService struct {
	api      *endpoint.API
	version  string
	ask      func(ctx context.Context) map[string]error // for the state of every back end
	troubles func() []engine.Trouble                    // nil: nothing ever is wrong
	ready    lookedAt
}

func (s *healthService) register() {
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodGet, Path: "/healthz", Tag: "operation", ID: "health", Summary: "Whether the process answers",
		About: "200 as long as the process answers, whatever its back ends do. Needs no key.",
	}, func(ctx context.Context, _ access.Scope, _ *struct{}) (*Health, error) {
		return &Health{Status: "ok", Version: versionFor(ctx, s.version)}, nil
	})
	r := endpoint.Route{
		Method: http.MethodGet, Path: "/readyz", Tag: "operation", Status: http.StatusOK,
		ID: "readiness", Summary: "Whether keyword search serves, and which back ends are there",
		About: "Answers 503 with the same body while keyword search cannot serve or the gateway is stopping. Where keys " +
			"are configured, who shows none is told the status alone.",
	}
	s.documentReadiness(&r)
	s.api.Mount(&r, s.readiness)
}

// readiness tells the reasons only to the log, because they name hosts.
func (s *healthService) readiness(ctx context.Context, _ access.Scope, c *fiber.Ctx) error {
	answer := Readiness{Status: "ready", BackEnds: map[string]string{}}
	for name, err := range s.backEnds() {
		answer.BackEnds[name] = "ok"
		if err != nil {
			answer.BackEnds[name] = "unavailable"
			if _, spare := errors.AsType[Spare](err); !spare {
				answer.Status = "unready"
			}
			endpoint.Annotate(ctx, slog.String(name, err.Error()))
		}
	}
	if endpoint.IsStranger(ctx) {
		clear(answer.BackEnds)
	} else {
		answer.Warnings = s.warningsOfEngines()
	}
	if s.api.Draining.Load() {
		answer.Status = "stopping"
	}
	status := http.StatusOK
	if answer.Status != "ready" {
		status = http.StatusServiceUnavailable
	}
	return endpoint.WriteJSON(c, status, answer)
}

func (s *healthService) warningsOfEngines() (all []Warning) {
	if s.troubles == nil {
		return nil
	}
	for _, t := range s.troubles() {
		all = append(all, Warning{Code: t.Code, Detail: t.Text})
	}
	return all
}

// lookedAt is the last known state of the back ends.
type lookedAt struct {
	mu     sync.Mutex
	when   time.Time
	states map[string]error
}

// readinessLife is how long the state of the back ends is cached.
const readinessLife = time.Second

// backEnds asks the back ends once for all who ask meanwhile: anybody may, and each time costs
// requests. The request is bound to no caller, so one who disconnects spoils it for none.
func (s *healthService) backEnds() map[string]error {
	s.ready.mu.Lock()
	defer s.ready.mu.Unlock()
	if time.Since(s.ready.when) >= readinessLife {
		ctx, cancel := context.WithTimeout(s.api.Base, s.api.Limits.Request)
		defer cancel()
		s.ready.states = s.ask(ctx)
		s.ready.when = time.Now()
	}
	return s.ready.states
}

// versionFor is the version, but for strangers.
func versionFor(ctx context.Context, version string) string {
	if endpoint.IsStranger(ctx) {
		return ""
	}
	return version
}

func (s *healthService) documentReadiness(r *endpoint.Route) {
	in := s.api.Document.InputOf(reflect.TypeFor[struct{}]())
	op := s.api.Document.Operation(r, in)
	schema := s.api.Document.SchemaOf(reflect.TypeFor[Readiness]())
	content := map[string]*huma.MediaType{"application/json": {Schema: schema}}
	op.Responses["200"] = &huma.Response{Description: "Ready", Content: content}
	op.Responses["503"] = &huma.Response{Description: "Not ready", Content: content}
	s.api.Document.AddOperation(op)
}
