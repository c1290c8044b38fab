package events_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic"
	"github.com/hybridge-search/hybridge/engine/embedded"
	"github.com/hybridge-search/hybridge/engine/enginetest"
	"github.com/hybridge-search/hybridge/engine/postgres"
	"github.com/hybridge-search/hybridge/events"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/devservices"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const tenant = "acme"

// noon is the time of tests, on a day that is over soon enough.
var noon = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

// keeper opens the embedded engine of a folder.
func keeper(t testing.TB, folder string) *embedded.Engine {
	t.Helper()
	e, err := embedded.Open(t.Context(), embedded.Options{
		Path: folder, Tokenizer: enginetest.Words{}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closed(t, e) })
	return e
}

func closed(t testing.TB, what interface{ Close() error }) {
	t.Helper()
	if err := what.Close(); err != nil {
		t.Error(err)
	}
}

// keepers are the engines that keep records.
var keepers = map[string]func(t testing.TB) engine.RecordKeeper{
	"embedded": func(t testing.TB) engine.RecordKeeper { return keeper(t, t.TempDir()) },
	"postgres": func(t testing.TB) engine.RecordKeeper {
		e, err := postgres.Open(t.Context(), postgres.Options{
			Settings: postgres.Settings{Timeout: time.Minute},
			URL:      devservices.NewDatabase(t).URL, Tokenizer: enginetest.Words{},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { closed(t, e) })
		return e
	},
	"elasticsearch": func(t testing.TB) engine.RecordKeeper {
		server, prefix := devservices.Indices(t)
		e, err := elastic.New(elastic.Options{
			Settings: elastic.Settings{IndexPrefix: prefix, Timeout: time.Minute},
			URLs:     []string{server}, Tokenizer: enginetest.Words{},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { closed(t, e) })
		return e
	},
}

// open opens a log on the embedded engine whose clock stands at noon.
func open(t testing.TB, change ...func(*events.Options)) *events.Log {
	t.Helper()
	o := events.Options{Folder: t.TempDir()}
	for _, c := range change {
		c(&o)
	}
	if o.Keeper == nil {
		o.Keeper = keeper(t, t.TempDir())
	}
	l, err := events.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closed(t, l) })
	l.SetNow(noon)
	return l
}

// asked is a search some time before noon.
func asked(text string, ago time.Duration, hits ...string) *events.Query {
	at := noon.Add(-ago)
	return &events.Query{
		Timestamp: at, QueryID: events.IDAt(at, uint64(len(text))), ClientID: "c1", UserQuery: text, HitIDs: append([]string{}, hits...),
		Attributes: events.QueryAttributes{KnowledgeBases: []string{"shop"}, TookMS: 4},
	}
}

// did is an event on a search, a second after it.
func did(q *events.Query, action, id string) events.Event {
	return events.Event{
		Timestamp: q.Timestamp.Add(time.Second), EventID: id, QueryID: q.QueryID, ClientID: q.ClientID, ActionName: action,
	}
}

// clicked is a click on the hit of a rank.
func clicked(q *events.Query, rank int) events.Event {
	e := did(q, events.ActionClick, fmt.Sprint("click", rank))
	e.Attributes.Object = &events.Object{ObjectID: q.HitIDs[rank-1]}
	e.Attributes.Position = &events.Position{Ordinal: rank}
	return e
}

func accept(t testing.TB, l *events.Log, tenant string, all ...events.Event) {
	t.Helper()
	if _, err := l.Accept(t.Context(), tenant, all); err != nil {
		t.Fatal(err)
	}
}

// entries reads all of some days before noon, as lines: text or id of the search, then its events.
func entries(t testing.TB, l *events.Log, tenant string, days int) (lines []string) {
	t.Helper()
	for e, err := range l.Read(t.Context(), tenant, noon.AddDate(0, 0, -days), noon.Add(time.Hour)) {
		if err != nil {
			t.Fatal(err)
		}
		line := "orphans"
		if e.Query != nil {
			line = e.Query.UserQuery
		}
		for i := range e.Events {
			line += " " + e.Events[i].EventID
		}
		lines = append(lines, line)
	}
	return lines
}

func want(t testing.TB, got []string, lines ...string) {
	t.Helper()
	if diff := cmp.Diff(lines, got); diff != "" {
		t.Error(diff)
	}
}

func refused(t testing.TB, err error, kind fault.Kind, field string) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != kind || f.Field != field {
		t.Errorf("%v, want %s of %q", err, kind, field)
	}
}

// TestALogOnEveryEngine: searches and events come together by the id of the search, in the order of time and across
// days; what comes again is there once; tenants have nothing in common.
func TestALogOnEveryEngine(t *testing.T) {
	for name, keeper := range keepers {
		t.Run(name, func(t *testing.T) {
			l := open(t, func(o *events.Options) { o.Keeper = keeper(t) })
			tea, milk, old := asked("tea", time.Minute, "shop/a", "shop/b"), asked("milk", time.Hour), asked("old", 40*time.Hour)
			l.Record(tenant, tea)
			batch := []events.Event{clicked(tea, 2), did(tea, events.ActionImpression, "seen"), clicked(tea, 2)}
			for range 3 { // replayed
				if got, err := l.Accept(t.Context(), tenant, batch); err != nil || got.Accepted != 2 {
					t.Errorf("%+v, %v; want no error and got.Accepted 2", got, err)
				}
			}
			want(t, entries(t, l, tenant, 30), "tea click2 seen")
			l.Record(tenant, milk)
			l.Record(tenant, old)
			late := did(old, events.ActionConversion, "bought") // today, on a search of the day before yesterday
			late.Timestamp = noon
			foreign := did(tea, "scroll", "s1")
			foreign.QueryID = "of another engine"
			accept(t, l, tenant, append(batch, late, foreign)...)
			accept(t, l, "rival", clicked(tea, 1))
			want(t, entries(t, l, tenant, 30), "old bought", "milk", "tea click2 seen", "orphans s1")
			want(t, entries(t, l, tenant, 1), "milk", "tea click2 seen", "orphans s1")
			want(t, entries(t, l, "rival", 1), "orphans click1")
		})
	}
}

func TestBadBatches(t *testing.T) {
	l := open(t)
	good := clicked(asked("tea", time.Minute, "shop/a"), 1)
	f := func(field string, kind fault.Kind, change func(*events.Event)) {
		t.Helper()
		bad := good
		bad.EventID = "other"
		change(&bad)
		_, err := l.Accept(t.Context(), tenant, []events.Event{good, bad})
		refused(t, err, kind, field)
	}
	long := strings.Repeat("x", 5000)
	invalid := fault.InvalidArgument
	f("events[1].timestamp", invalid, func(e *events.Event) { e.Timestamp = noon.Add(6 * time.Minute) })
	f("events[1].timestamp", invalid, func(e *events.Event) { e.Timestamp = noon.AddDate(0, 0, -91) })
	f("events[1].timestamp", invalid, func(e *events.Event) { e.Timestamp = time.Time{} })
	f("events[1].event_id", invalid, func(e *events.Event) { e.EventID = "" })
	f("events[1].event_id", invalid, func(e *events.Event) { e.EventID = "a\x1fb" })
	f("events[1].query_id", invalid, func(e *events.Event) { e.QueryID = long })
	f("events[1].action_name", invalid, func(e *events.Event) { e.ActionName = "" })
	f("events[1].client_id", invalid, func(e *events.Event) { e.ClientID = long })
	f("events[1].message", invalid, func(e *events.Event) { e.Message = "a\xff" })
	f("events[1].event_attributes.position.ordinal", invalid,
		func(e *events.Event) { e.Attributes.Position = &events.Position{} })
	f("events[1].event_attributes.object.object_id", invalid,
		func(e *events.Event) { e.Attributes.Object = &events.Object{} })
	f("events[1].event_attributes.dwell_ms", invalid, func(e *events.Event) { d := -1.; e.Attributes.DwellMS = &d })
	for _, n := range []int{0, events.MaxBatch + 1} {
		_, err := l.Accept(t.Context(), tenant, make([]events.Event, n))
		refused(t, err, invalid, "events")
	}
	many := make([]events.Event, events.MaxBatch)
	for i := range many {
		many[i] = good
		many[i].EventID, many[i].Message = fmt.Sprint(i), long[:2000]
	}
	_, err := l.Accept(t.Context(), tenant, many)
	refused(t, err, fault.TooLarge, "events")
	want(t, entries(t, l, tenant, 1)) // nothing of all that was taken
	good.Timestamp = noon.Add(4 * time.Minute)
	accept(t, l, tenant, good)
}

// away is a keeper that fails when it is told so.
type away struct {
	engine.RecordKeeper

	broken atomic.Bool
	puts   atomic.Int64
}

func (a *away) fails() error {
	if a.broken.Load() {
		return fault.New(fault.Unavailable, "away")
	}
	return nil
}

func (a *away) PutItems(ctx context.Context, ref engine.RecordRef, items []engine.RecordItem) error {
	a.puts.Add(1)
	if err := a.fails(); err != nil {
		return err
	}
	return a.RecordKeeper.PutItems(ctx, ref, items)
}

func (a *away) ListRecords(ctx context.Context, tenant, kind string) ([]engine.Records, error) {
	if err := a.fails(); err != nil {
		return nil, err
	}
	return a.RecordKeeper.ListRecords(ctx, tenant, kind)
}

// TestWhileTheStoreIsAway events are taken, wait over a restart, and are stored once, when it is back.
func TestWhileTheStoreIsAway(t *testing.T) {
	folder := t.TempDir()
	store := &away{RecordKeeper: keeper(t, t.TempDir())}
	store.broken.Store(true)
	tea := asked("tea", time.Minute, "shop/a")
	first, err := events.Open(t.Context(), events.Options{Folder: folder, Keeper: store})
	if err != nil {
		t.Fatal(err)
	}
	first.SetNow(noon)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); first.Run(ctx) }()
	accept(t, first, tenant, clicked(tea, 1))
	for store.puts.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	for _, err := range first.Read(t.Context(), tenant, noon.AddDate(0, 0, -1), noon) {
		refused(t, err, fault.Unavailable, "")
	}
	first.Record(tenant, tea)
	stop()
	<-done
	closed(t, first)

	store.broken.Store(false)
	l := open(t, func(o *events.Options) { o.Folder, o.Keeper = folder, store })
	if l.SpoolBytes() == 0 {
		t.Error("the spool is empty after the restart")
	}
	ctx, stop = context.WithCancel(t.Context())
	done = make(chan struct{})
	go func() { defer close(done); l.Run(ctx) }()
	for deadline := time.Now().Add(devservices.Patience); l.SpoolBytes() > 0 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	stop()
	<-done
	if l.SpoolBytes() > 0 {
		t.Errorf("%d bytes are still spooled; want l.SpoolBytes() 0", l.SpoolBytes())
	}
	want(t, entries(t, l, tenant, 1), "tea click1")
}

// TestWhileARealStoreIsAway: PostgreSQL behind a way that is cut and mended.
func TestWhileARealStoreIsAway(t *testing.T) {
	database := devservices.NewDatabase(t)
	way := devservices.NewRelay(t, database.URL)
	store, err := postgres.Open(t.Context(), postgres.Options{
		Settings: postgres.Settings{Timeout: time.Minute},
		URL:      way.Instead(database.URL), Tokenizer: enginetest.Words{},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closed(t, store) })
	l := open(t, func(o *events.Options) { o.Keeper = store })
	tea := asked("tea", time.Minute, "shop/a", "shop/b")
	accept(t, l, tenant, clicked(tea, 1))
	want(t, entries(t, l, tenant, 1), "orphans click1")
	way.Set(devservices.Refused)
	l.Record(tenant, tea)
	accept(t, l, tenant, clicked(tea, 1), clicked(tea, 2))
	if err := l.Settle(t.Context()); !fault.Is(err, fault.Unavailable) {
		t.Errorf("while it is away: %v; want an error of kind Unavailable", err)
	}
	way.Set(devservices.Fine)
	want(t, entries(t, l, tenant, 1), "tea click1 click2")
}

// TestAFullSpool takes nothing more, says so and counts it; what it has is stored later.
func TestAFullSpool(t *testing.T) {
	store := &away{RecordKeeper: keeper(t, t.TempDir())}
	store.broken.Store(true)
	registry := prometheus.NewRegistry()
	l := open(t, func(o *events.Options) { o.Keeper, o.SpoolBytes, o.Registry = store, 1000, registry })
	tea := asked("tea", time.Minute, "shop/a", "shop/b")
	accept(t, l, tenant, clicked(tea, 1), clicked(tea, 2))
	more := did(tea, events.ActionConversion, "more")
	more.Message = strings.Repeat("x", 500)
	_, err := l.Accept(t.Context(), tenant, []events.Event{did(tea, "tiny", "tiny"), more})
	refused(t, err, fault.Unavailable, "")
	if before := l.SpoolBytes(); before == 0 || before > 1000 {
		t.Errorf("%d bytes are spooled; want before other than 0 and before at most 1000", before)
	}
	long := asked(strings.Repeat("long", 200), time.Second)
	l.Record(tenant, long)
	if err := l.Settle(t.Context()); !fault.Is(err, fault.Unavailable) {
		t.Error(err)
	}
	store.broken.Store(false)
	want(t, entries(t, l, tenant, 1), "orphans click1 click2")
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			name := family.GetName()
			for _, label := range m.GetLabel() {
				name += " " + label.GetValue()
			}
			counts[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	wanted := map[string]float64{
		"hybridge_events_accepted_total event": 2, "hybridge_events_accepted_total query": 0,
		"hybridge_events_stored_total event": 2, "hybridge_events_stored_total query": 0,
		"hybridge_events_dropped_total event spool": 2, "hybridge_events_dropped_total query spool": 1,
		"hybridge_events_spooled": 0, "hybridge_events_spool_bytes": 0, "hybridge_events_store_failures_total": 0,
	}
	if diff := cmp.Diff(wanted, counts); diff != "" {
		t.Error(diff)
	}
}

// refusing refuses one item for good.
type refusing struct{ engine.RecordKeeper }

func (r refusing) PutItems(ctx context.Context, ref engine.RecordRef, items []engine.RecordItem) error {
	for i := range items {
		if strings.Contains(string(items[i].Body), "poison") {
			return fault.Invalid("items", "poison", "something else")
		}
	}
	return r.RecordKeeper.PutItems(ctx, ref, items)
}

func TestAnItemThatIsRefusedHoldsUpNothing(t *testing.T) {
	l := open(t, func(o *events.Options) { o.Keeper = refusing{keeper(t, t.TempDir())} })
	tea := asked("tea", time.Minute, "shop/a")
	accept(t, l, tenant, did(tea, "a", "1"), did(tea, "poison", "2"), did(tea, "b", "3"))
	want(t, entries(t, l, tenant, 1), "orphans 1 3")
}

func TestRetention(t *testing.T) {
	l := open(t, func(o *events.Options) { o.RetentionDays = 7 })
	for _, days := range []int{0, 6, 7, 8, 20} {
		l.Record(tenant, asked(fmt.Sprint(days, " days"), time.Duration(days)*24*time.Hour))
	}
	want(t, entries(t, l, tenant, 30), "20 days", "8 days", "7 days", "6 days", "0 days")
	for _, n := range []int{2, 0} {
		if got, err := l.Expire(t.Context()); got != n || err != nil {
			t.Errorf("%d days deleted, %v, want %d", got, err, n)
		}
	}
	want(t, entries(t, l, tenant, 30), "7 days", "6 days", "0 days")
}

func TestDeleteOfAClient(t *testing.T) {
	l := open(t)
	tea, milk := asked("tea", time.Minute, "shop/a"), asked("milk", 30*time.Hour, "shop/a")
	milk.ClientID = "c2"
	l.Record(tenant, tea)
	l.Record(tenant, milk)
	ofAnother, own := did(tea, "share", "e1"), did(milk, "share", "e2")
	ofAnother.ClientID, own.ClientID = "c2", "c1"
	accept(t, l, tenant, ofAnother, own, clicked(tea, 1), clicked(milk, 1))
	accept(t, l, "rival", clicked(tea, 1))
	if got, err := l.DeleteClient(t.Context(), tenant, "c1"); err != nil || got != (events.Deleted{Queries: 1, Events: 3}) {
		t.Errorf("%+v, %v", got, err)
	}
	want(t, entries(t, l, tenant, 30), "milk click1")
	want(t, entries(t, l, "rival", 30), "orphans click1")
	_, err := l.DeleteClient(t.Context(), tenant, "")
	refused(t, err, fault.InvalidArgument, "client_id")
}

// BenchmarkEvents is one thousand events at a time, from Accept until they are stored.
func BenchmarkEvents(b *testing.B) {
	for name, keeper := range keepers {
		b.Run(name, func(b *testing.B) {
			l := open(b, func(o *events.Options) { o.Keeper = keeper(b) })
			batch := make([]events.Event, events.MaxBatch)
			n := 0
			for b.Loop() {
				for i := range batch {
					q := &events.Query{QueryID: events.IDAt(noon, uint64(n)), Timestamp: noon, ClientID: "c1", HitIDs: []string{"shop/chunk-1"}}
					batch[i] = clicked(q, 1)
					batch[i].Attributes.SessionID = "session"
					n++
				}
				accept(b, l, tenant, batch...)
				if n%10_000 == 0 {
					if err := l.Settle(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
			}
			if err := l.Settle(b.Context()); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "events/s")
		})
	}
}
