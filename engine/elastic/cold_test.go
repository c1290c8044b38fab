package elastic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/mappings"
	"github.com/hybridge-search/hybridge/textquery"
)

// smileWriter writes what answers to searches are made of, as Elasticsearch does:
// a name that was there before by its number.
type smileWriter struct {
	bytes.Buffer
	names map[string]int
}

func newSmileWriter() *smileWriter {
	w := &smileWriter{names: map[string]int{}}
	w.WriteString(smileHeader + "\x05")
	return w
}

func (w *smileWriter) name(name string) {
	if n, known := w.names[name]; known {
		w.WriteByte(byte(0x40 + n))
		return
	}
	w.names[name] = len(w.names)
	w.WriteByte(byte(0x80 + len(name) - 1))
	w.WriteString(name)
}

func (w *smileWriter) float(name string, f float32) {
	w.name(name)
	bits := uint64(math.Float32bits(f))
	w.Write([]byte{
		smileFloat32, byte(bits >> 28), byte(bits>>21) & 0x7F, byte(bits>>14) & 0x7F, byte(bits>>7) & 0x7F, byte(bits) & 0x7F,
	})
}

func (w *smileWriter) values(name string, values ...string) {
	w.name(name)
	w.WriteByte(smileArray)
	for _, value := range values {
		w.WriteByte(byte(0x40 + len(value) - 1))
		w.WriteString(value)
	}
	w.WriteByte(smileArrayEnd)
}

func (w *smileWriter) begin(name string) {
	w.name(name)
	w.WriteByte(smileObject)
}

func (w *smileWriter) end() { w.WriteByte(smileObjectEnd) }

// answer writes n hits of a sum of two legs, whose texts not all match.
func (w *smileWriter) answer(n int) {
	w.WriteByte(smileObject)
	w.begin("hits")
	w.name("hits")
	w.WriteByte(smileArray)
	for i := range n {
		w.WriteByte(smileObject)
		w.float("_score", 2-float32(i)/3000)
		w.begin("fields")
		w.values("document_name", "guide.md")
		w.values("id", fmt.Sprint("chunk-", i*7919%n))
		w.values("document_id", fmt.Sprint("d-", i*7919%n/3))
		w.end()
		w.begin("matched_queries")
		if i%3 > 0 {
			w.float("leg0", float32(i*7919%977)/50)
		}
		w.float("leg1", 2-float32(i*31%3000)/3000)
		w.end()
		w.end()
	}
	w.WriteByte(smileArrayEnd)
	w.end()
	w.end()
}

// replayed is a connection with the same answer to every request of a kind.
type replayed struct {
	deadEnd
	answers map[string][]byte // by what the path ends with
}

func (c *replayed) Write(p []byte) (int, error) {
	for kind, answer := range c.answers {
		if line, _, _ := bytes.Cut(p, []byte("\r\n")); bytes.Contains(line, []byte("/"+kind)) {
			c.unread = answer
		}
	}
	return len(p), nil
}

// chunked is an answer as Elasticsearch sends a long one.
func chunked(body []byte) []byte {
	var all bytes.Buffer
	all.WriteString("HTTP/1.1 200 OK\r\nX-elastic-product: Elasticsearch\r\n" +
		"content-type: application/smile\r\ntransfer-encoding: chunked\r\n\r\n")
	for chunk := range slices.Chunk(body, 32<<10) {
		_, _ = fmt.Fprintf(&all, "%x\r\n%s\r\n", len(chunk), chunk)
	}
	all.WriteString("0\r\n\r\n")
	return all.Bytes()
}

// replaying is an engine whose answers come from memory.
func replaying(tb testing.TB, kb *engine.KnowledgeBase, search, legs []byte) *Engine {
	tb.Helper()
	e, err := New(Options{URLs: []string{"http://es:9200"}, Tokenizer: noTokens{}, APIKey: "a2V5"})
	if err != nil {
		tb.Fatal(err)
	}
	index, err := mappings.Desired(kb, noTokens{}.Fingerprint())
	if err != nil {
		tb.Fatal(err)
	}
	live, err := json.Marshal(map[string]mappings.Index{"the-index": index})
	if err != nil {
		tb.Fatal(err)
	}
	answers := map[string][]byte{"_mapping": chunked(live), "_search": chunked(search), "_msearch": chunked(legs)}
	e.dial(func() net.Conn { return &replayed{answers: answers} })
	return e
}

// coldPage is the answer with ten chunks of 1 kB.
func coldPage(tb testing.TB) (page []byte, ids []string) {
	tb.Helper()
	var hits []string
	for i := range 10 {
		id := fmt.Sprint("chunk-", i)
		ids = append(ids, id)
		chunk, err := json.Marshal(map[string]any{"chunk": &engine.Chunk{
			ID: id, DocumentID: fmt.Sprint("d-", i), DocumentName: "guide.md", Ordinal: i, Available: true,
			Content:  strings.Repeat("refunds are paid within three days ", 30) + "\n",
			Metadata: map[string]any{"topic": "refunds", "year": 2024},
		}})
		if err != nil {
			tb.Fatal(err)
		}
		hits = append(hits, fmt.Sprintf(`{"_id":"x%d","_score":1.5,"_source":%s,"matched_queries":{"leg0":2.5,"leg1":1.5}}`, i, chunk))
	}
	return []byte(`{"took":1,"timed_out":false,"_shards":{"total":1,"failed":0},"hits":{"hits":[` + strings.Join(hits, ",") + `]}}`), ids
}

func coldLegs() []engine.Leg {
	vector := make([]float32, 384)
	for i := range vector {
		vector[i] = 1 / float32(i+3)
	}
	return []engine.Leg{
		{Name: "text", Field: engine.FieldText, K: 100, Text: &textquery.Query{Terms: []textquery.Term{
			{Text: "refund", Weight: 1}, {Text: "day", Weight: 0.7}, {Text: "paid", Weight: 0.9},
		}}},
		{Name: "vector", Field: engine.FieldVector, K: 100, Vector: vector},
	}
}

// BenchmarkCold is the engine's own work with cold caches: a sum of 1,024
// candidates, two legs, a page. It gives the first quarter and the middle of the
// times.
func BenchmarkCold(b *testing.B) {
	kb := engine.KnowledgeBase{
		Ref: engine.Ref{Tenant: "acme", ID: "manuals"}, Kind: engine.KindChunks, Dimensions: 384,
		Analyzer: engine.AnalyzerJieba,
	}
	sum := newSmileWriter()
	sum.answer(1024)
	legs := newSmileWriter()
	legs.WriteByte(smileObject)
	legs.name("responses")
	legs.WriteByte(smileArray)
	legs.answer(100)
	legs.answer(100)
	legs.WriteByte(smileArrayEnd)
	legs.end()
	page, ids := coldPage(b)
	ranked := replaying(b, &kb, sum.Bytes(), legs.Bytes())
	read := replaying(b, &kb, page, legs.Bytes())
	cold(b, "sum", func() error {
		result, err := ranked.Search(b.Context(), &engine.Request{
			KB: kb, Legs: coldLegs(), Sum: &engine.Sum{Candidates: 1024, Weights: []float64{0.05, 0.95}},
		})
		if err == nil && len(result.Hits) != 1024 {
			b.Fatal(len(result.Hits))
		}
		return err
	})
	cold(b, "legs", func() error {
		_, err := ranked.Search(b.Context(), &engine.Request{KB: kb, Legs: coldLegs(), DeferScores: true})
		return err
	})
	cold(b, "page", func() error {
		chunks, _, err := read.ScoreChunks(b.Context(), engine.ChunksRequest{KB: kb, IDs: ids}, coldLegs())
		if err == nil && len(chunks) != len(ids) {
			b.Fatal(len(chunks))
		}
		return err
	})
}

// others is more memory than caches hold.
var others = make([]int, 8<<20)

func cold(b *testing.B, name string, step func() error) {
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		var took []time.Duration
		for b.Loop() {
			for i := 0; i < len(others); i += 8 {
				others[i]++
			}
			start := time.Now()
			if err := step(); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(start))
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/4])/1e3, "µs-p25")
		b.ReportMetric(float64(took[len(took)/2])/1e3, "µs-p50")
		b.ReportMetric(0, "ns/op")
	})
}
