package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/search"
)

// part is a server of the gateway, or the gateway itself, with what may happen to it.
type part struct {
	name     string
	needs    []string // the knowledge bases that need it
	troubles []mishap
}

// mishap is one column of the matrix: what happens to a part, and what is promised of the
// knowledge bases that need it.
type mishap struct {
	name       string
	begin, end func()
	promise    promise
}

// promise is what an answer may be meanwhile. Those of other knowledge bases are whole at the first try,
// no search is later than request_timeout and no write later than ingest_timeout (and grace), nothing
// acknowledged is lost, and everything is whole again without a restart.
type promise struct {
	text     string
	accepted []verdict
	writes   []verdict
}

// verdict is what an answer is.
type verdict string

const (
	whole    verdict = "whole"
	degraded verdict = "degraded" // says what is missing
	refused  verdict = "refused"  // 503, 504 or 507, with a code
)

var (
	// untouched is of what a knowledge base can do without.
	untouched = promise{"as ever", []verdict{whole}, []verdict{whole}}
	typed     = promise{"degraded, or refused with a code", []verdict{degraded, refused}, []verdict{refused}}
	byWords   = promise{"keywords alone, `degraded` says so", []verdict{degraded}, []verdict{refused}}
	readOnly  = promise{"searches as ever, writes refused", []verdict{whole}, []verdict{refused}}
	waits     = promise{"answered when it goes on", []verdict{whole}, []verdict{whole}}
	isBack    = promise{"what was acknowledged is there", nil, nil}
)

// orWhole is a promise of what is only late: it may be in time.
func (p promise) orWhole() promise {
	if p.accepted[0] == whole {
		return p
	}
	p.text = "whole, " + p.text
	p.accepted, p.writes = append([]verdict{whole}, p.accepted...), append([]verdict{whole}, p.writes...)
	return p
}

// The limits for these tests. What is due is answered within grace, also on a busy machine.
const (
	engineLimit = 2 * time.Second
	searchLimit = 6 * time.Second
	writeLimit  = 8 * time.Second
	grace       = 2 * time.Second
)

// matrix is a gateway with all of its servers behind relays.
type matrix struct {
	*process
	program, folder string
	settings        []string
	written         map[string][]string // ids that were acknowledged, by knowledge base
	asked           int
}

var matrixBases = []string{"elasticsearch", "postgres", "embedded", "model"}

// TestMatrixOfFaults lets everything happen to every server, one after the other. All of it is
// for `make stamina`, which has an Elasticsearch of its own to kill and to pause; otherwise each
// server is killed and paused, or cut off, and silent.
//
// Promise: "It is never silently less" (docs/reliability.md).
func TestMatrixOfFaults(t *testing.T) {
	t.Parallel() // it mostly waits
	_, inFull := os.LookupEnv(killsVariable)
	m := &matrix{program: copied(t), folder: t.TempDir(), written: map[string][]string{}}
	parts := m.parts(t, inFull)
	m.open(t)
	for _, kb := range matrixBases {
		spec := map[string]any{"id": kb, "engine": kb, "dimensions": 2}
		if kb == "model" {
			spec["engine"], spec["dimensions"] = "embedded", 384
		}
		eventually(t, "knowledge base "+kb, func() bool { // a server that listens is not ready yet
			status, _ := m.ask(http.MethodPost, "/v1/knowledge-bases", encoded(spec))
			return status == http.StatusCreated || status == http.StatusConflict
		})
	}
	m.recovers(t)
	var table strings.Builder
	table.WriteString("| part | trouble | promised | searches | writes | slowest search | slowest write | whole again after |\n" +
		"|---|---|---|---|---|---|---|---|\n")
	for _, p := range parts {
		for _, f := range p.troubles {
			if !inFull && slices.Contains([]string{"answers wait", "slow answers", "wrong answers"}, f.name) {
				continue
			}
			t.Run(p.name+"/"+f.name, func(t *testing.T) { table.WriteString(m.suffers(t, &p, &f)) })
		}
	}
	if !t.Failed() {
		devservices.Report(t, table.String())
	}
	if text := m.out.String(); strings.Contains(text, "panic") {
		t.Errorf("the log tells of a panic:\n%s; want no \"panic\" in it", text)
	}
}

// parts starts the servers and says what may happen to each.
func (m *matrix) parts(t *testing.T, inFull bool) []part {
	shared, prefix := devservices.Indices(t)
	elasticsearch := devservices.NewRelay(t, shared)
	m.set("ELASTICSEARCH_URL=http://"+elasticsearch.Address, "ELASTICSEARCH_TIMEOUT="+engineLimit.String(),
		"ELASTICSEARCH_INDEX_PREFIX="+prefix, "LIMITS_REQUEST_TIMEOUT="+searchLimit.String(), "LIMITS_INGEST_TIMEOUT="+writeLimit.String())
	onElasticsearch, address := ofRelay(elasticsearch, typed), shared
	if inFull {
		server := devservices.StartElasticsearch(t, devservices.NewAuthority(t))
		elasticsearch = devservices.NewRelay(t, server.URL)
		m.set("ELASTICSEARCH_URL="+elasticsearch.Instead(server.URL), "ELASTICSEARCH_INSECURE_SKIP_VERIFY=true",
			"ELASTICSEARCH_USERNAME="+devservices.ElasticsearchUser, "ELASTICSEARCH_PASSWORD="+devservices.ElasticsearchPassword)
		onElasticsearch, address = append(ofServer(server, typed), ofRelay(elasticsearch, typed)...), server.URL
	}
	onElasticsearch = append(onElasticsearch, mishap{
		"full disk", func() { devservices.FullDisk(t, address, prefix+"-kb-*", true) },
		func() { devservices.FullDisk(t, address, prefix+"-kb-*", false) }, readOnly,
	})
	database, cache := devservices.StartPostgres(t), devservices.StartRedis(t)
	postgres, redis := devservices.NewRelay(t, database.URL), devservices.NewRelay(t, cache.URL)
	model := devservices.NewRelay(t, devservices.Embedding(t))
	m.set("POSTGRES_TIMEOUT="+engineLimit.String(), "POSTGRES_URL="+postgres.Instead(database.URL), "REDIS_URL="+redis.Instead(cache.URL),
		"EMBEDDING_URL="+model.Instead(devservices.Embedding(t)), "EMBEDDING_MODEL=multilingual-e5-small",
		"EMBEDDING_DIMENSIONS=384", "EMBEDDING_BATCH_SIZE=1", "EMBEDDING_DISABLE_KEEP_ALIVES=true", "EMBEDDING_TIMEOUT=2s",
		"EMBEDDING_QUERY_EXTRA={input_type: query}", "EMBEDDING_PASSAGE_EXTRA={input_type: passage}")
	return []part{
		{"Elasticsearch", []string{"elasticsearch"}, onElasticsearch},
		{"PostgreSQL", []string{"postgres"}, append(ofServer(database, typed), ofRelay(postgres, typed)...)},
		{"Redis", nil, append(ofServer(cache, untouched), ofRelay(redis, untouched)...)}, // a full one: TestRedisInTrouble
		{"embedding model", []string{"model"}, ofRelay(model, byWords)},
		{"gateway", matrixBases, []mishap{
			{"killed", m.kill, func() { m.open(t) }, isBack},
			{"paused", func() { m.pause(time.Second) }, func() {}, waits},
		}},
	}
}

// ofServer is what may happen to a server of this test's own.
func ofServer(s *devservices.Server, promised promise) []mishap {
	return []mishap{{"killed", s.Kill, s.Start, promised}, {"paused", s.Pause, s.Resume, promised}}
}

// ofRelay is what may happen on the way to a server.
func ofRelay(r *devservices.Relay, promised promise) []mishap {
	over := func() { r.Set(devservices.Fine) }
	var all []mishap
	for _, of := range []struct {
		name    string
		trouble devservices.Trouble
	}{
		{"connections cut", devservices.Refused},
		{"answers wait", devservices.Held},
		{"no answers", devservices.Silent},
		{"slow answers", devservices.Slow},
		{"wrong answers", devservices.Wrong},
	} {
		kept := promised
		if of.trouble == devservices.Slow {
			kept = promised.orWhole()
		}
		all = append(all, mishap{of.name, func() { r.Set(of.trouble) }, over, kept})
	}
	return all
}

func (m *matrix) set(settings ...string) {
	for _, s := range settings {
		m.settings = append(m.settings, "HYBRIDGE_"+s)
	}
}

// open starts the gateway.
func (m *matrix) open(t *testing.T) { m.process = serve(t, m.program, m.folder, m.settings...) }

func (m *matrix) kill() {
	_ = m.cmd.Process.Kill()
	_ = m.cmd.Wait() // killed
	devservices.MustNotAnswer(m.t, "killed", m.url)
}

// pause stops the gateway where it is, until a moment after that is proved: the proof takes time itself.
func (m *matrix) pause(lasting time.Duration) {
	process := m.cmd.Process
	_ = process.Signal(syscall.SIGSTOP)
	devservices.MustStop(m.t, process.Pid)
	devservices.MustNotAnswer(m.t, "paused", m.url)
	time.AfterFunc(lasting, func() { _ = process.Signal(syscall.SIGCONT) })
}

// suffering is what came of the requests of one row.
type suffering struct {
	sync.Mutex
	searches, writes            []verdict // of the knowledge bases that need the part
	slowestSearch, slowestWrite time.Duration
}

// suffers has a mishap happen, and gives its row of the table.
func (m *matrix) suffers(t *testing.T, p *part, f *mishap) string {
	m.t = t
	f.begin()
	var got suffering
	var clients sync.WaitGroup
	if f.promise.accepted != nil {
		clients.Go(func() { m.asksTogether(t, p, &f.promise) })
	}
	for _, kb := range matrixBases {
		needs := slices.Contains(p.needs, kb)
		if f.promise.accepted == nil || kb == "model" && !needs {
			continue // nobody answers, or a model that others may keep busy
		}
		promised := untouched
		if needs {
			promised = f.promise
		}
		clients.Go(func() { m.tries(t, kb, &promised, &got, needs) })
	}
	clients.Wait()
	f.end()
	over := time.Now()
	m.recovers(t)
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %.1f s | %.1f s | %.1f s |\n", p.name, f.name, f.promise.text,
		tallied(got.searches), tallied(got.writes), got.slowestSearch.Seconds(), got.slowestWrite.Seconds(), time.Since(over).Seconds())
}

// tries searches a knowledge base twice, and writes to it.
func (m *matrix) tries(t *testing.T, kb string, promised *promise, all *suffering, needs bool) {
	for range 2 {
		got, took := timed(t, "searching "+kb, promised.accepted, searchLimit, func() (verdict, string) { return m.searches(kb) })
		all.Lock()
		all.slowestSearch = max(all.slowestSearch, took)
		if needs {
			all.searches = append(all.searches, got)
		}
		all.Unlock()
	}
	got, took := timed(t, "writing to "+kb, promised.writes, writeLimit, func() (verdict, string) { return m.writes(kb) })
	all.Lock()
	defer all.Unlock()
	all.slowestWrite = max(all.slowestWrite, took)
	if needs {
		all.writes = append(all.writes, got)
	}
}

// timed wants one of the accepted answers at the first try, and in time.
func timed(t *testing.T, what string, accepted []verdict, limit time.Duration, do func() (verdict, string)) (got verdict, took time.Duration) {
	asked := time.Now()
	got, text := do()
	took = time.Since(asked)
	if took > limit+grace {
		t.Errorf("%s took %v, which has %v", what, took, limit)
	}
	if !slices.Contains(accepted, got) {
		t.Errorf("%s: %q after %v, want one of %q: %.400s", what, got, took, accepted, text)
	}
	return got, took
}

// asksTogether wants of three knowledge bases what the healthy ones have: `degraded` names the one that needs
// the part in trouble, and no other.
func (m *matrix) asksTogether(t *testing.T, p *part, promised *promise) {
	together := matrixBases[:3]
	accepted := []verdict{whole}
	missing := slices.DeleteFunc(slices.Clone(together), func(kb string) bool { return !slices.Contains(p.needs, kb) })
	if len(missing) > 0 && promised.accepted[0] != whole {
		accepted = []verdict{degraded}
	} else if len(missing) > 0 && len(promised.accepted) > 1 {
		accepted = []verdict{whole, degraded}
	}
	var text string
	got, _ := timed(t, "three knowledge bases together", accepted, searchLimit, func() (v verdict, _ string) {
		v, text = m.searches(together...)
		return v, text
	})
	if got != degraded {
		return
	}
	var r search.Response
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Error(err)
	}
	for _, d := range r.Degraded {
		if !slices.Contains(missing, d.KnowledgeBase) || d.Code == "" {
			t.Errorf("%s of %q is missing for %q, and only %q may be: %s", d.Leg, d.KnowledgeBase, d.Code, missing, d.Reason)
		}
	}
}

var matrixLock sync.Mutex // of what clients of a matrix count

// next numbers requests.
func (m *matrix) next() int {
	matrixLock.Lock()
	defer matrixLock.Unlock()
	m.asked++
	return m.asked
}

// searches asks a question that nobody has asked; "" stands for an answer that may not be.
func (m *matrix) searches(bases ...string) (verdict, string) {
	question := map[string]any{
		"query": fmt.Sprintf("refund of item 0 please %d", m.next()), "knowledge_bases": bases, "preset": "balanced",
	}
	if !slices.Contains(bases, "model") {
		question["vector"] = []float32{1, 0}
	}
	status, text := m.ask(http.MethodPost, searchPath, encoded(question))
	var r search.Response
	switch {
	case status != http.StatusOK:
		return refusal(status, text), string(text)
	case json.Unmarshal(text, &r) != nil:
		return "", string(text)
	case len(r.Degraded) > 0:
		return degraded, string(text)
	case len(r.Hits) == 0:
		return "", string(text)
	}
	return whole, string(text)
}

// writes adds a chunk.
func (m *matrix) writes(kb string) (verdict, string) {
	id := fmt.Sprintf("c%d", m.next())
	chunk := map[string]any{"id": id, "document_id": id, "content": "a refund of item " + id}
	if kb != "model" {
		chunk["vector"] = []float32{1, 0}
	}
	status, text := m.ask(http.MethodPost, cli.BasePath(kb)+"/documents?refresh=true", encoded(chunk))
	switch {
	case status != http.StatusOK:
		return refusal(status, text), string(text)
	case strings.Contains(string(text), `"failed"`):
		return refused, string(text)
	}
	matrixLock.Lock()
	defer matrixLock.Unlock()
	m.written[kb] = append(m.written[kb], id)
	return whole, string(text)
}

// refusal is a refusal if it has a code that may be gone at the next attempt.
func refusal(status int, text []byte) verdict {
	var problem struct{ Code fault.Kind }
	if json.Unmarshal(text, &problem) != nil || problem.Code == "" || problem.Code == fault.Internal || status < http.StatusServiceUnavailable {
		return ""
	}
	return refused
}

// recovers waits until everything is whole, and looks for what was acknowledged.
func (m *matrix) recovers(t *testing.T) {
	m.t = t
	for _, kb := range matrixBases {
		eventually(t, kb+" is written to again", func() bool { v, _ := m.writes(kb); return v == whole })
		eventually(t, kb+" is whole again", func() bool { v, _ := m.searches(kb); return v == whole })
		for _, id := range m.written[kb] {
			eventually(t, "chunk "+id+" of "+kb, func() bool {
				status, text := m.ask(http.MethodGet, cli.BasePath(kb)+"/chunks/"+id, "")
				if status == http.StatusNotFound {
					t.Fatalf("%s lost chunk %s, which was acknowledged: %s; want status other than StatusNotFound", kb, id, brief.Of(text))
				}
				return status == http.StatusOK
			})
		}
		m.written[kb] = m.written[kb][max(0, len(m.written[kb])-20):] // later ones were looked for often enough
	}
}

func tallied(all []verdict) string {
	var parts []string
	for _, v := range []verdict{whole, degraded, refused} {
		if n := len(slices.DeleteFunc(slices.Clone(all), func(other verdict) bool { return other != v })); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, v))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "-")
}
