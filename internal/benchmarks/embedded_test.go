package benchmarks

import (
	"encoding/json"
	"testing"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/embedded"
	"github.com/hybridge-search/hybridge/internal/realtokens"
	planners "github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/search"
)

// embedded compares the whole script_score search on the embedded engine, as a
// library and over HTTP, with what the same search asks of Elasticsearch: the
// scoring request alone, for the preset's candidates and for ten hits, and all of
// its requests.
func (w *world) embedded(b *testing.B, asked []question) {
	const preset, id = "script_score", "bench"
	bodies := w.bodies(b, preset, asked)
	fresh := w.record(b, bodies)
	scoring := w.scoringRequests(b, bodies)
	ten := w.scoringRequests(b, forTen(b, bodies))
	own := startGateway(b, "")
	own.fill(b, "embedded", id, w.chunks)
	searcher := openSearcher(b, id, w.chunks)
	elasticsearch := &direct{w.target, newClient(w.recorder.compressed)}
	renamed := *w
	renamed.kb = id
	bodies = renamed.bodies(b, preset, asked)
	requests := make([]search.Request, len(bodies)) // a program that has the library in it has no JSON
	for i, body := range bodies {
		if err := json.Unmarshal(body, &requests[i]); err != nil {
			b.Fatal(err)
		}
	}
	library := func(i int) error {
		_, err := searcher.Search(b.Context(), access.Scope{Tenant: tenant}, requests[i])
		return err
	}
	overHTTP := func(i int) error { return own.search(bodies[i]) }
	warmUp(b, 20, library)
	warmUp(b, 20, overHTTP)

	before := own.cpu(b)
	took := inTurn(b, len(bodies),
		contestant{"library", library},
		contestant{"http", overHTTP},
		contestant{"scoring", func(i int) error { return elasticsearch.send(scoring[i]) }},
		contestant{"ten", func(i int) error { return elasticsearch.send(ten[i]) }},
		contestant{"whole", func(i int) error { return elasticsearch.send(fresh[i]) }},
	)
	cpu := own.cpu(b) - before
	p50 := func(name string) float64 { return milliseconds(took[name].percentile(50)) }
	p99 := func(name string) float64 { return milliseconds(took[name].percentile(99)) }
	show(
		b, append(noise(took),
			figure{"library-p50-ms", p50("library")}, figure{"library-p99-ms", p99("library")},
			figure{"http-p50-ms", p50("http")}, figure{"http-p99-ms", p99("http")},
			figure{"elasticsearch-p50-ms", p50("scoring")}, figure{"elasticsearch-p99-ms", p99("scoring")},
			figure{"elasticsearch-ten-p50-ms", p50("ten")}, figure{"elasticsearch-ten-p99-ms", p99("ten")},
			figure{"elasticsearch-whole-p50-ms", p50("whole")}, figure{"elasticsearch-whole-p99-ms", p99("whole")},
			figure{"times-faster-library", p50("scoring") / p50("library")},
			figure{"times-faster-http", p50("scoring") / p50("http")},
			figure{"times-faster-ten-library", p50("ten") / p50("library")},
			figure{"times-faster-ten-http", p50("ten") / p50("http")},
			figure{"times-faster-whole", p50("whole") / p50("http")},
			figure{"cpu-ms", milliseconds(cpu) / float64(len(bodies))},
			figure{"resident-MB", own.resident(b)},
		)...)
}

// scoringRequests are what the searches send to be scored, without the request that fetches
// the page.
func (w *world) scoringRequests(b *testing.B, bodies [][]byte) [][]statement {
	b.Helper()
	all := w.record(b, bodies)
	for i, statements := range all {
		all[i] = statements[:1]
	}
	return all
}

// forTen asks for no more candidates than the ten hits that are shown.
func forTen(b *testing.B, bodies [][]byte) [][]byte {
	b.Helper()
	all := make([][]byte, len(bodies))
	for i, body := range bodies {
		var request map[string]json.RawMessage
		if err := json.Unmarshal(body, &request); err != nil {
			b.Fatal(err)
		}
		request["candidates"] = json.RawMessage("10")
		fewer, err := json.Marshal(request)
		if err != nil {
			b.Fatal(err)
		}
		all[i] = fewer
	}
	return all
}

// tenant is whose knowledge base it is in a program without keys.
const tenant = "default"

// openSearcher wires a search over the embedded engine without any HTTP.
func openSearcher(b *testing.B, id string, chunks []engine.Chunk) *search.Searcher {
	b.Helper()
	analyzer, err := realtokens.Analyzer()
	if err != nil {
		b.Fatal(err)
	}
	e, err := embedded.Open(b.Context(), embedded.Options{Path: b.TempDir(), Tokenizer: analyzer})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := e.Close(); err != nil {
			b.Error(err)
		}
	})
	kb := engine.KnowledgeBase{
		Ref: engine.Ref{Tenant: tenant, ID: id}, Name: id, Engine: e.Name(),
		Kind: engine.KindChunks, Dimensions: dims, Analyzer: engine.AnalyzerJieba,
	}
	if err := e.CreateKnowledgeBase(b.Context(), kb); err != nil {
		b.Fatal(err)
	}
	if _, err := e.Write(b.Context(), engine.WriteRequest{KB: kb, Chunks: chunks, Refresh: true}); err != nil {
		b.Fatal(err)
	}
	return search.New(search.Options{
		Catalog: catalog.New([]engine.Engine{e}, catalog.Options{}), Analyzer: analyzer,
		Planners: planners.Builtin(), DefaultPreset: planners.Default,
	})
}
