package benchmarks

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/internal/devservices"
)

const (
	chunkCount    = 20_000
	perPreset     = 1000 // questions, each asked once: most of their words are new to the gateway
	inTurns       = 600  // of them by everybody in turn, the others by one after the other alone
	cpuRound      = 50   // questions that one process is asked alone before the next one is
	perEmbedded   = 600
	clients       = 8 // at saturation
	saturation    = time.Second
	saturationRun = 12 // rounds
)

var presets = []string{"script_score", "balanced", "rrf", "text"}

// world is a knowledge base on Elasticsearch with a gateway in front, and a
// second gateway whose requests are recorded.
type world struct {
	target    string
	kb        string
	gateway   *gateway
	recorded  *gateway
	recorder  *recorder
	questions []question
	chunks    []engine.Chunk
}

// BenchmarkServers measures the real binary, on Elasticsearch and on its own
// engine. Vectors come with the questions, so no embedding is measured.
func BenchmarkServers(b *testing.B) {
	w := &world{target: strings.TrimSuffix(devservices.Elasticsearch(b), "/")}
	w.kb = fmt.Sprintf("bench-%d", os.Getpid())
	w.chunks = corpus(b, chunkCount)
	w.questions = questions(b, len(presets)*perPreset+perEmbedded)
	w.gateway = startGateway(b, w.target)
	w.gateway.fill(b, "elasticsearch", w.kb, w.chunks)
	w.recorder = startRecorder(b, w.target)
	w.recorded = startGateway(b, w.recorder.url)
	w.settle(b)
	w.use(b)
	for i, preset := range presets {
		asked := w.questions[i*perPreset:][:perPreset]
		b.Run("gateway/"+preset, func(b *testing.B) { w.overhead(b, preset, asked) })
	}
	b.Run("embedded", func(b *testing.B) { w.embedded(b, w.questions[len(presets)*perPreset:]) })
}

// settle lets Elasticsearch finish with what was written, so that it is at its
// best: one segment, nothing running in the background.
func (w *world) settle(b *testing.B) {
	b.Helper()
	if err := w.recorded.search(w.body(b, "script_score", w.questions[0])); err != nil {
		b.Fatal(err)
	}
	index, _, _ := strings.Cut(strings.TrimPrefix(w.recorder.taken()[0].Path, "/"), "/")
	if _, err := send(http.DefaultClient, w.target+"/"+index+"/_forcemerge?max_num_segments=1",
		"application/json", nil); err != nil {
		b.Fatal(err)
	}
	if err := w.gateway.search(w.body(b, "balanced", w.questions[0])); err != nil { // it takes its sample of vectors
		b.Fatal(err)
	}
	if err := w.recorded.search(w.body(b, "balanced", w.questions[0])); err != nil {
		b.Fatal(err)
	}
}

// use has the gateway answer questions that it is not measured by until its memory is
// that of one that has been running for a while: new memory comes from the kernel, page
// by page.
func (w *world) use(b *testing.B) {
	b.Helper()
	var bodies [][]byte
	for _, preset := range presets {
		bodies = append(bodies, w.bodies(b, preset, w.questions[len(presets)*perPreset:][:20])...)
	}
	if _, err := rate(clients, 10*time.Second, func(i int) error { return w.gateway.search(bodies[i%len(bodies)]) }); err != nil {
		b.Fatal(err)
	}
}

func (w *world) body(b *testing.B, preset string, q question) []byte {
	b.Helper()
	request := map[string]any{"query": q.Text, "plain": true, "knowledge_bases": []string{w.kb}, "preset": preset, "top_k": 10}
	if preset != "text" {
		request["vector"] = q.Vector
	}
	body, err := json.Marshal(request)
	if err != nil {
		b.Fatal(err)
	}
	return body
}

func (w *world) bodies(b *testing.B, preset string, asked []question) [][]byte {
	b.Helper()
	all := make([][]byte, len(asked))
	for i, q := range asked {
		all[i] = w.body(b, preset, q)
	}
	return all
}

// record asks each question of the recorded gateway and keeps what it sent.
func (w *world) record(b *testing.B, bodies [][]byte) [][]statement {
	b.Helper()
	all := make([][]statement, len(bodies))
	w.recorder.taken()
	for i, body := range bodies {
		if err := w.recorded.search(body); err != nil {
			b.Fatal(err)
		}
		if all[i] = w.recorder.taken(); len(all[i]) == 0 {
			b.Fatalf("question %d sent nothing to Elasticsearch", i)
		}
	}
	return all
}

// hops are the ways of a question to Elasticsearch: through the gateway, or as the
// requests recorded of it, sent directly, by a bare proxy or by a relay.
type hops struct {
	*world
	bodies      [][]byte
	statements  [][]statement
	direct      *direct
	bare, relay *proxy
}

// hopsOf starts the proxies that send the recorded statements.
func (w *world) hopsOf(b *testing.B, bodies [][]byte, statements [][]statement) *hops {
	b.Helper()
	given := recording{Target: w.target, Compressed: w.recorder.compressed, Statements: statements}
	h := &hops{world: w, bodies: bodies, statements: statements, direct: &direct{w.target, newClient(given.Compressed)}}
	h.bare = startProxy(b, given)
	given.Relay = true
	h.relay = startProxy(b, given)
	warmUp(b, 20, func(i int) error {
		return errors.Join(h.direct.send(statements[i]), h.bare.forward(i, bodies[i]), h.relay.forward(i, bodies[i]))
	})
	return h
}

// contestants run the hops in turn. A question's number may exceed how many there are.
func (h *hops) contestants() []contestant {
	return []contestant{
		{"gateway", func(i int) error { return h.gateway.search(h.bodies[i%len(h.bodies)]) }},
		{"direct", func(i int) error { return h.direct.send(h.statements[i%len(h.bodies)]) }},
		{"proxy", func(i int) error { return h.bare.forward(i%len(h.bodies), h.bodies[i%len(h.bodies)]) }},
		{"relay", func(i int) error { return h.relay.forward(i%len(h.bodies), h.bodies[i%len(h.bodies)]) }},
	}
}

// processes are those of the hops that have one.
func (h *hops) processes() map[string]*exec.Cmd {
	return map[string]*exec.Cmd{"gateway": h.gateway.cmd, "proxy": h.bare.cmd, "relay": h.relay.cmd}
}

// overhead is what the gateway adds to the requests that it sends: at one
// client and at saturation, in its own processor time too.
func (w *world) overhead(b *testing.B, preset string, asked []question) {
	bodies := w.bodies(b, preset, asked)
	fresh := w.record(b, bodies)
	known := w.record(b, bodies) // its words are known now, as at saturation
	figures := []figure{{"repeated-chunks", float64(repeated(w.chunks))}}
	figures = append(figures, w.hopsOf(b, bodies, fresh).oneClient(b)...)
	show(b, append(figures, w.hopsOf(b, bodies, known).saturated(b)...)...)
}

func (h *hops) oneClient(b *testing.B) []figure {
	took := inTurn(b, inTurns, h.contestants()...)
	spent := h.cpuAlone(b)
	requests := 0
	for _, statements := range h.statements {
		requests += len(statements)
	}
	p50 := func(by string) float64 { return milliseconds(took[by].percentile(50)) }
	p99 := func(by string) float64 { return milliseconds(took[by].percentile(99)) }
	added := func(by string) float64 { return milliseconds(took[by].less(took["direct"]).percentile(50)) }
	return append(
		noise(took),
		figure{"requests", float64(requests) / float64(len(h.statements))},
		figure{"direct-p50-ms", p50("direct")}, figure{"direct-p99-ms", p99("direct")},
		figure{"gateway-p50-ms", p50("gateway")}, figure{"gateway-p99-ms", p99("gateway")},
		figure{"added-p50-ms", added("gateway")}, figure{"added-p99-ms", p99("gateway") - p99("direct")},
		figure{"proxy-added-p50-ms", added("proxy")}, figure{"relay-added-p50-ms", added("relay")},
		figure{"added-p50-of-proxy", added("gateway") / added("proxy")},
		figure{"cpu-ms", median(spent["gateway"])},
		figure{"proxy-cpu-ms", median(spent["proxy"])}, figure{"relay-cpu-ms", median(spent["relay"])},
		figure{"cpu-of-proxy", median(ratios(spent["gateway"], spent["proxy"]))},
		figure{"cpu-of-relay", median(ratios(spent["gateway"], spent["relay"]))},
	)
}

// cpuAlone is the processor time in ms that each process takes for a question, per round.
// In a round each of them is asked the same questions, one after the other, while nobody
// else is asked anything.
func (h *hops) cpuAlone(b *testing.B) map[string][]float64 {
	b.Helper()
	spent := map[string][]float64{}
	for from := inTurns; from < len(h.bodies); from += cpuRound {
		to := min(from+cpuRound, len(h.bodies))
		for _, c := range h.contestants() {
			cmd, ok := h.processes()[c.name]
			if !ok {
				continue
			}
			before := cpuOf(b, cmd)
			for i := from; i < to; i++ {
				if err := c.run(i); err != nil {
					b.Fatal(err)
				}
			}
			spent[c.name] = append(spent[c.name], milliseconds(cpuOf(b, cmd)-before)/float64(to-from))
		}
	}
	return spent
}

func (h *hops) saturated(b *testing.B) []figure {
	asked, before := map[string]*atomic.Int64{}, map[string]time.Duration{}
	contestants := h.contestants()
	for i, c := range contestants {
		count := new(atomic.Int64)
		asked[c.name] = count
		contestants[i].run = func(i int) error {
			count.Add(1)
			return c.run(i)
		}
	}
	for name, cmd := range h.processes() {
		before[name] = cpuOf(b, cmd)
	}
	served := rates(b, clients, saturationRun, saturation, contestants...)
	cpu := func(of string) float64 {
		return milliseconds(cpuOf(b, h.processes()[of])-before[of]) / float64(asked[of].Load())
	}
	gateway, relay := cpu("gateway"), cpu("relay")
	return []figure{
		{"direct-qps", median(served["direct"])},
		{"relay-qps", median(served["relay"])},
		{"proxy-qps", median(served["proxy"])},
		{"gateway-qps", median(served["gateway"])},
		{"saturated-cpu-ms", gateway},
		{"saturated-relay-cpu-ms", relay},
		{"saturated-proxy-cpu-ms", cpu("proxy")},
		{"saturated-cpu-of-relay", gateway / relay},
		{"of-proxy", median(ratios(served["gateway"], served["proxy"]))},
		{"of-direct", median(ratios(served["gateway"], served["direct"]))},
	}
}

func warmUp(b *testing.B, n int, run func(i int) error) {
	b.Helper()
	for i := range n {
		if err := run(i); err != nil {
			b.Fatal(err)
		}
	}
}
