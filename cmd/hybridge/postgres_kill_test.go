package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/internal/seeds"
)

// steadyChunks make a full build of the keyword index last long enough to be hit.
const steadyChunks = 3000

// TestKilledOnPostgres kills the gateway while chunks are written to PostgreSQL,
// while the keyword index is built anew under writes, and while it is stored. After
// every restart there is exactly what was acknowledged, and text finds it.
func TestKilledOnPostgres(t *testing.T) {
	t.Parallel()
	kills := countOf(t, killsVariable, 4)
	random := seeds.New(t)
	d, name := devservices.NewDatabase(t), copied(t)
	settings := postgresSettings(t, d)
	writers := []*killedWriter{newKilledWriter(0, random), newKilledWriter(1, random)}
	p := serve(t, name, t.TempDir(), settings...)
	p.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "k", "engine": "postgres", "dimensions": 2}, nil)
	p.must(http.MethodPost, cli.BasePath("k")+"/documents", steadyLines(random), nil)
	ways := []func(){
		func() { writeUntilKilled(p, writers, time.Duration(50+random.IntN(1500))*time.Millisecond) },
		func() {
			p.dropKeywords()
			p.buildKeywords()
			writeUntilKilled(p, writers, time.Duration(20+random.IntN(600))*time.Millisecond)
		},
		func() { killStoring(p, d) },
	}
	for round := range kills {
		ways[round%len(ways)]()
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		eventually(t, "the sessions of the killed gateway end", func() bool { return d.Sessions() == 0 }) // one may be committing
		p = serve(t, name, t.TempDir(), settings...)
		chunks := steadyChunks
		for _, w := range writers {
			chunks += w.check(p)
		}
		if n := p.described("k"); n.Chunks != chunks || n.Vectors != chunks {
			t.Errorf("described as %+v, want %d chunks with their vectors", n, chunks)
		}
		if t.Failed() {
			t.Fatalf("after kill %d:\n%s", round+1, p.out)
		}
	}
	acknowledged, unknown, done := 0, 0, 0
	for _, w := range writers {
		acknowledged, unknown, done = acknowledged+w.acknowledged, unknown+w.unknown, done+w.done
	}
	devservices.Report(t, fmt.Sprintf("%d kills on PostgreSQL, in turn while writing, while building the keyword index and "+
		"while storing it: %d writes acknowledged, all there; of %d in flight when it was killed %d had been done.\n",
		kills, acknowledged, unknown, done))
}

func steadyLines(random *rand.Rand) string {
	var lines strings.Builder
	for i := range steadyChunks {
		fmt.Fprintf(&lines, `{"id": "s%d", "document_id": "steady%d", "content": %q, "vector": [0, 1]}`+"\n",
			i, i/10, sentence(random, 60))
	}
	return lines.String()
}

// dropKeywords drops the stored keyword index; the next search builds another.
func (p *process) dropKeywords() {
	p.t.Helper()
	p.must(http.MethodPost, cli.BasePath("k")+"/invalidate", nil, nil)
}

// buildKeywords sends a search without waiting: the kill may come before its answer.
func (p *process) buildKeywords() {
	go func() {
		body := strings.NewReader(`{"query": "refund", "knowledge_bases": ["k"], "preset": "text", "cache": false}`)
		if response, err := p.http.Post(p.url+"/v1/search", cli.AsJSON, body); err == nil {
			_ = response.Body.Close()
		}
	}()
}

// postgresSettings are the environment of a gateway on a database.
func postgresSettings(t *testing.T, d *devservices.Database) []string {
	t.Helper()
	return []string{
		"HYBRIDGE_POSTGRES_URL=" + d.URL, "HYBRIDGE_REDIS_URL=" + devservices.Redis(t), "HYBRIDGE_LOG_LEVEL=warn",
		"HYBRIDGE_POSTGRES_KEYWORD_WAIT=1m", // what is found is looked at, also on a busy machine
	}
}

// killStoring holds the table of keyword indexes, so that the statement that stores
// one is under way when the gateway is killed; PostgreSQL goes on with it.
func killStoring(p *process, d *devservices.Database) {
	p.t.Helper()
	p.dropKeywords()
	release := d.Hold("hybridge.bm25_indexes")
	defer release()
	p.buildKeywords()
	eventually(p.t, "the gateway stores the keyword index", func() bool {
		return d.Waiting("INSERT INTO bm25_indexes") > 0
	})
	if err := p.cmd.Process.Kill(); err != nil {
		p.t.Fatal(err)
	}
}
