package enginetest

import (
	"context"
	"crypto/rand"
	"sort"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/textquery"
)

// Words is the suite's tokenizer: lower case, split at white space.
type Words struct{}

// Terms implements engine.Tokenizer.
func (Words) Terms(text string) []string { return strings.Fields(strings.ToLower(text)) }

// Fold implements engine.Tokenizer.
func (Words) Fold(text string) string { return strings.ToLower(text) }

// Fingerprint implements engine.Tokenizer.
func (Words) Fingerprint() string { return "enginetest.Words/1" }

// testCase is one named behaviour.
type testCase struct {
	name string
	run  func(t *testing.T, s *suite)
}

// suite is one engine under test.
type suite struct{ engine engine.Engine }

// base is one knowledge base of one case.
type base struct {
	t      *testing.T
	engine engine.Engine
	kb     engine.KnowledgeBase
}

// schema is the part of a knowledge base that a case may choose.
type schema struct {
	Kind       engine.KnowledgeKind `json:"kind"`
	Dimensions int                  `json:"dimensions"`
	Shared     bool                 `json:"shared"`
	// VectorFields are those beside vector.
	VectorFields []engine.VectorField `json:"vector_fields"`
	Boosts       map[string]float64   `json:"fields"`
}

// unique makes a name that no other case, run or machine uses.
func unique(prefix string) string { return prefix + "-" + strings.ToLower(rand.Text()[:12]) }

func (s *suite) definition(sc schema) engine.KnowledgeBase {
	if sc.Kind == "" {
		sc.Kind = engine.KindChunks
	}
	return engine.KnowledgeBase{
		Ref:        engine.Ref{Tenant: unique("tenant"), ID: unique("kb")},
		Name:       "conformance",
		Engine:     s.engine.Name(),
		Kind:       sc.Kind,
		Dimensions: sc.Dimensions,
		Analyzer:   engine.AnalyzerJieba,
		Shared:     sc.Shared,

		VectorFields: sc.VectorFields, Boosts: sc.Boosts,
	}
}

// base makes a knowledge base that is deleted when the case ends.
func (s *suite) base(t *testing.T, sc schema) *base {
	t.Helper()
	return s.create(t, s.definition(sc))
}

func (s *suite) create(t *testing.T, kb engine.KnowledgeBase) *base {
	t.Helper()
	if err := s.engine.CreateKnowledgeBase(t.Context(), kb); err != nil {
		t.Fatalf("creating the knowledge base: %v", err)
	}
	t.Cleanup(func() {
		err := s.engine.DeleteKnowledgeBase(context.Background(), kb.Ref)
		if err != nil && !fault.Is(err, fault.NotFound) {
			t.Errorf("deleting the knowledge base: %v", err)
		}
	})
	return &base{t: t, engine: s.engine, kb: kb}
}

// write stores chunks that must all be accepted.
func (b *base) write(chunks ...engine.Chunk) []engine.WriteOutcome {
	b.t.Helper()
	outcomes, err := b.engine.Write(b.t.Context(), engine.WriteRequest{KB: b.kb, Chunks: chunks, Refresh: true})
	b.accepted(outcomes, err, chunks)
	return outcomes
}

// replace replaces a document by chunks that must all be accepted.
func (b *base) replace(documentID string, chunks ...engine.Chunk) []engine.WriteOutcome {
	b.t.Helper()
	outcomes, err := b.engine.ReplaceDocument(b.t.Context(), documentID,
		engine.WriteRequest{KB: b.kb, Chunks: chunks, Refresh: true})
	b.accepted(outcomes, err, chunks)
	return outcomes
}

func (b *base) accepted(outcomes []engine.WriteOutcome, err error, chunks []engine.Chunk) {
	b.t.Helper()
	if err != nil {
		b.t.Fatalf("writing %d chunks: %v", len(chunks), err)
	}
	if len(outcomes) != len(chunks) {
		b.t.Fatalf("writing gave %d outcomes for %d chunks", len(outcomes), len(chunks))
	}
	for i, o := range outcomes {
		if o.Err != nil || o.Status == engine.Failed || o.ID != chunks[i].ID {
			b.t.Fatalf("outcome %d is %+v for chunk %q", i, o, chunks[i].ID)
		}
	}
}

// search runs a request that must succeed on every leg, and checks what holds
// for every result.
func (b *base) search(req engine.Request) *engine.Result {
	b.t.Helper()
	result := b.tolerant(req)
	for i, leg := range result.Legs {
		if leg.Err != nil {
			b.t.Fatalf("leg %s failed: %v", req.Legs[i].Name, leg.Err)
		}
	}
	return result
}

// tolerant is search with legs that may fail alone.
func (b *base) tolerant(req engine.Request) *engine.Result {
	b.t.Helper()
	req.KB = b.kb
	result, err := b.engine.Search(b.t.Context(), &req)
	if err != nil {
		b.t.Fatalf("searching: %v", err)
	}
	checkResult(b.t, &req, result)
	return result
}

// ids searches with one leg and gives the ids in its order.
func (b *base) ids(leg engine.Leg, filter engine.Filter) []string {
	b.t.Helper()
	result := b.search(engine.Request{Legs: []engine.Leg{leg}, Filter: filter})
	return ranking(result, 0)
}

// words is a text leg over a chunk's text, each word with weight 1.
func words(k int, text string) engine.Leg {
	return engine.Leg{Name: "text", Field: engine.FieldText, K: k, Text: queryOf(text)}
}

// near is a vector leg.
func near(k int, vector ...float32) engine.Leg {
	return engine.Leg{Name: "vector", Field: engine.FieldVector, K: k, Vector: vector}
}

func queryOf(text string) *textquery.Query {
	query := &textquery.Query{}
	for _, word := range strings.Fields(text) {
		query.Terms = append(query.Terms, textquery.Term{Text: word, Weight: 1})
	}
	return query
}

// passage is an available chunk of a document of its own name.
func passage(id, content string, vector ...float32) engine.Chunk {
	c := engine.Chunk{ID: id, DocumentID: "doc-" + id, Content: content, Available: true}
	if len(vector) > 0 {
		c.Vectors = map[string][]float32{engine.FieldVector: vector}
	}
	return c
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
