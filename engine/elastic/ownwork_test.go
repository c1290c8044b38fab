package elastic_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic"
	"github.com/hybridge-search/hybridge/engine/enginetest"
	"github.com/hybridge-search/hybridge/mappings"
)

// canned responses are by the end of the path, without a network.
type canned map[string][]byte

// RoundTrip implements http.RoundTripper.
func (c canned) RoundTrip(req *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, req.Body); err != nil {
		return nil, err
	}
	return answered(req, c[req.URL.Path[strings.LastIndexByte(req.URL.Path, '/')+1:]]), nil
}

func answered(req *http.Request, body []byte) *http.Response {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"X-Elastic-Product": {"Elasticsearch"}}, Request: req,
		Body: io.NopCloser(bytes.NewReader(body)),
	}
}

// liveMapping is Elasticsearch's response to GET _mapping for a knowledge base.
func liveMapping(tb testing.TB, kb engine.KnowledgeBase) []byte {
	tb.Helper()
	index, err := mappings.Desired(&kb, enginetest.Words{}.Fingerprint())
	if err != nil {
		tb.Fatal(err)
	}
	live, err := json.Marshal(map[string]mappings.Index{"the-index": index})
	if err != nil {
		tb.Fatal(err)
	}
	return live
}

// BenchmarkOwnWork measures what the engine itself takes to search, without
// Elasticsearch: writing requests, reading responses, ranking legs.
func BenchmarkOwnWork(b *testing.B) {
	kb := manuals()
	kb.Dimensions = benchDims
	leg := fmt.Sprintf(`{"took":2,%s,"status":200}`, cannedHits(30))
	answers := canned{
		"_mapping": liveMapping(b, kb), "_search": []byte("{" + cannedHits(1024) + "}"),
		"_msearch": []byte(`{"took":5,"responses":[` + leg + `,` + leg + `]}`),
	}
	e, err := elastic.New(elastic.Options{
		URLs: []string{"http://127.0.0.1:9200"}, Tokenizer: enginetest.Words{}, Transport: answers,
	})
	if err != nil {
		b.Fatal(err)
	}
	text, near := textLeg(), vectorLeg()
	near.Vector = make([]float32, benchDims)
	for i := range near.Vector {
		near.Vector[i] = 1 / float32(i+3)
	}
	text.K, near.K = 30, 30
	for name, sum := range map[string]*engine.Sum{"legs": nil, "sum": {Candidates: 1024, Weights: []float64{0.05, 0.95}}} {
		req := &engine.Request{KB: kb, Legs: []engine.Leg{text, near}, Sum: sum}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				result, err := e.Search(b.Context(), req)
				if err != nil || len(result.Hits) < 30 {
					b.Fatal(err)
				}
			}
		})
	}
}

func cannedHits(n int) string {
	var hits strings.Builder
	for i := range n {
		if i > 0 {
			hits.WriteByte(',')
		}
		_, _ = fmt.Fprintf(&hits, `{"_score":2.0%d,"fields":{"document_name":["guide.md"],"id":["chunk-%d"],`+
			`"document_id":["d-%d"]},"matched_queries":{"leg0":%d.65,"leg1":1.%d}}`, 9999-i, i, i/10, i*7919%20, 9999-i*31%3000)
	}
	return `"took":21,"timed_out":false,"_shards":{"total":1,"failed":0},"hits":{"max_score":null,"hits":[` + hits.String() + `]}`
}
