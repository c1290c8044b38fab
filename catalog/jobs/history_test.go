package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/embedded"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/brief"
)

func keeper(t *testing.T) engine.RecordKeeper {
	t.Helper()
	e, err := embedded.Open(t.Context(), embedded.Options{Path: t.TempDir(), Tokenizer: words{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func openOn(k engine.RecordKeeper) *Manager {
	return Open(Options{Keeper: k, Logger: slog.New(slog.DiscardHandler)})
}

type words struct{}

func (words) Terms(text string) []string { return strings.Fields(text) }
func (words) Fold(text string) string    { return text }
func (words) Fingerprint() string        { return "words" }

// summary is what of a job counts here.
func summary(j *Job) string {
	s := fmt.Sprint(j.ID, " ", j.State)
	for _, e := range j.Errors {
		s += fmt.Sprint(" ", e.Code, ": ", e.Detail)
	}
	return s
}

func want(t *testing.T, m *Manager, tenant string, jobs ...string) {
	t.Helper()
	var got []string
	for _, job := range m.All(t.Context(), tenant) {
		got = append(got, summary(&job))
	}
	if strings.Join(got, "\n") != strings.Join(jobs, "\n") {
		t.Errorf("tenant %s has\n%s\nwant\n%s", tenant, strings.Join(got, "\n"), strings.Join(jobs, "\n"))
	}
}

func TestJobsAreThereAfterARestart(t *testing.T) {
	k := keeper(t)
	m := openOn(k)
	start := func(job Job, work Work) {
		t.Helper()
		job.Kind, job.Tenant = "test", "t"
		if _, err := m.Start(job, work); err != nil {
			t.Fatal(err)
		}
	}
	untilEnd := func(ctx context.Context, _ func(Progress)) error { <-ctx.Done(); return ctx.Err() }
	start(Job{ID: "good", KnowledgeBase: "kb"}, func(_ context.Context, report func(Progress)) error {
		report(Progress{Step: "write", Done: 3, Total: 3})
		return nil
	})
	await(t, m, "good")
	start(Job{ID: "bad"}, func(context.Context, func(Progress)) error {
		return errors.Join(fault.New(fault.TooLarge, "one"), errors.New("secret"))
	})
	await(t, m, "bad")
	start(Job{ID: "left"}, untilEnd)
	start(Job{ID: "mapping", Continues: true}, untilEnd)
	if _, err := m.Start(Job{Tenant: "u", ID: "other"}, func(context.Context, func(Progress)) error { return nil }); err != nil {
		t.Fatal(err)
	}
	bad := "bad failed too_large: one internal: the gateway failed; its log says why"
	want(t, m, "t", "mapping running", "left running", bad, "good succeeded")
	m.Close()

	m = openOn(k)
	defer func() { m.Close() }()
	ended := "left failed canceled: the gateway ended before the job did"
	want(t, m, "t", "mapping running", ended, bad, "good succeeded") // the mapping may go on for a minute
	want(t, m, "u", "other succeeded")
	want(t, m, "nobody")
	good, err := m.Find(t.Context(), "t", "good")
	if err != nil || good.KnowledgeBase != "kb" || good.Progress.Done != 3 || good.Tenant != "t" || good.FinishedAt.IsZero() {
		t.Errorf("found %+v, %v", good, err)
	}
	shown := 0
	if err := m.Watch(t.Context(), "t", "bad", func(j Job) error { shown++; return nil }); err != nil || shown != 1 {
		t.Errorf("watching what has ended showed it %d times, %v; want no error and shown 1", shown, err)
	}
	for _, id := range []string{"goo", "other", "", strings.Repeat("x", 600), "a\nb"} {
		if _, err := m.Find(t.Context(), "t", id); !fault.Is(err, fault.NotFound) {
			t.Errorf("finding %q: %v; want an error of kind NotFound", id, err)
		}
	}
	start(Job{ID: "mapping", Continues: true}, func(context.Context, func(Progress)) error { return nil })
	await(t, m, "mapping")
	want(t, m, "t", "mapping succeeded", ended, bad, "good succeeded")
}

func TestWhatAGatewayLeftBehind(t *testing.T) {
	k := keeper(t)
	put := func(id string, seen time.Duration, change func(*kept)) engine.RecordItem {
		at := time.Now().UTC().Add(-seen)
		job := kept{Job: Job{ID: id, State: Running, StartedAt: at, UpdatedAt: at, Errors: []JobError{}}, Gateway: "g", Seen: at}
		if change != nil {
			change(&job)
		}
		body, err := json.Marshal(&job)
		if err != nil {
			t.Fatal(err)
		}
		return engine.RecordItem{Key: id, Body: body}
	}
	done := func(k *kept) { k.State = Succeeded }
	items := []engine.RecordItem{
		put("alive", time.Second, nil), put("killed", time.Hour, nil),
		put("mapping", time.Hour, func(k *kept) { k.Continues = true }), put("old", 91*24*time.Hour, done),
	}
	for i := range maxJobs + 5 {
		items = append(items, put(fmt.Sprintf("many-%04d", i), 2*time.Hour+time.Duration(i)*time.Minute, done))
	}
	ref := refOf("t")
	if _, err := k.SaveRecords(t.Context(), engine.Records{RecordRef: ref, Head: json.RawMessage("{}")}); err != nil {
		t.Fatal(err)
	}
	if err := engine.PutAllItems(t.Context(), k, ref, items); err != nil {
		t.Fatal(err)
	}
	m := openOn(k)
	all := m.All(t.Context(), "t")
	if len(all) != maxJobs || summary(&all[0]) != "alive running" ||
		summary(&all[1]) != "killed failed canceled: the gateway ended before the job did" || all[2].ID != "many-0000" {
		t.Errorf("%d jobs, first %s, %s, %s", len(all), summary(&all[0]), summary(&all[1]), all[2].ID)
	}
	for _, id := range []string{"mapping", "old"} {
		if _, err := m.Find(t.Context(), "t", id); !fault.Is(err, fault.NotFound) {
			t.Errorf("finding %s: %v; want an error of kind NotFound", id, err)
		}
	}
	if _, err := m.Start(Job{ID: "new", Tenant: "t"}, func(context.Context, func(Progress)) error { return nil }); err != nil {
		t.Fatal(err)
	}
	alone := Open(Options{Keeper: k, Alone: true, Logger: slog.New(slog.DiscardHandler)})
	defer alone.Close()
	if got, err := alone.Find(t.Context(), "t", "alive"); err != nil || got.State != Failed {
		t.Errorf("a gateway that is alone sees %+v, %v; want no error and got.State Failed", got, err)
	}
	m.Close() // which stores it, and forgets what is too much
	if n, err := k.CountItems(t.Context(), ref); n != maxJobs || err != nil {
		t.Errorf("%d are kept, %v; want n maxJobs and no error", n, err)
	}
}

// away is a keeper that cannot be reached at first.
type away struct {
	engine.RecordKeeper
	failed chan struct{} // has room for one
}

func (a *away) PutItems(ctx context.Context, ref engine.RecordRef, items []engine.RecordItem) error {
	select {
	case a.failed <- struct{}{}:
		return fault.New(fault.Unavailable, "away")
	default:
		return a.RecordKeeper.PutItems(ctx, ref, items)
	}
}

func TestStoringFailsNoJob(t *testing.T) {
	k := &away{RecordKeeper: keeper(t), failed: make(chan struct{}, 1)}
	var log strings.Builder
	m := Open(Options{Keeper: k, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if _, err := m.Start(Job{ID: "a", Tenant: "t"}, func(context.Context, func(Progress)) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if got := await(t, m, "a"); got.State != Succeeded {
		t.Errorf("it ended as %+v; want got.State Succeeded", got)
	}
	for len(k.failed) == 0 {
		time.Sleep(time.Millisecond)
	}
	m.Close() // tries again
	if !strings.Contains(log.String(), "away") {
		t.Errorf(`the log has %q; want "away" in it`, brief.Of(log.String()))
	}
	m = openOn(k)
	defer m.Close()
	if _, err := m.Find(t.Context(), "t", "a"); err != nil {
		t.Error(err)
	}
}
