package ingest

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// Elsewhere than in UTC: what is written for others says UTC.
func init() { time.Local = time.FixedZone("elsewhere", 5*3600+45*60) }

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	ctx  = context.Background()
	acme = access.Scope{Tenant: "acme"}
)

// fakeEngine keeps the chunks of one tenant's knowledge bases in memory; what
// it does not implement panics.
type fakeEngine struct {
	engine.Engine
	mu     sync.Mutex
	bases  []engine.KnowledgeBase
	chunks map[string]engine.Chunk
	writes []engine.WriteRequest
	// before, when set, may fail a write as a whole.
	before  func(ctx context.Context, write int) error
	discard bool // keep nothing
}

func (f *fakeEngine) Name() string { return "embedded" }

func (f *fakeEngine) KnowledgeBases(context.Context) ([]engine.KnowledgeBase, error) {
	return f.bases, nil
}

func (f *fakeEngine) Write(ctx context.Context, req engine.WriteRequest) ([]engine.WriteOutcome, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.before != nil {
		f.writes = append(f.writes, req)
		if err := f.before(ctx, len(f.writes)); err != nil {
			return nil, err
		}
	} else if !f.discard {
		f.writes = append(f.writes, req)
	}
	outcomes := make([]engine.WriteOutcome, len(req.Chunks))
	for i, c := range req.Chunks {
		outcomes[i] = engine.WriteOutcome{ID: c.ID, Status: engine.Created}
		if f.discard {
			continue
		}
		if _, there := f.chunks[c.ID]; there {
			outcomes[i].Status = engine.Updated
		}
		f.chunks[c.ID] = c
	}
	return outcomes, nil
}

func (f *fakeEngine) ReplaceDocument(
	ctx context.Context, documentID string, req engine.WriteRequest,
) ([]engine.WriteOutcome, error) {
	outcomes, err := f.Write(ctx, req)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, c := range f.chunks {
		kept := slices.ContainsFunc(req.Chunks, func(n engine.Chunk) bool { return n.ID == id })
		if c.DocumentID == documentID && !kept {
			delete(f.chunks, id)
		}
	}
	return outcomes, nil
}

func (f *fakeEngine) DeleteDocument(_ context.Context, _ engine.KnowledgeBase, id string) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := len(f.chunks)
	for chunkID, c := range f.chunks {
		if c.DocumentID == id {
			delete(f.chunks, chunkID)
		}
	}
	return before - len(f.chunks), nil
}

func (f *fakeEngine) DeleteChunks(_ context.Context, _ engine.KnowledgeBase, ids []string) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := len(f.chunks)
	for _, id := range ids {
		delete(f.chunks, id)
	}
	return before - len(f.chunks), nil
}

func (f *fakeEngine) Documents(
	_ context.Context, _ engine.KnowledgeBase, after string, limit int,
) ([]engine.Document, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var documents []engine.Document
	for _, c := range f.sorted() {
		last := len(documents) - 1
		switch {
		case c.DocumentID <= after:
		case last >= 0 && documents[last].ID == c.DocumentID:
			documents[last].Chunks++
		default:
			documents = append(documents, engine.Document{ID: c.DocumentID, Name: c.DocumentName, Chunks: 1})
		}
	}
	return documents[:min(limit, len(documents))], nil
}

func (f *fakeEngine) DocumentChunks(_ context.Context, req engine.DocumentChunksRequest) ([]engine.Chunk, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var chunks []engine.Chunk
	for _, c := range f.sorted() {
		if c.DocumentID == req.DocumentID {
			chunks = append(chunks, c)
		}
	}
	if i := slices.IndexFunc(chunks, func(c engine.Chunk) bool { return c.ID == req.After }); i >= 0 {
		chunks = chunks[i+1:]
	}
	return chunks[:min(req.Limit, len(chunks))], nil
}

func (f *fakeEngine) Chunks(_ context.Context, req engine.ChunksRequest) ([]engine.Chunk, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var chunks []engine.Chunk
	for _, id := range req.IDs {
		if c, ok := f.chunks[id]; ok && (c.Available || req.Hidden) {
			chunks = append(chunks, c)
		}
	}
	return chunks, nil
}

// undated is a chunk without the time at which it was written, which was just now.
func undated(t *testing.T, c engine.Chunk) engine.Chunk {
	t.Helper()
	at, err := time.Parse("2006-01-02T15:04:05Z", c.WrittenAt)
	if since := time.Since(at); err != nil || since < 0 || since > time.Minute {
		t.Errorf("chunk %q was written at %q; want no error and since at least 0 and since at most Minute", c.ID, c.WrittenAt)
	}
	c.WrittenAt = ""
	return c
}

// sorted gives the chunks by document, ordinal and id.
func (f *fakeEngine) sorted() []engine.Chunk {
	var chunks []engine.Chunk
	for _, c := range f.chunks {
		chunks = append(chunks, c)
	}
	slices.SortFunc(chunks, func(a, b engine.Chunk) int {
		return cmp.Or(cmp.Compare(a.DocumentID, b.DocumentID), cmp.Compare(a.Ordinal, b.Ordinal), cmp.Compare(a.ID, b.ID))
	})
	return chunks
}

// fakeEmbedder gives each text the vector [its length in bytes, 1].
type fakeEmbedder struct {
	mu    sync.Mutex
	calls [][]string
	err   error
	// refuses a text that contains this, as a server refuses one too long.
	refuses string
	dims    int
}

func (f *fakeEmbedder) Model() string { return "e5" }

func (f *fakeEmbedder) Passages(_ context.Context, texts []string) ([][]float32, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, texts)
	if f.err != nil {
		return nil, f.err
	}
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		if f.refuses != "" && strings.Contains(text, f.refuses) {
			return nil, fault.New(fault.InvalidArgument, "the embedding service answered 400: too long")
		}
		vectors[i] = make([]float32, max(f.dims, 2))
		vectors[i][0], vectors[i][1] = float32(len(text)), 1
	}
	return vectors, nil
}

// Knowledge bases of the fake engine.
const (
	passages = "passages" // kind chunks, 2 dimensions, model e5
	pairs    = "pairs"    // kind qa, 2 dimensions, model e5
	keywords = "keywords" // kind chunks, keyword search only
	attached = "attached" // read only
	foreign  = "foreign"  // of another embedding model

	severalVectors = "several" // kind chunks, with title_vector and summary_vector beside vector
)

func newFakeEngine() *fakeEngine {
	base := func(id string, kind engine.KnowledgeKind, dims int, model string) engine.KnowledgeBase {
		return engine.KnowledgeBase{
			Ref:  engine.Ref{Tenant: "acme", ID: id},
			Kind: kind, Dimensions: dims, EmbeddingModel: model, Engine: "embedded",
		}
	}
	several := base(severalVectors, engine.KindChunks, 2, "e5")
	several.VectorFields = []engine.VectorField{{Name: "title_vector", Source: engine.SourceTitle}, {Name: "summary_vector"}}
	f := &fakeEngine{chunks: map[string]engine.Chunk{}}
	f.bases = []engine.KnowledgeBase{
		base(passages, engine.KindChunks, 2, "e5"),
		base(pairs, engine.KindQA, 2, "e5"),
		base(keywords, engine.KindChunks, 0, ""),
		base(attached, engine.KindChunks, 2, "e5"),
		base(foreign, engine.KindChunks, 2, "bge"),
		several,
	}
	f.bases[3].Attach = &engine.Attachment{Index: "ragflow_1", Layout: "ragflow"}
	return f
}

func newPipeline(f *fakeEngine, embedder Embedder, options Options) *Pipeline {
	return New(catalog.New([]engine.Engine{f}, catalog.Options{}), embedder, options)
}

// streamAll runs the input and gives the results and what the call returned.
func streamAll(p *Pipeline, kb, input string) ([]Result, Summary, error) {
	var results []Result
	summary, err := p.Stream(ctx, acme, Source{KB: kb, Lines: strings.NewReader(input)}, func(r Result) error {
		results = append(results, r)
		return nil
	})
	return results, summary, err
}
