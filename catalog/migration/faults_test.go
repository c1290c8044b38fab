package migration

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/devservices"
)

// flat is a change that needs a new index.
func flat() Change { return Change{VectorIndex: new("flat")} }

// slow leaves time to disturb the copy.
func slow() engine.MappingOptions { return engine.MappingOptions{Throttle: 100} }

// copying waits until the copy is under way.
func (g *gateway) copying() *engine.Migration {
	g.t.Helper()
	for {
		m, err := g.Status(g.t.Context(), scope, "kb")
		if err != nil {
			g.t.Fatal(err)
		}
		if m.State != engine.MigrationRunning {
			g.t.Fatalf("the migration is %s at %s: %+v; want m.State MigrationRunning", m.State, m.Step, m.Error)
		}
		if m.Step == "copy" && m.Task != "" {
			return m
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// unswitched fails unless the knowledge base is where it was, with all its chunks.
func (g *gateway) unswitched(s *site, m *engine.Migration, want map[string]engine.Chunk) {
	g.t.Helper()
	if kb := g.kb(); kb.Generation != m.From.Generation {
		g.t.Errorf("the knowledge base is of generation %d, want %d", kb.Generation, m.From.Generation)
	}
	s.holds(s.prefix+"-kb-t-"+m.Ref.ID, want)
}

// refuses fails unless err is of a kind and contains a text.
func refuses(t *testing.T, err error, kind fault.Kind, says string) {
	t.Helper()
	if !fault.Is(err, kind) || !strings.Contains(err.Error(), says) {
		t.Errorf("got %v, want %s that says %q", err, kind, says)
	}
}

func TestElasticsearchGoesAwayAndTheGatewayToo(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	way := devservices.NewRelay(t, s.server)
	s.via = way.Instead(s.server)
	a := s.gateway(nil)
	want := someChunks(300)
	a.create(want)
	a.apply(flat(), slow())
	a.copying()
	way.Set(devservices.Refused)
	time.Sleep(500 * time.Millisecond)
	way.Set(devservices.Fine)
	m := a.copying()
	a.jobs.Close() // as if it were killed; its context ends in the middle of a step

	b := s.gateway(nil)
	changed := chunkOf("c0001", 9)
	b.write(changed)
	want["c0001"] = changed
	if _, err := b.engine.DeleteChunks(t.Context(), b.kb(), []string{"c0002"}); err != nil {
		t.Fatal(err)
	}
	delete(want, "c0002")
	b.unswitched(s, m, want)
	ctx, cancel := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	watching.Go(func() { b.Watch(ctx) })
	m = b.until(engine.MigrationSwitched)
	cancel()
	watching.Wait()
	s.holds(m.ToIndex, want)
	s.holds(m.FromIndex, want)
}

func TestAFullDiskIsToldAndNothingIsSwitched(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	g := s.gateway(nil)
	want := someChunks(300)
	g.create(want)
	g.apply(flat(), engine.MappingOptions{Throttle: 20}) // on a busy machine the copy must not end before the disk is full
	m := g.copying()
	devservices.FullDisk(t, s.server, m.ToIndex, true)
	if _, err := g.Throttle(t.Context(), scope, "kb", 0); err != nil {
		t.Fatal(err)
	}
	m = g.until(engine.MigrationFailed)
	if m.Error.Code != fault.DiskFull || !strings.Contains(m.Error.Detail, "free disk space") {
		t.Errorf(`told %+v; want m.Error.Code DiskFull and "free disk space" in it`, m.Error)
	}
	g.unswitched(s, m, want)
	g.write(chunkOf("c0000", 5)) // writes go on meanwhile
	want["c0000"] = chunkOf("c0000", 5)
	devservices.FullDisk(t, s.server, m.ToIndex, false)
	g.order(Resume)
	m = g.until(engine.MigrationSwitched)
	s.holds(m.ToIndex, want)
}

// split makes the index of the knowledge base one of several shards, as an
// administrator may.
func (s *site) split(shards int) {
	s.t.Helper()
	index := s.prefix + "-kb-t-kb-v1"
	var live map[string]struct {
		Aliases json.RawMessage `json:"aliases"`
	}
	s.ask("GET", "/"+index, "", &live)
	s.ask("PUT", "/"+index+"/_block/write", "", nil)
	s.ask("POST", "/"+index+"/_split/"+index+"-x", fmt.Sprintf(`{"settings": {"index.number_of_shards": %d}}`, shards), nil)
	s.ask("DELETE", "/"+index, "", nil)
	s.ask("POST", "/"+index+"-x/_clone/"+index,
		fmt.Sprintf(`{"settings": {"index.blocks.write": false}, "aliases": %s}`, live[index].Aliases), nil)
	s.ask("DELETE", "/"+index+"-x", "", nil)
}

// Every shard has its own sequence numbers: what the gateway writes to any of them is
// known, what somebody else writes to one of them is found.
func TestWritesPastTheGatewayAreFound(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	g := s.gateway(nil)
	want := someChunks(200)
	g.create(want)
	s.split(4)
	g.apply(flat(), slow())
	m := g.copying()
	for i := range 12 {
		c := chunkOf(fmt.Sprintf("c%04d", i), 1)
		g.write(c)
		want[c.ID] = c
	}
	s.ask("POST", "/"+m.FromIndex+"/_update/t%7Ckb%7Cc0150", `{"doc": {"owner": "stranger"}}`, nil)
	if _, err := g.Throttle(t.Context(), scope, "kb", 0); err != nil {
		t.Fatal(err)
	}
	m = g.until(engine.MigrationFailed)
	if m.Error.Code != fault.Conflict || !strings.Contains(m.Error.Detail, "c0150") {
		t.Errorf(`told %+v; want m.Error.Code Conflict and "c0150" in it`, m.Error)
	}
	g.unswitched(s, m, want)
	g.write(chunkOf("c0150", 0)) // by the gateway, and so in the change log
	g.order(Resume)
	m = g.until(engine.MigrationSwitched)
	s.holds(m.ToIndex, want)
	if i := slices.IndexFunc(m.Checks, func(c engine.MigrationCheck) bool {
		return c.Passed && c.Detail == "all 13 documents written since are in the change log"
	}); i < 0 {
		t.Errorf("checks %+v; want one passed that counts 13 documents in the change log", m.Checks)
	}
}

// failed waits for the end of a job, which is to be a failure: what it switched all the same would stay so.
func (g *gateway) failed(m *engine.Migration) *engine.Migration {
	g.t.Helper()
	g.awaitRest(m)
	m, err := g.Status(g.t.Context(), scope, "kb")
	if err != nil || m == nil || m.State != engine.MigrationFailed {
		g.t.Fatalf("the migration is %+v, %v; want it to be %s", m, err, engine.MigrationFailed)
	}
	return m
}

// TestCountsThatDifferAreNotSwitched: a document that somebody else put into the new index alone is in no sample and in
// no log, and the counts of both tell it, in the switch and in the way back.
func TestCountsThatDifferAreNotSwitched(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	g := s.gateway(nil)
	want := someChunks(30)
	g.create(want)
	g.apply(flat(), engine.MappingOptions{Throttle: 20})
	m := g.copying()
	stray := "/" + m.ToIndex + "/_doc/t%7Ckb%7Cstray?refresh=true"
	s.ask("PUT", stray, `{"id": "stray"}`, nil)
	m = g.failed(m)
	if m.Step != "switch" || m.Error.Code != fault.Conflict || !strings.Contains(m.Error.Detail, "30 documents and") {
		t.Errorf(`told %+v at %s; want m.Step "switch" and m.Error.Code Conflict and "30 documents and" in it`, m.Error, m.Step)
	}
	g.unswitched(s, m, want)
	g.write(chunkOf("c0000", 5)) // the block was lifted
	want["c0000"] = chunkOf("c0000", 5)
	s.ask("DELETE", stray, "", nil)
	g.order(Resume)
	m = g.until(engine.MigrationSwitched)
	s.holds(m.ToIndex, want)
	s.ask("PUT", strings.Replace(stray, m.ToIndex, m.FromIndex, 1), `{"id": "stray"}`, nil)
	g.order(Rollback)
	m = g.failed(m)
	if !strings.Contains(m.Error.Detail, "has 31 documents and") || g.kb().Generation == m.From.Generation {
		t.Errorf("rolled back in spite of %+v, to generation %d", m.Error, g.kb().Generation)
	}
}

func TestOnePlanIsAppliedOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	g := s.gateway(nil)
	want := someChunks(20)
	g.create(want)
	index := s.prefix + "-kb-t-kb-v1"
	caller := Caller{scope, "tester"}
	plan := func(change Change) string {
		t.Helper()
		plan, err := g.Plan(t.Context(), caller, "kb", Request{Changes: change})
		if err != nil {
			t.Fatal(err)
		}
		return plan.ID
	}
	_, err := g.Apply(t.Context(), caller, "kb", "nosuch")
	refuses(t, err, fault.NotFound, "plan")
	_, err = g.Apply(t.Context(), caller, "kb", plan(Change{}))
	refuses(t, err, fault.Conflict, "nothing to change")

	old := plan(flat()) // somebody changes the index in between
	s.ask("PUT", "/"+index+"/_mapping", `{"properties": {"colour": {"type": "keyword"}}}`, nil)
	_, err = g.Apply(t.Context(), caller, "kb", old)
	refuses(t, err, fault.Conflict, "changed since")
	diff, err := g.Diff(t.Context(), scope, "kb", Change{})
	if err != nil || diff.Class != engine.ChangeReindex || diff.Changes[0].Path != "mappings.properties.colour" {
		t.Errorf(`drift: %+v, %v; want no error and diff.Class ChangeReindex and diff.Changes[0].Path "mappings.properties.colour"`, diff, err)
	}

	ik := plan(Change{Analyzer: new("ik_max_word")}) // the plugin is not there
	_, err = g.Apply(t.Context(), caller, "kb", ik)
	refuses(t, err, fault.Conflict, "elasticsearch-plugin install analysis-ik")

	twice := plan(flat()) // by two users, at two gateways, at once
	both := []*gateway{g, s.gateway(nil)}
	errs := make([]error, len(both))
	var users sync.WaitGroup
	for i := range both {
		users.Go(func() { _, errs[i] = both[i].Apply(t.Context(), caller, "kb", twice) })
	}
	users.Wait()
	first := slices.Index(errs, nil)
	if first < 0 {
		t.Fatal(errs)
	}
	refuses(t, errs[1-first], fault.Conflict, "")
	g = both[first]
	_, err = g.Apply(t.Context(), caller, "kb", twice)
	refuses(t, err, fault.Conflict, "")
	m := g.until(engine.MigrationSwitched)
	s.holds(m.ToIndex, want)
	g.order(Cleanup)
	g.until(engine.MigrationDone)

	s.ask("PUT", "/"+s.prefix+"-other", "", nil)
	s.ask("POST", "/_aliases", `{"actions": [{"add": {"index": "`+s.prefix+`-other", "alias": "`+s.prefix+`-kb-t-kb"}}]}`, nil)
	_, err = g.Diff(t.Context(), scope, "kb", flat())
	refuses(t, err, fault.Conflict, "points to 2 indices")
}

func TestInPlaceAndTheGate(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	answers := map[int][]string{1: {"c0000", "c0001"}, 2: {"c0002"}}
	g := s.gateway(func(o *Options) {
		o.Answer = func(_ context.Context, kb engine.KnowledgeBase, _ engine.Engine, _ string, _ int) ([]string, error) {
			return answers[kb.Generation], nil
		}
	})
	want := someChunks(20)
	g.create(want)
	s.ask("PUT", "/"+s.prefix+"-kb-t-kb-v1/_settings", `{"index.max_result_window": 5}`, nil)
	g.apply(Change{}, engine.MappingOptions{})
	m := g.until(engine.MigrationDone)
	if m.Plan.Diff.Class != engine.ChangeInPlace || m.StartedBy != "tester" || m.FinishedAt.IsZero() {
		t.Errorf("in place: %+v", m)
	}
	g.apply(flat(), engine.MappingOptions{Gate: engine.MappingGate{Queries: []engine.GateQuery{{Query: "q"}}}})
	m = g.until(engine.MigrationFailed)
	if m.Step != "gate" || m.Gate == nil || m.Gate.Passed || m.Gate.Overlap != 0 {
		t.Errorf(`the gate: %+v at %s; want m.Step "gate" and a m.Gate and not m.Gate.Passed and m.Gate.Overlap 0`, m.Gate, m.Step)
	}
	g.unswitched(s, m, want)
	answers[2] = answers[1]
	g.order(Resume)
	m = g.until(engine.MigrationSwitched)
	history, err := g.History(t.Context(), scope, "kb", 10)
	if err != nil || len(history) != 1 || !m.Gate.Passed {
		t.Errorf("history %+v, %v; gate %+v; want no error and 1 history and m.Gate.Passed", history, err, m.Gate)
	}
}

// TestAnIndexWithoutGenerations: one that an earlier gateway made, under the
// knowledge base's own name, is put behind an alias.
func TestAnIndexWithoutGenerations(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	g := s.gateway(nil)
	want := someChunks(50)
	g.create(want)
	name := s.prefix + "-kb-t-kb"
	s.ask("PUT", "/"+name+"-v1/_block/write", "", nil)
	s.ask("POST", "/"+name+"-v1/_clone/"+name+"-x", `{"settings": {"index.blocks.write": false}}`, nil)
	s.ask("DELETE", "/"+name+"-v1", "", nil)
	s.ask("PUT", "/"+name+"-x/_block/write", "", nil)
	s.ask("POST", "/"+name+"-x/_clone/"+name, `{"settings": {"index.blocks.write": false}}`, nil)
	s.ask("DELETE", "/"+name+"-x", "", nil)
	s.ask("POST", "/"+s.prefix+"-catalog/_update_by_query?refresh=true",
		`{"script": {"source": "ctx._source.kb.remove('generation')"}}`, nil)
	if kb := g.kb(); kb.Generation != 0 {
		t.Fatalf("the catalogue has generation %d; want kb.Generation 0", kb.Generation)
	}
	busy := startTraffic(g, want, 1)
	g.apply(flat(), engine.MappingOptions{})
	g.until(engine.MigrationSwitched)
	g.order(Rollback)
	m := g.until(engine.MigrationRolledBack)
	want = busy.end()
	if m.FromIndex != name+"-v1" || g.kb().Generation != 1 {
		t.Errorf("adopted as %s, generation %d", m.FromIndex, g.kb().Generation)
	}
	s.holds(name, want)
}
