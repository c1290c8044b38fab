package benchmarks

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
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

// recordBusy records what is sent while another search is under way. That one is let go
// now and then, before its time is up.
func (w *world) recordBusy(b *testing.B, bodies [][]byte) [][]statement {
	b.Helper()
	all := make([][]statement, 0, len(bodies))
	other := w.body(b, "text", w.questions[0])
	for some := range slices.Chunk(bodies, 100) {
		release := w.recorder.detain(b, func() error { return w.recorded.search(other) })
		all = append(all, w.record(b, some)...)
		release()
	}
	return all
}

// overhead is what the gateway adds to the requests that it sends: at one
// client and at saturation, in its own processor time too.
func (w *world) overhead(b *testing.B, preset string, asked []question) {
	bodies := w.bodies(b, preset, asked)
	fresh := w.record(b, bodies)
	known := w.recordBusy(b, bodies) // and its words are known now, as at saturation
	elasticsearch := &direct{w.target, newClient(w.recorder.compressed)}
	warmUp(b, 20, func(i int) error { return elasticsearch.send(fresh[i]) })

	given := recording{Target: w.target, Compressed: w.recorder.compressed, Statements: fresh}
	bare := startProxy(b, given)
	given.Relay = true
	relay := startProxy(b, given)
	warmUp(b, 20, func(i int) error { return errors.Join(bare.forward(i, bodies[i]), relay.forward(i, bodies[i])) })

	took := inTurn(b, inTurns,
		contestant{"gateway", func(i int) error { return w.gateway.search(bodies[i]) }},
		contestant{"direct", func(i int) error { return elasticsearch.send(fresh[i]) }},
		contestant{"proxy", func(i int) error { return bare.forward(i, bodies[i]) }},
		contestant{"relay", func(i int) error { return relay.forward(i, bodies[i]) }},
	)
	cpu := func(cmd *exec.Cmd, run func(i int) error) float64 { return cpuAlone(b, cmd, inTurns, len(bodies), run) }
	gatewayCPU := cpu(w.gateway.cmd, func(i int) error { return w.gateway.search(bodies[i]) })
	bareCPU := cpu(bare.cmd, func(i int) error { return bare.forward(i, bodies[i]) })
	relayCPU := cpu(relay.cmd, func(i int) error { return relay.forward(i, bodies[i]) })

	given.Statements = known
	busyRelay := startProxy(b, given)
	given.Relay = false
	saturated := startProxy(b, given)
	warmUp(b, 20, func(i int) error {
		return errors.Join(saturated.forward(i, bodies[i]), busyRelay.forward(i, bodies[i]))
	})
	var answered, relayed atomic.Int64
	busyBefore, busyRelayBefore := w.gateway.cpu(b), cpuOf(b, busyRelay.cmd)
	served := rates(b, clients, saturationRun, saturation,
		contestant{"gateway", func(i int) error {
			answered.Add(1)
			return w.gateway.search(bodies[i%len(bodies)])
		}},
		contestant{"proxy", func(i int) error { return saturated.forward(i%len(bodies), bodies[i%len(bodies)]) }},
		contestant{"relay", func(i int) error {
			relayed.Add(1)
			return busyRelay.forward(i%len(bodies), bodies[i%len(bodies)])
		}},
		contestant{"direct", func(i int) error { return elasticsearch.send(known[i%len(known)]) }},
	)
	busyCPU, busyRelayCPU := w.gateway.cpu(b)-busyBefore, cpuOf(b, busyRelay.cmd)-busyRelayBefore

	n := 0
	for _, statements := range fresh {
		n += len(statements)
	}
	added := func(by string) float64 { return milliseconds(took[by].less(took["direct"]).percentile(50)) }
	addedAtMost := func(by string) float64 {
		return milliseconds(took[by].percentile(99) - took["direct"].percentile(99))
	}
	show(
		b, append(noise(took),
			figure{"requests", float64(n) / float64(len(fresh))},
			figure{"direct-p50-ms", milliseconds(took["direct"].percentile(50))},
			figure{"direct-p99-ms", milliseconds(took["direct"].percentile(99))},
			figure{"gateway-p50-ms", milliseconds(took["gateway"].percentile(50))},
			figure{"gateway-p99-ms", milliseconds(took["gateway"].percentile(99))},
			figure{"added-p50-ms", added("gateway")}, figure{"added-p99-ms", addedAtMost("gateway")},
			figure{"cpu-ms", gatewayCPU},
			figure{"proxy-added-p50-ms", added("proxy")}, figure{"proxy-added-p99-ms", addedAtMost("proxy")},
			figure{"proxy-cpu-ms", bareCPU},
			figure{"relay-added-p50-ms", added("relay")},
			figure{"relay-cpu-ms", relayCPU},
			figure{"direct-qps", median(served["direct"])},
			figure{"proxy-qps", median(served["proxy"])},
			figure{"gateway-qps", median(served["gateway"])},
			figure{"saturated-cpu-ms", milliseconds(busyCPU) / float64(answered.Load())},
			figure{"saturated-relay-cpu-ms", milliseconds(busyRelayCPU) / float64(relayed.Load())},
			figure{"of-proxy", median(ratios(served["gateway"], served["proxy"]))},
			figure{"proxy-of-direct", median(ratios(served["proxy"], served["direct"]))},
		)...)
}

// cpuAlone is the processor time in ms that a process takes for each of some questions,
// asked one after the other while nobody else asks anything.
func cpuAlone(b *testing.B, cmd *exec.Cmd, from, to int, ask func(i int) error) float64 {
	b.Helper()
	before := cpuOf(b, cmd)
	for i := from; i < to; i++ {
		if err := ask(i); err != nil {
			b.Fatal(err)
		}
	}
	return milliseconds(cpuOf(b, cmd)-before) / float64(to-from)
}

func warmUp(b *testing.B, n int, run func(i int) error) {
	b.Helper()
	for i := range n {
		if err := run(i); err != nil {
			b.Fatal(err)
		}
	}
}
