package main

import (
	"cmp"
	"crypto/tls"
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

// promise is what an answer may be meanwhile. Those of other knowledge bases are whole,
// none is later than request_timeout and a little, nothing acknowledged is lost, and
// everything is whole again without a restart.
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
	typed     = promise{"degraded, or refused with a code", []verdict{whole, degraded, refused}, []verdict{whole, refused}}
	byWords   = promise{"keywords alone, `degraded` says so", []verdict{whole, degraded}, []verdict{whole, refused}}
	readOnly  = promise{"searches as ever, writes refused", []verdict{whole}, []verdict{refused}}
	waits     = promise{"answered when it goes on", []verdict{whole}, []verdict{whole}}
	isBack    = promise{"what was acknowledged is there", nil, nil}
)

// lateAt is the limit of request_timeout for these tests; on a busy machine an answer that
// is due then comes late.
const (
	lateAt  = 4 * time.Second
	tooLate = lateAt + 20*time.Second
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
	table.WriteString("| part | trouble | promised | searches | writes | slowest | whole again after |\n|---|---|---|---|---|---|---|\n")
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
		t.Errorf("the log tells of a panic:\n%s", text)
	}
}

// parts starts the servers and says what may happen to each.
func (m *matrix) parts(t *testing.T, inFull bool) []part {
	shared, prefix := devservices.Indices(t)
	elasticsearch := devservices.NewRelay(t, shared)
	m.set("ELASTICSEARCH_URL=http://"+elasticsearch.Address, "ELASTICSEARCH_TIMEOUT=500ms",
		"ELASTICSEARCH_INDEX_PREFIX="+prefix, "LIMITS_REQUEST_TIMEOUT="+lateAt.String())
	onElasticsearch, address := ofRelay(elasticsearch, typed), shared
	if inFull {
		server := devservices.StartElasticsearch(t, devservices.NewAuthority(t))
		elasticsearch = devservices.NewRelay(t, server.URL)
		m.set("ELASTICSEARCH_URL="+elasticsearch.Instead(server.URL), "ELASTICSEARCH_INSECURE_SKIP_VERIFY=true",
			"ELASTICSEARCH_USERNAME="+devservices.ElasticsearchUser, "ELASTICSEARCH_PASSWORD="+devservices.ElasticsearchPassword)
		onElasticsearch, address = append(ofServer(server, typed), ofRelay(elasticsearch, typed)...), server.URL
	}
	onElasticsearch = append(onElasticsearch, mishap{
		"full disk", func() { blocked(t, address, prefix, "true") }, func() { blocked(t, address, prefix, "null") }, readOnly,
	})
	database, cache := devservices.StartPostgres(t), devservices.StartRedis(t)
	postgres, redis := devservices.NewRelay(t, database.URL), devservices.NewRelay(t, cache.URL)
	model := devservices.NewRelay(t, devservices.Embedding(t))
	m.set("POSTGRES_TIMEOUT=500ms", "POSTGRES_URL="+postgres.Instead(database.URL), "REDIS_URL="+redis.Instead(cache.URL),
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

// blocked sets or lifts the block that Elasticsearch gives its indices when a disk is full.
func blocked(t *testing.T, address, prefix, to string) {
	request, err := http.NewRequest(http.MethodPut, address+"/"+prefix+"-kb-*/_settings",
		strings.NewReader(`{"index.blocks.read_only_allow_delete": `+to+`}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", asJSON)
	request.SetBasicAuth(devservices.ElasticsearchUser, devservices.ElasticsearchPassword)
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // a server of this test
	}}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("the block of a full disk: %s", response.Status)
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
		all = append(all, mishap{of.name, func() { r.Set(of.trouble) }, over, promised})
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
}

// pause stops the gateway where it is, until a moment later.
func (m *matrix) pause(lasting time.Duration) {
	process := m.cmd.Process
	_ = process.Signal(syscall.SIGSTOP)
	time.AfterFunc(lasting, func() { _ = process.Signal(syscall.SIGCONT) })
}

// suffers has a mishap happen, and gives its row of the table.
func (m *matrix) suffers(t *testing.T, p *part, f *mishap) string {
	m.t = t
	f.begin()
	var mu sync.Mutex
	var searches, writes []verdict
	var slowest time.Duration
	var clients sync.WaitGroup
	if f.promise.accepted != nil {
		clients.Go(func() { m.asksTogether(t) })
	}
	for _, kb := range matrixBases {
		needs := slices.Contains(p.needs, kb)
		if f.promise.accepted == nil || kb == "model" && !needs {
			continue // nobody answers, or a model that others may keep busy
		}
		promised := f.promise
		if !needs {
			promised = untouched
		}
		clients.Go(func() {
			searched, wrote, took := m.tries(t, kb, &promised)
			mu.Lock()
			defer mu.Unlock()
			slowest = max(slowest, took)
			if needs {
				searches, writes = append(searches, searched...), append(writes, wrote)
			}
		})
	}
	clients.Wait()
	f.end()
	over := time.Now()
	m.recovers(t)
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %.1f s | %.1f s |\n", p.name, f.name, f.promise.text,
		tallied(searches), tallied(writes), slowest.Seconds(), time.Since(over).Seconds())
}

// tries searches a knowledge base twice, and writes to it.
func (m *matrix) tries(t *testing.T, kb string, promised *promise) (searched []verdict, wrote verdict, slowest time.Duration) {
	check := func(what string, accepted []verdict, do func() (verdict, string)) verdict {
		var got verdict
		var text string
		for patience := time.Now().Add(devservices.Patience); ; {
			asked := time.Now()
			got, text = do()
			took := time.Since(asked)
			slowest = max(slowest, took)
			if took > tooLate {
				t.Errorf("%s %s took %v", what, kb, took)
			}
			// What needs nothing of the part may be late on a busy machine, but not always.
			if slices.Contains(accepted, got) || got == "" || time.Now().After(patience) || len(accepted) > 1 {
				break
			}
		}
		if !slices.Contains(accepted, got) {
			t.Errorf("%s %s: %q, want one of %q: %.400s", what, kb, got, accepted, text)
		}
		return got
	}
	for range 2 {
		searched = append(searched, check("searching", promised.accepted, func() (verdict, string) { return m.searches(kb) }))
	}
	wrote = check("writing to", promised.writes, func() (verdict, string) { return m.writes(kb) })
	return searched, wrote, slowest
}

// asksTogether wants of three knowledge bases what the healthy ones have.
func (m *matrix) asksTogether(t *testing.T) {
	for patience := time.Now().Add(devservices.Patience); ; {
		got, text := m.searches(matrixBases[:3]...)
		if got == whole || got == degraded {
			return
		}
		if time.Now().After(patience) { // a busy machine may be late, but not always
			t.Errorf("three knowledge bases together: %q: %.400s", got, text)
			return
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
	status, text := m.ask(http.MethodPost, basePath(kb)+"/documents?refresh=true", encoded(chunk))
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
				status, text := m.ask(http.MethodGet, basePath(kb)+"/chunks/"+id, "")
				if status == http.StatusNotFound {
					t.Fatalf("%s lost chunk %s, which was acknowledged: %s", kb, id, text)
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
