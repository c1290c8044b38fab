package gateway

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	local "github.com/hybridge-search/hybridge/engine/embedded"
	"github.com/hybridge-search/hybridge/engine/enginetest"
	"github.com/hybridge-search/hybridge/evaluation/clicks"
	"github.com/hybridge-search/hybridge/events"
	"github.com/hybridge-search/hybridge/gateway/quality"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/search"
)

// event is one of now, as JSON, with other members beside.
func event(id, more string) string {
	return `{"timestamp":"` + time.Now().UTC().Format(time.RFC3339) + `","event_id":"` + id + `","query_id":"` +
		search.NewQueryID() + `","action_name":"click","event_attributes":{}` + more + `}`
}

// logging is a gateway whose log of events is real.
func logging(t *testing.T) *gatewayUnderTest {
	t.Helper()
	e, err := local.Open(t.Context(), local.Options{
		Path: t.TempDir(), Tokenizer: enginetest.Words{}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, e) })
	l, err := events.Open(t.Context(), events.Options{Folder: t.TempDir(), Keeper: e})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, l) })
	return start(t, Options{Services: quality.Services{Events: l, Clicks: clicks.New(l, nil)}})
}

func TestEventsOfAPage(t *testing.T) {
	g, today := logging(t), time.Now().UTC().Format(time.DateOnly) // which may end before the test does
	post := func(body string) reply { return g.ask("POST", "/v1/events", body, "Content-Type: application/json") }
	f := func(body string, status int, part string) {
		t.Helper()
		if got := post(body); got.status != status || !strings.Contains(got.body, part) {
			t.Errorf("%.100s: %d %s, want %d with %s", body, got.status, brief.Of(got.body), status, part)
		}
	}
	f(`{"events":[`+event("a", `,"client_id":"c1"`)+`,`+event("b", "")+`]}`, http.StatusAccepted, `{"accepted":2}`)
	f(`{"events":[`+event("c", "")+`,`+strings.Replace(event("d", ""), `"timestamp":"2`, `"timestamp":"3`, 1)+`]}`,
		http.StatusBadRequest, `"field":"events[1].timestamp"`)
	f(`{"events":[`+strings.Replace(event("d", ""), `"timestamp":"2`, `"timestamp":"on 2`, 1)+`]}`,
		http.StatusBadRequest, `it must be a time as 2026-11-28T12:00:00Z`)
	f(`{"events":[`+event("d", `,"colour":"red"`)+`]}`, http.StatusBadRequest, `events[0].colour`)
	f(`{"events":[]}`, http.StatusBadRequest, `"field":"events"`)
	f(`{"events":[`+strings.Repeat(event("e", "")+",", 20_000)+event("e", "")+`]}`,
		http.StatusRequestEntityTooLarge, "too_large")
	got := g.ask("GET", "/v1/events/analytics?from="+today, "")
	if got.status != http.StatusOK || !strings.Contains(got.body, `"orphans":2`) {
		t.Errorf("%d %s; want got.status StatusOK and `\"orphans\":2` in it", got.status, brief.Of(got.body))
	}
	for path, field := range map[string]string{"?from=yesterday": "from", "?to=2026-13-01": "to", "?limit=0": "limit"} {
		if got := g.ask("GET", "/v1/events/analytics"+path, ""); got.problem(t).Field != field {
			t.Errorf("%s: %s", path, brief.Of(got.body))
		}
	}
	if got := g.ask("DELETE", "/v1/events", ""); got.problem(t).Field != "client_id" {
		t.Errorf("without a client: %s", brief.Of(got.body))
	}
	if got := g.ask("DELETE", "/v1/events?client_id=c1", ""); got.body != `{"queries":0,"events":1}`+"\n" {
		t.Errorf("%d %s; want got.body `{\"queries\":0,\"events\":1}` + \"\\n\"", got.status, brief.Of(got.body))
	}
}

func TestEventsThatAreOff(t *testing.T) {
	g := start(t, Options{}, func(_ *fakes, options *Options) { options.Events, options.Clicks = nil, nil })
	for _, path := range []string{"/v1/events", "/v1/events/judgments"} {
		got := g.ask("POST", path, "{}", asJSON)
		if p := got.problem(t); p.Code != "unsupported" || !strings.Contains(p.Detail, "events.enabled") {
			t.Errorf("%s: %+v; want p.Code unsupported and events.enabled in p.Detail", path, p)
		}
	}
}
