package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/gateway"
	"github.com/hybridge-search/hybridge/internal/app"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/histories"
	"github.com/hybridge-search/hybridge/internal/seeds"
)

// historiesVariable is how many seconds the histories of one storage take together.
const historiesVariable = "HYBRIDGE_TEST_HISTORIES"

// fixedSeeds are histories that are tried again each time; one that nobody has seen comes after them.
var fixedSeeds = []uint64{1, 2}

// shapes are what a knowledge base changes to; some engines do not call each a change.
var shapes = []string{
	`{"fields": {}}`, `{"fields": {"title": 3}}`, `{"vector_fields": []}`, `{"vector_fields": [{"name": "title_vector"}]}`,
}

// historySite is a storage under histories.
type historySite struct {
	*historian
	engines []string
	second  *historian // another gateway on the same storage, where there is one
	random  *rand.Rand
	restart func() // a gateway in place of the first; nil: it stays
	grace   time.Duration
	begun   time.Time
	told    []string
	state   string // of the migration, as it was last told

	killed         bool // restarts kill, also while a migration runs
	mayBeUndecided bool
	tally          historyTally
}

// historyTally is what happened in a history.
type historyTally struct{ operations, unknown, restarts, migrations, undecided int }

func (y *historyTally) add(other *historyTally) {
	y.operations += other.operations
	y.unknown += other.unknown
	y.restarts += other.restarts
	y.migrations += other.migrations
	y.undecided += other.undecided
}

// storages are what histories are tried on.
var storages = []struct {
	engines []string
	second  bool // two gateways
}{
	{engines: []string{"embedded"}},
	{engines: []string{"postgres"}},
	{engines: []string{"elasticsearch"}},
	{engines: []string{"embedded", "elasticsearch"}},
	{engines: []string{"postgres", "embedded"}},
	{engines: []string{"postgres"}, second: true},
	{engines: []string{"elasticsearch"}, second: true},
}

// TestHistories has several clients write, patch, replace, delete and read the same chunks at once, while their
// knowledge base changes its shape and the gateway starts again: what was acknowledged is there, and nothing that was
// deleted. All storages take their turn at once: most of the time they wait.
func TestHistories(t *testing.T) {
	t.Parallel()
	lasting := time.Duration(countOf(t, historiesVariable, 4)) * time.Second / time.Duration(len(fixedSeeds)+1)
	var group sync.WaitGroup
	for _, storage := range storages {
		name := strings.Join(storage.engines, " and ")
		if storage.second {
			name += " by two gateways"
		}
		group.Go(func() {
			t.Run(name, func(t *testing.T) {
				s := newHistorySite(t, storage.engines)
				s.serve(storage.second)
				for _, seed := range append(slices.Clone(fixedSeeds), seeds.New(t).Uint64()%1e6) {
					t.Log(s.history(seed, lasting, 400))
				}
			})
		})
	}
	group.Wait()
}

func newHistorySite(t *testing.T, engines []string) *historySite {
	t.Helper()
	return &historySite{historian: newHistorian(t, engines[0] == "elasticsearch"), engines: engines}
}

// serve starts a gateway in this process, which restarts stop and start again, or two that stay.
func (s *historySite) serve(two bool) {
	s.t.Helper()
	c := settingsIn(s.t.TempDir())
	if slices.Contains(s.engines, "postgres") {
		c = withPostgres(s.t, c)
	}
	if slices.Contains(s.engines, "elasticsearch") {
		c = withElasticsearch(s.t, c)
	}
	if !two {
		s.grace = time.Second // for searches under way; more would be for gateways that there are not
	}
	begin := func() *running { return runApp(s.t, app.Options{Config: c, Grace: s.grace}) }
	r := begin()
	s.address.Store(&r.url)
	if two {
		another := *c
		another.DataDir = s.t.TempDir()
		s.second = newHistorian(s.t, s.refreshes)
		s.second.address.Store(&run(s.t, &another).url)
		return
	}
	s.restart = func() {
		r.stop()
		r = begin()
		s.address.Store(&r.url)
	}
}

// must asks for what is not a part of the history.
func (s *historySite) must(method, path, body string, into any) {
	s.t.Helper()
	status, text := s.send(s.t.Context(), method, path, cli.AsJSON, body)
	if status >= http.StatusMultipleChoices || status == 0 {
		s.t.Fatalf("%s %s: %d %s; want status below StatusMultipleChoices and status other than 0", method, path, status, text)
	}
	if into != nil {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			s.t.Fatalf("%s %s: %v in %s", method, path, err, text)
		}
	}
}

// history has clients work on a new knowledge base for a while, and at most so many steps each, and looks at what they saw.
func (s *historySite) history(seed uint64, lasting time.Duration, steps int) string {
	s.t.Helper()
	engines, _ := json.Marshal(s.engines)
	s.kb = fmt.Sprintf("history-%d", seed)
	s.must(http.MethodPost, "/v1/knowledge-bases", fmt.Sprintf(
		`{"id": %q, "engines": %s, "dimensions": 2, "embedding_model": "own"}`, s.kb, engines), nil)
	if s.second != nil {
		s.second.kb = s.kb
		eventually(s.t, "the other gateway knows the knowledge base", func() bool {
			status, _ := s.second.send(s.t.Context(), http.MethodGet, cli.BasePath(s.kb), "", "")
			return status == http.StatusOK
		})
	}
	s.random, s.told = rand.New(rand.NewPCG(seed, math.MaxUint64)), nil
	s.tally = historyTally{}
	s.begun, s.state = time.Now(), ""
	h := histories.NewHistory(strings.Join(s.engines, " and "), histories.Usual(seed))
	ctx, stop := context.WithCancel(s.t.Context())
	defer stop()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		h.Run(ctx, steps, s.clients()...)
	}()
	for until := time.Now().Add(lasting); time.Now().Before(until); {
		s.disturb()
	}
	stop()
	<-ended
	for s.grace > 0 && s.migrate(true) { // else it may be under way while all is read
	}
	h.Settle(s.t.Context(), s.historian)
	s.judge(h)
	s.tally.operations, s.tally.unknown = h.Tally()
	return fmt.Sprintf("seed %d: %d operations, %d without an answer, %d migrations, %d restarts",
		seed, s.tally.operations, s.tally.unknown, s.tally.migrations, s.tally.restarts)
}

func (s *historySite) clients() []histories.Client {
	if s.second == nil {
		return []histories.Client{s.historian}
	}
	return []histories.Client{s.historian, s.second}
}

// disturb is what happens besides.
func (s *historySite) disturb() {
	s.t.Helper()
	time.Sleep(time.Duration(20+s.random.IntN(150)) * time.Millisecond)
	oneIn := 6
	if s.killed { // an operation that it interrupts may be done at any time later
		oneIn = 25
	}
	if s.restart != nil && s.random.IntN(oneIn) == 0 && (s.killed || !s.migrating()) {
		s.restart()
		s.tally.restarts++
		s.tell("restarted")
		return
	}
	s.migrate(false)
}

// migrating says that a migration runs: a gateway that starts goes on with it after its silence of some seconds.
func (s *historySite) migrating() bool {
	var now gateway.MappingStatus
	s.must(http.MethodGet, "/v1/mappings/"+s.kb+"/status", "", &now)
	return now.State == engine.MigrationRunning
}

// tell notes what happens besides.
func (s *historySite) tell(format string, args ...any) {
	s.told = append(s.told, fmt.Sprintf("%d ms ", time.Since(s.begun).Milliseconds())+fmt.Sprintf(format, args...))
}

// migrate takes one step of a change of shape. Where it is to end it begins none, and says whether one is left.
func (s *historySite) migrate(end bool) bool {
	s.t.Helper()
	path := "/v1/mappings/" + s.kb
	var now gateway.MappingStatus
	s.must(http.MethodGet, path+"/status", "", &now)
	if m := now.Migration; m != nil {
		if state := now.State + " " + m.Direction + " " + m.Step; state != s.state {
			s.state = state
			s.tell("%s", state)
		}
	}
	switch {
	case now.Active && now.State == engine.MigrationRunning && (end || s.random.IntN(30) > 0):
		time.Sleep(10 * time.Millisecond)
	case now.Active && len(now.Actions) > 0:
		action := now.Actions[s.random.IntN(len(now.Actions))]
		status, text := s.send(s.t.Context(), http.MethodPost, path+"/"+action, cli.AsJSON, "")
		if s.tell("%s: %d", action, status); status >= http.StatusBadRequest {
			s.tell("%s", text)
		}
	case !now.Active && !end:
		var plan engine.MappingPlan
		s.must(http.MethodPost, path+"/plan", `{"changes": `+shapes[s.random.IntN(len(shapes))]+`}`, &plan)
		if plan.Diff.Class == engine.ChangeNone {
			return false
		}
		status, text := s.send(s.t.Context(), http.MethodPost, path+"/apply", cli.AsJSON, fmt.Sprintf(`{"plan": %q}`, plan.ID))
		if s.tally.migrations++; status >= http.StatusBadRequest {
			s.t.Errorf("applying: %d %s; want status below StatusBadRequest", status, text)
		}
		s.tell("migration of %s", plan.Diff.Index)
	}
	return now.Active
}

// judge tells what is wrong with a history.
func (s *historySite) judge(h *histories.History) {
	s.t.Helper()
	violations, undecided := h.Check()
	for i := range violations {
		v := &violations[i]
		if i >= 2 {
			s.t.Errorf("and %d more chunks; want i below 2", len(violations)-i)
			break
		}
		s.t.Errorf("%s%s", v.Text, s.drawn(v))
	}
	if s.tally.undecided = undecided; undecided > 0 && !s.mayBeUndecided {
		s.t.Errorf("%d chunks are undecided; want undecided 0 or s.mayBeUndecided", undecided)
	}
	for _, why := range h.Unanswered(3) {
		s.t.Log(why)
	}
	if len(violations) > 0 {
		s.t.Logf("besides: %s", strings.Join(s.told, ", "))
	}
	s.vectorsFit()
	if len(s.engines) > 1 {
		s.agree()
	}
}

// drawn is where a page shows a violation, which stays when the test has ended.
func (s *historySite) drawn(v *histories.Violation) string {
	if v.Chunk < 0 {
		return ""
	}
	folder, err := os.MkdirTemp("", "history")
	if err != nil {
		return err.Error()
	}
	name, err := v.Draw(folder)
	if err != nil {
		return err.Error()
	}
	return "drawn in " + name
}

// vectorsFit: every chunk has the vector that it was written with.
func (s *historySite) vectorsFit() {
	s.t.Helper()
	status, text := s.send(s.t.Context(), http.MethodGet, cli.BasePath(s.kb)+"/chunks?vectors=true", "", "")
	if status != http.StatusOK {
		s.t.Fatalf("exporting: %d %s; want status StatusOK", status, text)
	}
	for line := range strings.Lines(text) {
		var c struct {
			ID, Content string
			Vector      []float64
		}
		if err := json.Unmarshal([]byte(line), &c); err != nil || len(c.Vector) != 2 {
			s.t.Fatalf("%s: %v; want no error and 2 c.Vector", line, err)
		}
		value, _, _ := strings.Cut(c.Content, " ")
		if slope, want := c.Vector[1]/c.Vector[0], float64(slopeOf(value)); math.Abs(slope-want) > 0.01*want {
			s.t.Errorf("chunk %s of %s has the vector %v, want the slope %v", c.ID, value, c.Vector, want)
		}
	}
}

// agree: both engines hold the same.
func (s *historySite) agree() {
	s.t.Helper()
	var report engine.DriftReport
	s.must(http.MethodPost, cli.BasePath(s.kb)+"/check", `{}`, &report)
	for i := range report.Engines {
		if report.Engines[i].Differs() {
			s.t.Errorf("the engines differ: %+v", report.Engines[i])
		}
	}
}
