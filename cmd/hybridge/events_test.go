package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/events"
	"github.com/hybridge-search/hybridge/experiments/live"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/search"
)

const eventsEndpoint = "/v1/events"

// someEvents is a body with events on searches that the gateway does not know.
func someEvents(t *testing.T, writer string, number, n int) string {
	t.Helper()
	batch := make([]events.Event, n)
	for i := range batch {
		batch[i] = events.Event{
			Timestamp: time.Now(), EventID: fmt.Sprint(number, "-", i), QueryID: search.NewQueryID(), ClientID: writer,
			ActionName: events.ActionClick,
		}
	}
	body, err := json.Marshal(map[string]any{"events": batch})
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// eventWriter sends batches until nobody answers.
type eventWriter struct {
	name         string
	acknowledged []string
	unknown      string // what was sent last, and not answered
}

func (w *eventWriter) write(t *testing.T, p *process) {
	for number := 0; ; number++ {
		w.unknown = someEvents(t, w.name, number, eventsAtOnce)
		answer, err := p.http.Post(p.url+"/v1/events", cli.AsJSON, strings.NewReader(w.unknown))
		if err != nil {
			return
		}
		status := answer.StatusCode
		if err := answer.Body.Close(); err != nil || status != http.StatusAccepted {
			t.Errorf("%s: status %d, %v; want no error and status StatusAccepted", w.name, status, err)
			return
		}
		w.acknowledged = append(w.acknowledged, w.unknown)
	}
}

const eventsAtOnce = 20

// TestEventsOfAKilledGateway: whatever it acknowledged is there when it runs again, and what is then sent once more is
// counted once.
func TestEventsOfAKilledGateway(t *testing.T) {
	t.Parallel()
	name, folder := copied(t), t.TempDir()
	settings := []string{"HYBRIDGE_LOG_LEVEL=warn", "HYBRIDGE_EVENTS_ENABLED=true"}
	p := serve(t, name, folder, settings...)
	writers := []*eventWriter{{name: "anna"}, {name: "ben"}}
	var group sync.WaitGroup
	for _, w := range writers {
		group.Go(func() { w.write(t, p) })
	}
	time.Sleep(1500 * time.Millisecond) // events are moved from the spool each second
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	group.Wait()

	p = serve(t, name, folder, settings...)
	acknowledged := 0
	for _, w := range writers {
		acknowledged += len(w.acknowledged) * eventsAtOnce
	}
	logged := func() int {
		var report events.Analytics
		p.must(http.MethodGet, "/v1/events/analytics", nil, &report)
		return report.Totals.Orphans
	}
	if n := logged(); n < acknowledged || n > acknowledged+len(writers)*eventsAtOnce || acknowledged == 0 {
		t.Errorf("%d events were acknowledged, and %d are there", acknowledged, n)
	}
	for _, w := range writers {
		for _, body := range append(w.acknowledged[max(0, len(w.acknowledged)-20):], w.unknown) {
			p.must(http.MethodPost, "/v1/events", body, nil)
		}
	}
	if n, want := logged(), acknowledged+len(writers)*eventsAtOnce; n != want {
		t.Errorf("%d events are there after they were sent again, want %d", n, want)
	}
	var deleted events.Deleted
	p.must(http.MethodDelete, "/v1/events?client_id=anna", nil, &deleted)
	if want := (len(writers[0].acknowledged) + 1) * eventsAtOnce; deleted.Events != want || deleted.Queries != 0 {
		t.Errorf("deleted %+v, want %d events", deleted, want)
	}
	if n, want := logged(), (len(writers[1].acknowledged)+1)*eventsAtOnce; n != want {
		t.Errorf("%d events are left, want %d", n, want)
	}
}

// logSearches logs searches of a text, each with a click on the hit of a rank.
func (r *running) logSearches(n int, text string, rank int) {
	r.t.Helper()
	batch := []events.Event{}
	for range n {
		id := search.NewQueryID()
		r.app.NoteSearch(access.Scope{Tenant: endpoint.DefaultTenant}, &live.Searched{
			Request: &search.Request{Query: text, KnowledgeBases: []string{"shop"}, ClientID: "anna", SessionID: text},
			Response: &search.Response{QueryID: id, Hits: []search.Hit{
				{ID: "hours#0", KnowledgeBase: "shop"}, {ID: "refunds#0", KnowledgeBase: "shop"},
			}},
			Started: time.Now(), Took: time.Millisecond,
		})
		batch = append(batch, events.Event{
			Timestamp: time.Now(), EventID: "e", QueryID: id, ClientID: "anna", ActionName: events.ActionClick,
			Attributes: events.EventAttributes{Position: &events.Position{Ordinal: rank}},
		})
	}
	r.must(http.MethodPost, eventsEndpoint, map[string]any{"events": batch}, nil)
}

// What users did becomes a report, and judgments that presets are measured by.
func TestEventsCommands(t *testing.T) {
	t.Parallel()
	settings := settingsIn(t.TempDir())
	settings.Events.Enabled = true
	r := run(t, settings)
	r.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "shop", "dimensions": 0}, nil)
	r.must(http.MethodPost, cli.BasePath("shop")+"/documents?refresh=true", shopTexts, nil)
	r.logSearches(12, "how long takes a refund", 2)
	r.logSearches(3, "when opens the shop", 1)
	c := command{t: t, folder: t.TempDir(), environ: []string{"HYBRIDGE_SERVER=" + r.url}}

	c.want(cli.ExitOK, "", "events analytics", "how long takes a refund", "when opens the shop", "click-through", "1.000")
	c.want(cli.ExitOK, "", "events analytics --kb other --json", `"searches": 0`)
	c.want(cli.ExitUsage, "", "events analytics --from tomorrow", "tomorrow", "2026-11-28")
	c.want(cli.ExitUsage, "", "events judgments --query-set users --judgments clicks", "--kb")
	judge := "events judgments --query-set users --judgments clicks --kb shop"
	c.want(cli.ExitUsage, "", judge+" --days 0", "--days")
	c.want(cli.ExitUsage, "", judge+" --thresholds 0.5,0.2", "thresholds[1]")
	c.want(cli.ExitOK, "", judge, "2 judgments of 1 query", "Chapelle", "1 hits were read fewer")
	c.want(cli.ExitOK, "", "judgments export clicks", `"chunk_id":"refunds#0"`, `"grade":3`, `"judge":"clicks"`)
	c.want(cli.ExitOK, "", "evaluations run --query-set users --judgments clicks --presets text --metrics mrr@10", "text")

	c.want(cli.ExitUsage, "", "events delete", "--client")
	c.want(cli.ExitUsage, "", "events delete --client anna", "--yes")
	c.want(cli.ExitOK, "", "events delete --client anna --yes", "deleted: 15 searches, 15 events")
	c.want(cli.ExitOK, "", "events delete --client anna --yes --json", `"queries": 0`)
}

// A gateway whose log is off says how it is turned on.
func TestEventsThatAreOff(t *testing.T) {
	t.Parallel()
	r := run(t, settingsIn(t.TempDir()))
	c := command{t: t, folder: t.TempDir(), environ: []string{"HYBRIDGE_SERVER=" + r.url}}
	c.want(cli.ExitUsage, "", "events analytics", "events.enabled")
	if status, answer := r.ask(http.MethodPost, eventsEndpoint, someEvents(t, "anna", 1, 1)); status != http.StatusBadRequest ||
		!strings.Contains(string(answer), "unsupported") {
		t.Errorf(`%d %s; want status StatusBadRequest and "unsupported" in it`, status, brief.Of(answer))
	}
}
