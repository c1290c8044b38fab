package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/gateway/chunks"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/internal/seeds"
	"github.com/hybridge-search/hybridge/search"
)

// TestKilledAgainAndAgain kills the gateway at random moments while chunks are
// written, and wants after every restart exactly what was acknowledged: nothing
// lost, no document half old and half new, text and vectors of the same chunks.
//
// Promise: "every document must be in the version" (docs/stamina.md).
func TestKilledAgainAndAgain(t *testing.T) {
	t.Parallel()
	kills := countOf(t, killsVariable, 5)
	name, folder := copied(t), t.TempDir()
	random := seeds.New(t)
	writers := []*killedWriter{newKilledWriter(0, random), newKilledWriter(1, random)}
	p := serve(t, name, folder, "HYBRIDGE_LOG_LEVEL=warn")
	p.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "k", "dimensions": 2}, nil)
	for round := range kills {
		if round%5 == 4 { // in the middle of the start, too
			time.Sleep(time.Duration(random.IntN(200)) * time.Millisecond)
		} else {
			writeUntilKilled(p, writers, time.Duration(50+random.IntN(1500))*time.Millisecond)
		}
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		p = serve(t, name, folder, "HYBRIDGE_LOG_LEVEL=warn")
		chunks := 0
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
	devservices.Report(t, fmt.Sprintf("%d kills: %d writes acknowledged, all there; of %d in flight when it was killed %d had been done.\n",
		kills, acknowledged, unknown, done))
}

// writeUntilKilled lets the writers write and kills the gateway after a while.
func writeUntilKilled(p *process, writers []*killedWriter, after time.Duration) {
	var group sync.WaitGroup
	for _, w := range writers {
		group.Go(func() {
			for w.write(p) {
			}
		})
	}
	time.Sleep(after)
	_ = p.cmd.Process.Kill()
	group.Wait()
}

func (r *running) described(kb string) (d struct{ Chunks, Vectors int }) {
	r.t.Helper()
	r.must(http.MethodGet, cli.BasePath(kb), nil, &d)
	return d
}

// edition of a document tells all about its chunks; 0 is no document.
type edition int

// documents are those that one writer replaces, adds and deletes.
const documents = 60

// killedWriter changes documents of its own and remembers what was acknowledged.
type killedWriter struct {
	number  int
	random  *rand.Rand
	last    edition
	certain [documents]edition
	// what was under way when the gateway was killed: nothing below 0.
	document int
	wanted   edition
	inParts  bool // some of its chunks may be there and others not

	acknowledged, unknown, done int
}

func newKilledWriter(number int, random *rand.Rand) *killedWriter {
	return &killedWriter{number: number, random: rand.New(rand.NewPCG(random.Uint64(), 0)), document: -1}
}

func (w *killedWriter) id(document int) string { return fmt.Sprintf("w%dd%d", w.number, document) }

// word is in the chunks of one version of one document only.
func (w *killedWriter) word(document int, v edition) string {
	return fmt.Sprintf("%sv%d", w.id(document), v)
}

func (w *killedWriter) size(document int, v edition) int {
	if v == 0 {
		return 0
	}
	return 1 + (document*31+int(v)*17)%150
}

func (w *killedWriter) lines(document int, v edition) string {
	var lines strings.Builder
	word := w.word(document, v)
	angle := float64(document) + float64(v)/1000
	for i := range w.size(document, v) {
		fmt.Fprintf(&lines, `{"id": "%s-%d", "document_id": "%s", "content": "%s 第%d段", "vector": [%g, %g]}`+"\n",
			word, i, w.id(document), word, i, math.Cos(angle), math.Sin(angle))
	}
	return lines.String()
}

// write changes one document; false when nobody answered.
func (w *killedWriter) write(p *process) bool {
	w.document = w.random.IntN(documents)
	w.last++
	w.wanted, w.inParts = w.last, false
	there := w.certain[w.document] != 0
	method, path := http.MethodPut, cli.BasePath("k")+"/documents/"+w.id(w.document)
	switch {
	case there && w.random.IntN(5) == 0:
		method, w.wanted = http.MethodDelete, 0
	case !there && w.random.IntN(2) == 0:
		method, path, w.inParts = http.MethodPost, cli.BasePath("k")+"/documents", true
	}
	request, err := http.NewRequest(method, p.url+path, strings.NewReader(w.lines(w.document, w.wanted)))
	if err != nil {
		return false
	}
	request.Header.Set("Content-Type", cli.AsNDJSON)
	response, err := p.http.Do(request)
	if err != nil {
		return false
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return false
	}
	if response.StatusCode != http.StatusOK || strings.Contains(string(text), `"failed"`) {
		p.t.Errorf("%s %s: %d %s; want response.StatusCode StatusOK and no `\"failed\"` in it", method, path, response.StatusCode, brief.Of(text))
		return false
	}
	w.certain[w.document] = w.wanted
	w.document = -1
	w.acknowledged++
	return true
}

// check compares what there is with what was acknowledged, learns what became
// of the write under way, and counts the chunks.
func (w *killedWriter) check(p *process) (chunks int) {
	p.t.Helper()
	if w.document >= 0 {
		w.unknown++
	}
	for d := range documents {
		found := w.read(p, d)
		switch {
		case found.edition == w.certain[d] && found.chunks == w.size(d, found.edition):
		case d == w.document && found.edition == w.wanted &&
			(found.chunks == w.size(d, found.edition) || w.inParts):
			w.done++
			w.certain[d] = found.edition
		default:
			p.t.Errorf("%s has %d chunks of edition %d; acknowledged is edition %d of %d chunks", w.id(d), found.chunks,
				found.edition, w.certain[d], w.size(d, w.certain[d]))
		}
		chunks += found.chunks
	}
	w.document = -1
	for range 10 {
		d := w.random.IntN(documents)
		w.search(p, d, w.read(p, d))
	}
	return chunks
}

// stored is what the gateway has of a document.
type stored struct {
	edition
	chunks int
}

// read reads a document from the truth; its chunks must be of one version.
func (w *killedWriter) read(p *process, document int) (s stored) {
	p.t.Helper()
	path := cli.BasePath("k") + "/documents/" + w.id(document) + "?limit=1000"
	if status, _ := p.ask(http.MethodGet, path, ""); status == http.StatusNotFound {
		return stored{}
	}
	var page chunks.DocumentChunks
	p.must(http.MethodGet, path, nil, &page)
	for _, c := range page.Chunks {
		s.take(p.t, &c, w.id(document))
	}
	return s
}

func (s *stored) take(t *testing.T, c *engine.Chunk, document string) {
	t.Helper()
	var v edition
	var place int
	if _, err := fmt.Sscanf(c.ID, document+"v%d-%d", &v, &place); err != nil || s.chunks > 0 && v != s.edition {
		t.Errorf("%s has the chunk %s beside edition %d", document, c.ID, s.edition)
	}
	s.edition = v
	s.chunks++
}

// search wants text and vectors to know the chunks of the version there is, and
// of no other.
func (w *killedWriter) search(p *process, document int, now stored) {
	p.t.Helper()
	candidates, required := 1000, true
	for v := max(1, now.edition-1); v <= now.edition; v++ {
		response := p.search(search.Request{
			Query: w.word(document, v), KnowledgeBases: []string{"k"}, Preset: "script_score", TopK: &candidates,
			Vector: []float32{1, 0}, Overrides: search.Overrides{TextRequired: &required, Candidates: &candidates},
		})
		want := 0
		if v == now.edition {
			want = now.chunks
		}
		if response.Total.Value != want || len(response.Hits) != want {
			p.t.Errorf("%s is found in %d chunks, want %d", w.word(document, v), response.Total.Value, want)
		}
		for _, h := range response.Hits {
			if h.VectorSimilarity == nil {
				p.t.Errorf("%s has lost its vector; want a h.VectorSimilarity", h.ID)
			}
		}
	}
}
