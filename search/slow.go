package search

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/tracing"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/present"
)

// SlowLog logs slow searches, with their plans but without their questions.
type SlowLog struct {
	Logger *slog.Logger // nil: nothing is logged
	// After is the time from which a search is slow; 0: any time.
	After time.Duration
	// Queries adds the text of the question.
	Queries bool
	// About adds the caller's attributes of a search from its context, such as the id of the request; may be nil.
	About func(context.Context) []slog.Attr
}

// note logs a finished search, if it was slow. A failed one has no response.
func (l *SlowLog) note(ctx context.Context, r *run, response *answer.Response, took time.Duration, err error) {
	if l.Logger == nil || l.After <= 0 || took < l.After {
		return
	}
	bases := make([]string, len(r.Subjects))
	for i := range r.Subjects {
		bases[i] = r.Subjects[i].KB.ID
	}
	attrs := []slog.Attr{
		slog.Float64("took_ms", answer.Milliseconds(took)),
		slog.String("tenant", r.Subjects[0].KB.Tenant), slog.Any("knowledge_bases", bases),
		slog.String("preset", r.Plan.Preset), slog.String("engine", present.EngineNames(r.Subjects)),
		slog.Any("timings_ms", asJSON{r.timings}), slog.Any("plan", asJSON{r.Plan}),
	}
	if response != nil {
		attrs = append(attrs, slog.String("query_id", response.QueryID), slog.Int("hits", len(response.Hits)),
			slog.Int("degraded", len(response.Degraded)))
	}
	if err != nil {
		attrs = append(attrs, slog.String("code", string(fault.KindOf(err))))
	}
	if id := tracing.TraceIDOf(ctx); id != "" {
		attrs = append(attrs, slog.String("trace_id", id))
	}
	if l.About != nil {
		attrs = append(attrs, l.About(ctx)...)
	}
	if l.Queries {
		attrs = append(attrs, slog.String("query", r.Request.Query))
	}
	l.Logger.LogAttrs(ctx, slog.LevelWarn, "a search was slow", attrs...)
}

// asJSON is a value that logs of every format show as JSON.
type asJSON struct{ value any }

// MarshalJSON implements json.Marshaler.
func (v asJSON) MarshalJSON() ([]byte, error) { return json.Marshal(v.value) }

// MarshalText implements encoding.TextMarshaler.
func (v asJSON) MarshalText() ([]byte, error) { return json.Marshal(v.value) }
