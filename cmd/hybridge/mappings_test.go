package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/gateway"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/devservices"
)

// TestMappingsByCommand: a change is planned, applied, taken back, applied again
// and made final, and one is cancelled while it copies, all by command.
func TestMappingsByCommand(t *testing.T) {
	t.Parallel()
	c := settingsIn(t.TempDir())
	c.Elasticsearch.URL = make([]string, 1)
	c.Elasticsearch.URL[0], c.Elasticsearch.IndexPrefix = devservices.Indices(t)
	r := run(t, c)
	defer r.stop()
	r.must(http.MethodPost, "/v1/knowledge-bases",
		map[string]any{"id": "shop", "engine": "elasticsearch", "dimensions": 2, "embedding_model": "own"}, nil)
	defer r.must(http.MethodDelete, cli.BasePath("shop"), nil, nil)
	var lines strings.Builder
	for i := range 250 { // more than one page of a copy
		fmt.Fprintf(&lines, `{"id": "c%d", "document_id": "d", "content": "step %d", "vector": [1, %d]}`+"\n", i, i, i)
	}
	r.must(http.MethodPost, cli.BasePath("shop")+"/documents?refresh=true", lines.String(), nil)
	r.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "here", "engine": "embedded", "dimensions": 0}, nil)

	m := &byCommand{command{t: t, folder: t.TempDir(), environ: []string{"HYBRIDGE_SERVER=" + r.url}}}
	m.want(cli.ExitNotFound, "", "mappings diff nope", "does not exist")
	m.want(cli.ExitOK, "", "mappings diff here", "is as its schema wants it")
	m.want(cli.ExitUsage, "", "mappings diff shop --vector-index tree", "vector_index", "int8_hnsw")
	m.want(cli.ExitUsage, "", "mappings diff shop --vector Title", "vector_fields[0].name", "title_vector")
	m.want(cli.ExitOK, "", "mappings diff shop --vector summary_vector", "in_place", "mappings.properties.summary_vector")
	m.want(cli.ExitUsage, "", "mappings diff shop --vector title_vector=title", "changes.embedding_model", "no embedding model is configured")
	m.want(cli.ExitUsage, "", "mappings plan shop --gate /nonexistent.json", "/nonexistent.json")
	m.want(cli.ExitUsage, "", "mappings throttle shop fast", "RATE", "documents per second")
	m.want(cli.ExitOK, "", "mappings diff shop", "is as its schema wants it")
	m.want(cli.ExitOK, "", "mappings status shop", "no migration yet")
	m.want(cli.ExitFailed, "", "mappings cancel shop", "no migration")
	m.want(cli.ExitNotFound, "", "mappings apply shop nosuchplan", "plan")

	m.want(cli.ExitOK, "", "mappings plan shop --vector-index flat", "needs_reindex", "250 documents", "steps: adopt, create")
	var plan engine.MappingPlan
	m.json(&plan, "plan shop --vector-index flat")
	if plan.Diff.Class != engine.ChangeReindex || plan.ID == "" {
		t.Fatalf(`planned %+v; want plan.Diff.Class ChangeReindex and plan.ID other than ""`, plan)
	}
	m.state("apply shop "+plan.ID, engine.MigrationSwitched)
	m.want(cli.ExitFailed, "", "mappings apply shop "+plan.ID, "rollback or cleanup it first")
	m.want(cli.ExitFailed, "", "mappings throttle shop 5", "nothing to throttle")
	m.want(cli.ExitOK, "", "mappings status shop", "switched", "250 documents in each", "next: rollback or cleanup")
	m.state("rollback shop", engine.MigrationRolledBack)
	m.want(cli.ExitOK, "", "mappings diff shop", "is as its schema wants it")
	m.state("apply shop --vector-index hnsw", engine.MigrationSwitched)
	m.state("cleanup --yes shop", engine.MigrationDone)

	m.state("apply shop --vector-index flat --requests-per-second 1 --background", engine.MigrationRunning)
	m.want(cli.ExitOK, "", "mappings throttle shop 2", "running")
	m.want(cli.ExitOK, "", "mappings cancel shop", engine.MigrationCancelled)
	var history []engine.Migration
	m.json(&history, "history shop")
	var states []string
	for i := range history {
		states = append(states, history[i].State)
	}
	if want := []string{engine.MigrationCancelled, engine.MigrationDone, engine.MigrationRolledBack}; !slices.Equal(states, want) {
		t.Errorf("history %v, want %v", states, want)
	}
	m.want(cli.ExitOK, "", "mappings history shop", "FINISHED", "rolled_back", "-v2")

	m.want(cli.ExitUsage, "", "mappings plan here --fields title=1.5", "fields.title", "from 2 to 100")
	m.want(cli.ExitUsage, "", "mappings plan here --vector-index hnsw", "vector_index", "compares all vectors")
	m.want(cli.ExitOK, "", "mappings plan here --fields title=3", "needs_reindex", "fields.title", "steps: create, copy")
	m.state("apply here --fields title=3", engine.MigrationSwitched)
	m.want(cli.ExitOK, "", "mappings diff here", "is as its schema wants it")
	m.state("rollback here", engine.MigrationRolledBack)
}

// byCommand runs `hybridge mappings`.
type byCommand struct{ command }

// json decodes what a command that succeeds prints with --json.
func (m *byCommand) json(into any, args string) {
	m.t.Helper()
	code, out, errs := m.run("", append([]string{"mappings"}, strings.Fields(args+" --json")...)...)
	if err := json.Unmarshal([]byte(out), into); err != nil || code != cli.ExitOK || errs != "" {
		m.t.Fatalf(`%s: exit code %d, %v: %s %s; want no error and code exitOK and errs ""`, args, code, err, brief.Of(out), errs)
	}
}

// state wants a command to end in a state.
func (m *byCommand) state(args, want string) {
	m.t.Helper()
	var status gateway.MappingStatus
	m.json(&status, args)
	if status.State != want || status.Migration == nil || status.Migration.State != want {
		m.t.Fatalf("%s: %+v, want %s", args, status, want)
	}
}
