package searches

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/search"
)

// noteDegraded counts the failed parts of an answer, and logs a warning: for each reason
// once a second, however many answers have it.
func (s *Searches) noteDegraded(ctx context.Context, degraded []search.Degraded) {
	for i := range degraded {
		d := &degraded[i]
		s.metrics.degraded.WithLabelValues(s.metrics.legNames.Of(d.Leg)).Inc()
		unsaid, say := s.warnings.of(d.Reason, time.Now())
		if !say {
			continue
		}
		attrs := []slog.Attr{
			slog.String("leg", d.Leg), slog.String("knowledge_base", d.KnowledgeBase),
			slog.String("code", string(d.Code)), slog.String("reason", d.Reason),
		}
		if unsaid > 0 {
			attrs = append(attrs, slog.Int("more_since_the_last_line", unsaid))
		}
		if x := endpoint.ExchangeIn(ctx); x != nil {
			attrs = append(attrs, slog.String("request_id", x.ID))
		}
		s.api.Log.LogAttrs(ctx, slog.LevelWarn, "an answer is degraded", attrs...)
	}
}

const (
	warnEvery   = time.Second
	maxWarnings = 1000 // reasons that are remembered
)

// warnings remembers of which reasons there was a line lately. Its zero value is ready.
type warnings struct {
	mu   sync.Mutex
	last map[string]*warning
}

// warning is a reason's last line, and how often it was not said since.
type warning struct {
	at     time.Time
	unsaid int
}

// of reports whether a reason is to be said, and how often it was not since it was last.
func (w *warnings) of(reason string, now time.Time) (unsaid int, say bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	known := w.last[reason]
	switch {
	case known != nil && now.Sub(known.at) < warnEvery:
		known.unsaid++
		return 0, false
	case known == nil && len(w.last) >= maxWarnings && !w.forget(now):
		return 0, false // a thousand lines were written in this second
	case known != nil:
		unsaid = known.unsaid
	}
	if w.last == nil {
		w.last = map[string]*warning{}
	}
	w.last[reason] = &warning{at: now}
	return unsaid, true
}

// forget drops the reasons whose second is over; false when there is none.
func (w *warnings) forget(now time.Time) bool {
	before := len(w.last)
	for reason, known := range w.last {
		if now.Sub(known.at) >= warnEvery {
			delete(w.last, reason)
		}
	}
	return len(w.last) < before
}
