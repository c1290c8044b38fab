package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/internal/devservices"
)

const (
	// killedHistory is how long one history with kills lasts: with many of them, and so many operations without an answer,
	// nobody could say any more what must be there.
	killedHistory = 15 * time.Second
	killedSteps   = 1500 // of each client
)

// TestHistoriesWithKills kills the gateway in the middle of histories, on each storage: what was acknowledged is there
// all the same, and what was not is there as a whole, chunk by chunk, or not at all.
func TestHistoriesWithKills(t *testing.T) {
	lasting := durationOf(t, durationVariable, 6*time.Second)
	name := copied(t)
	all := [][]string{{"embedded"}, {"postgres"}, {"elasticsearch"}, {"embedded", "elasticsearch"}}
	if lasting < time.Minute {
		all = all[:1]
	}
	var report strings.Builder
	fmt.Fprintf(&report, "### Histories with kills\n\n%s of four clients at once: every answer fits an order of the operations, "+
		"chunk by chunk, and nothing acknowledged was lost.\n\n| storage | histories | operations | without an answer | kills | "+
		"migrations | chunks undecided |\n|---|---|---|---|---|---|---|\n", lasting)
	for _, engines := range all {
		t.Run(strings.Join(engines, " and "), func(t *testing.T) {
			s := newHistorySite(t, engines)
			s.mayBeUndecided = true
			s.serveToBeKilled(name)
			share := lasting / time.Duration(len(all))
			total, histories := historyTally{}, 0
			for until := time.Now().Add(share); time.Now().Before(until) && !t.Failed(); histories++ {
				seed := rand.Uint64N(1e6)
				t.Log(s.history(seed, min(killedHistory, share), killedSteps))
				total.add(&s.tally)
			}
			fmt.Fprintf(&report, "| %s | %d | %d | %d | %d | %d | %d |\n", strings.Join(engines, " and "), histories,
				total.operations, total.unknown, total.restarts, total.migrations, total.undecided)
		})
	}
	if !t.Failed() {
		devservices.Report(t, report.String())
	}
}

// serveToBeKilled starts the program, which restarts kill and start again.
func (s *historySite) serveToBeKilled(name string) {
	s.t.Helper()
	folder, settings := s.t.TempDir(), []string{"HYBRIDGE_LOG_LEVEL=warn"}
	if slices.Contains(s.engines, "postgres") {
		settings = append(settings, postgresSettings(s.t, devservices.NewDatabase(s.t))...)
	}
	if slices.Contains(s.engines, "elasticsearch") {
		url, prefix := devservices.Indices(s.t)
		settings = append(settings, "HYBRIDGE_ELASTICSEARCH_URL="+url, "HYBRIDGE_ELASTICSEARCH_INDEX_PREFIX="+prefix)
	}
	p := serve(s.t, name, folder, settings...)
	s.address.Store(&p.url)
	s.grace = time.Second // each history ends its migrations
	s.killed = true
	s.restart = func() {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		p = serve(s.t, name, folder, settings...)
		s.address.Store(&p.url)
	}
}
