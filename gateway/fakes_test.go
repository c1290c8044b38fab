package gateway

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/catalog/jobs"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/ingest"
	"github.com/hybridge-search/hybridge/presets"
	"github.com/hybridge-search/hybridge/rag"
	"github.com/hybridge-search/hybridge/rag/answer"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search"
	"github.com/hybridge-search/hybridge/search/recall"
	"github.com/hybridge-search/hybridge/synonyms"
	"github.com/hybridge-search/hybridge/versions"
)

// fakes stand in for what the gateway consumes. They note the scope of every
// call and hold one knowledge base, "manuals", of every tenant.
type fakes struct {
	mu     sync.Mutex
	scopes []access.Scope
	// answer, when set, is called first by every method.
	answer func(ctx context.Context) error
	// searched is the last request, canned its answer.
	searched search.Request
	canned   *search.Response
	emitted  atomic.Int64 // results of Stream
	ended    atomic.Value // the error of File's last progress
}

const (
	base     = "manuals"
	document = "d1"
	chunkID  = "c1"
)

func (f *fakes) note(ctx context.Context, scope access.Scope, kbs ...string) error {
	f.mu.Lock()
	if f.canned == nil {
		f.scopes = append(f.scopes, scope)
	}
	f.mu.Unlock()
	if f.answer != nil {
		if err := f.answer(ctx); err != nil {
			return err
		}
	}
	for _, kb := range kbs {
		if kb != base || !scope.Allows(kb) {
			return fault.New(fault.NotFound, "knowledge base %q does not exist", kb)
		}
	}
	return nil
}

// seen gives the scopes noted since the last time.
func (f *fakes) seen() []access.Scope {
	f.mu.Lock()
	defer f.mu.Unlock()
	scopes := f.scopes
	f.scopes = nil
	return scopes
}

func (f *fakes) Search(ctx context.Context, scope access.Scope, req search.Request) (*search.Response, error) {
	if err := f.note(ctx, scope, req.KnowledgeBases...); err != nil {
		return nil, err
	}
	f.mu.Lock()
	f.searched = req
	f.mu.Unlock()
	if f.canned != nil {
		return f.canned, nil
	}
	return cannedResponse(3), nil
}

func (f *fakes) Explain(
	ctx context.Context, scope access.Scope, req search.ExplainRequest,
) (*search.ExplainResponse, error) {
	return &search.ExplainResponse{ChunkID: req.ChunkID, Outcome: search.OutcomeMissing},
		f.note(ctx, scope, req.KnowledgeBases...)
}

func (f *fakes) Analyze(ctx context.Context, scope access.Scope, req search.Request) (*search.AnalyzeResponse, error) {
	return &search.AnalyzeResponse{}, f.note(ctx, scope, req.KnowledgeBases...)
}

// Together gives every request the same answer.
func (f *fakes) Together(
	ctx context.Context, scope access.Scope, requests []search.Request,
) ([]search.Outcome, error) {
	if err := f.note(ctx, scope, requests[0].KnowledgeBases...); err != nil {
		return nil, &search.RefusedError{Err: err}
	}
	outcomes := make([]search.Outcome, len(requests))
	for i := range requests {
		outcomes[i].Response = cannedResponse(3)
	}
	return outcomes, nil
}

// ScoreTexts gives the first text the least.
func (f *fakes) ScoreTexts(ctx context.Context, req *search.TextsRequest) (*search.TextScores, error) {
	if f.answer != nil {
		if err := f.answer(ctx); err != nil {
			return nil, err
		}
	}
	answer := &search.TextScores{Model: search.Fusion, Scores: make([]float64, len(req.Texts)), Degraded: cannedResponse(0).Degraded}
	for i := range req.Texts {
		answer.Scores[i] = float64(i+1) / float64(len(req.Texts))
	}
	return answer, nil
}

func (f *fakes) Suggest(ctx context.Context, scope access.Scope, req search.SuggestRequest) (*search.Suggestions, error) {
	if err := f.note(ctx, scope, req.KnowledgeBases...); err != nil {
		return nil, err
	}
	return &search.Suggestions{
		Suggestions: []search.Suggestion{{Text: "refund", Kind: search.SuggestTerm, KnowledgeBase: "manuals", Count: 3}},
		Degraded:    []search.Degraded{},
	}, nil
}

func (f *fakes) Measure(
	ctx context.Context, scope access.Scope, kb string, _ *recall.Request,
) (*recall.Report, error) {
	return &recall.Report{KnowledgeBase: kb, Fields: []recall.Field{}}, f.note(ctx, scope, kb)
}

func (*fakes) Models() (rerankers []string, writes bool) { return nil, false }

func (*fakes) Presets(string) (names []string, standard string) {
	return []string{"balanced", "rrf"}, "balanced"
}

func (f *fakes) Create(ctx context.Context, scope access.Scope, spec catalog.Spec) (engine.KnowledgeBase, error) {
	if err := f.note(ctx, scope); err != nil {
		return engine.KnowledgeBase{}, err
	}
	if !scope.Allows(spec.ID) {
		return engine.KnowledgeBase{}, fault.New(fault.Forbidden, "this key may not create %q", spec.ID)
	}
	return engine.KnowledgeBase{Ref: engine.Ref{Tenant: scope.Tenant, ID: spec.ID}, Name: spec.Name}, nil
}

func (f *fakes) Invalidate(ctx context.Context, scope access.Scope, id string) error {
	return f.note(ctx, scope, id)
}

func (f *fakes) Check(ctx context.Context, scope access.Scope, id string, repair bool) (*engine.DriftReport, error) {
	if err := f.note(ctx, scope, id); err != nil {
		return nil, err
	}
	return &engine.DriftReport{Reference: "embedded", Engines: []engine.Drift{{Engine: "elasticsearch"}}, Repaired: repair}, nil
}

func (f *fakes) List(ctx context.Context, scope access.Scope) ([]engine.KnowledgeBase, error) {
	list := []engine.KnowledgeBase{}
	if scope.Allows(base) {
		list = append(list, engine.KnowledgeBase{Ref: engine.Ref{Tenant: scope.Tenant, ID: base}})
	}
	return list, f.note(ctx, scope)
}

func (*fakes) Choices() []catalog.Choice {
	return []catalog.Choice{{Name: "embedded", Default: true}, {Name: "elasticsearch"}}
}

func (f *fakes) Describe(ctx context.Context, scope access.Scope, id string) (catalog.Described, error) {
	kb := engine.KnowledgeBase{Ref: engine.Ref{Tenant: scope.Tenant, ID: id}}
	return catalog.Described{KnowledgeBase: kb}, f.note(ctx, scope, id)
}

func (f *fakes) Load(ctx context.Context, scope access.Scope) (jobs.Job, error) {
	return jobs.Job{ID: "j1", Kind: "demo", KnowledgeBase: base, Errors: []jobs.JobError{}}, f.note(ctx, scope, base)
}

func (f *fakes) Delete(ctx context.Context, scope access.Scope, id string) error {
	return f.note(ctx, scope, id)
}

// Stream takes {"id": …} lines; the line `cut` ends it with an error.
func (f *fakes) Stream(
	ctx context.Context, scope access.Scope, source ingest.Source, emit func(ingest.Result) error,
) (summary ingest.Summary, err error) {
	if err := f.note(ctx, scope, source.KB); err != nil {
		return summary, err
	}
	lines := bufio.NewScanner(source.Lines)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		if lines.Text() == "cut" {
			return summary, fault.New(fault.Unavailable, "Elasticsearch cannot be reached")
		}
		summary.Lines++
		result := ingest.Result{Line: summary.Lines, Status: engine.Created}
		if err := json.Unmarshal(lines.Bytes(), &result); err != nil {
			result.Status = engine.Failed
			result.Error = &ingest.Failure{Code: fault.InvalidArgument, Detail: "the line is not valid UTF-8"}
		}
		if err := emit(result); err != nil {
			return summary, err
		}
		f.emitted.Add(1)
	}
	return summary, lines.Err()
}

// awaitEmitted waits until a stream has given its first result.
func (f *fakes) awaitEmitted() {
	for f.emitted.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
}

func (f *fakes) ReplaceDocument(
	ctx context.Context, scope access.Scope, r ingest.Replacement,
) ([]ingest.Result, error) {
	if err := f.note(ctx, scope, r.KB); err != nil {
		return nil, err
	}
	if _, err := io.Copy(io.Discard, r.Lines); err != nil {
		return nil, err
	}
	return []ingest.Result{{ID: chunkID, Line: 1, Status: engine.Updated}}, nil
}

func (f *fakes) Formats() map[string]string {
	return map[string]string{".md": "", ".odt": "tika http://10.0.0.7:9998"}
}

// File gives the size of the file as its chunks, and makes them ready one by one. The
// file `cut` fails on the way, `panic` too, and `endless` is ready when nobody listens.
func (f *fakes) File(ctx context.Context, scope access.Scope, upload ingest.FileUpload) (ingest.FileResult, error) {
	if err := f.note(ctx, scope, upload.KB); err != nil {
		return ingest.FileResult{}, err
	}
	content, err := upload.File.Open()
	if err != nil {
		return ingest.FileResult{}, err
	}
	text, err := io.ReadAll(content)
	if err := errors.Join(err, content.Close()); err != nil {
		return ingest.FileResult{}, err
	}
	size := len(text)
	if upload.Progress != nil && size > 0 {
		if err := f.progress(ctx, string(text), upload.Progress); err != nil {
			f.ended.Store(err)
			return ingest.FileResult{}, err
		}
	}
	return ingest.FileResult{DocumentID: upload.File.ID, Status: ingest.FileWritten, Chunks: size, Created: size}, nil
}

func (*fakes) progress(ctx context.Context, text string, tell func(ingest.FileProgress) error) error {
	for ready := 0; ready <= len(text) || text == "endless"; ready++ {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := tell(ingest.FileProgress{Chunks: len(text), Ready: ready}); err != nil {
			return err
		}
		if text == "endless" {
			time.Sleep(time.Millisecond)
		}
	}
	switch text {
	case "cut":
		return fault.New(fault.Unavailable, "the engine is away")
	case "panic":
		panic("of the work")
	}
	return nil
}

func (f *fakes) DeleteDocument(ctx context.Context, scope access.Scope, d ingest.DocumentRef) (int, error) {
	return 2, f.note(ctx, scope, d.KB)
}

func (f *fakes) DeleteWhere(
	ctx context.Context, scope access.Scope, kb string, _ []filter.Condition, _ bool,
) (int, error) {
	return 3, f.note(ctx, scope, kb)
}

func (f *fakes) PatchMetadata(ctx context.Context, scope access.Scope, patch ingest.MetadataPatch) (int, error) {
	return 2, f.note(ctx, scope, patch.KB)
}

func (f *fakes) DeleteChunks(ctx context.Context, scope access.Scope, kb string, ids []string) (int, error) {
	count := 1
	if slices.Contains(ids, "gone") {
		count = 0
	}
	return count, f.note(ctx, scope, kb)
}

func (f *fakes) Documents(
	ctx context.Context, scope access.Scope, kb string, page ingest.Page,
) ([]engine.Document, error) {
	list := make([]engine.Document, min(page.Limit, 3))
	for i := range list {
		list[i] = engine.Document{ID: page.After + string(rune('a'+i)), Chunks: 1}
	}
	return list, f.note(ctx, scope, kb)
}

func (f *fakes) ListDocuments(ctx context.Context, scope access.Scope, listing ingest.Listing) (*ingest.Listed, error) {
	d := engine.Document{ID: listing.Query, Name: listing.Sort, Chunks: listing.Limit}
	return &ingest.Listed{Documents: []engine.Document{d}, Next: "n" + listing.After, Total: 7}, f.note(ctx, scope, listing.KB)
}

func (f *fakes) Reembed(ctx context.Context, scope access.Scope, what ingest.Reembedding) (
	func(context.Context, func(done, total int)) error, error,
) {
	return func(context.Context, func(done, total int)) error { return nil }, f.note(ctx, scope, what.KB)
}

func (f *fakes) DocumentChunks(
	ctx context.Context, scope access.Scope, d ingest.DocumentRef, _ ingest.Page,
) ([]engine.Chunk, error) {
	return []engine.Chunk{{ID: chunkID, DocumentID: d.ID}}, f.note(ctx, scope, d.KB)
}

func (f *fakes) GetChunk(ctx context.Context, scope access.Scope, kb, id string) (engine.Chunk, error) {
	return engine.Chunk{ID: id}, f.note(ctx, scope, kb)
}

func (f *fakes) Surroundings(ctx context.Context, scope access.Scope, p ingest.Place) ([]engine.Chunk, error) {
	if p.ChunkID == "panic" {
		panic("of the work")
	}
	chunk := engine.Chunk{ID: p.ChunkID, DocumentID: document, DocumentName: "guide.md"}
	chunk.Content = sample
	return []engine.Chunk{chunk}, f.note(ctx, scope, p.KB)
}

// Export gives chunks without end from the id `endless`, and a failure after two from `cut`.
func (f *fakes) Export(ctx context.Context, scope access.Scope, e ingest.Export, emit func(ingest.Chunk) error) error {
	if err := f.note(ctx, scope, e.KB); err != nil {
		return err
	}
	line := ingest.Chunk{Common: ingest.Common{ID: chunkID}, Passage: ingest.Passage{Content: sample, Vector: []float32{0.5}}}
	if !e.Vectors {
		line.Vector = nil
	}
	for n := 0; e.After == "endless" || n < 2; n++ {
		if err := emit(line); err != nil {
			f.ended.Store(err)
			return err
		}
	}
	if e.After == "cut" {
		return fault.New(fault.Unavailable, "the engine is away")
	}
	return nil
}

// cannedResponse is what a search of so many hits answers.
func cannedResponse(hits int) *search.Response {
	rank, raw, normalized := 1, 0.81, 0.905
	response := &search.Response{
		QueryID: "q", Preset: "balanced", Engine: "embedded", TookMS: 7.1,
		Timings: search.Timings{Legs: map[string]float64{"text": 1.1, "vector": 2.0}},
		Total:   search.Total{Value: 42, Relation: "eq"}, MaxScore: 1,
		Documents: []search.DocumentCount{{DocumentID: document, DocumentName: "guide.md", Count: 3}},
		Degraded: []search.Degraded{{
			Leg: "vector", KnowledgeBase: "kb", Code: fault.Unavailable, Reason: "embedding service unavailable",
		}},
	}
	for range hits {
		response.Hits = append(response.Hits, search.Hit{
			ID: chunkID, DocumentID: document, DocumentName: "guide.md", KnowledgeBase: base,
			Title: "退款", Content: sample, Score: 1, RawScore: 2.2795, VectorSimilarity: &raw, TermSimilarity: &normalized,
			Highlights: []string{"如何申请<em>退款</em>", "the <em>refund</em> is made within"},
			Positions:  [][]float64{{1, 72, 520, 90, 140}},
			Metadata:   map[string]any{"category": "billing", "year": 2026.0},
			Legs: []scoring.Contribution{
				{Leg: "text", Rank: &rank, Raw: &raw, Normalized: &normalized, Weight: 0.05, Contribution: 0.56},
				{Leg: "vector", Rank: &rank, Raw: &raw, Normalized: &normalized, Weight: 0.95, Contribution: 1.7195},
			},
		})
	}
	return response
}

// fakeAnswers cite the first passage.
type fakeAnswers struct{}

func (fakeAnswers) Write(
	_ context.Context, _ string, _ []rag.Passage, tell func(answer.Sentence) error,
) (answer.Ending, error) {
	return answer.Ending{Sentences: 1}, tell(answer.Sentence{Text: "In fourteen days.", Citations: []int{1}, Cited: true})
}

const sample = "A refund is made within fourteen days of the request, to the card that was charged. " +
	"退款将在申请后十四天内退回原支付卡。若卡已注销，请联系客服并提供新的账户信息。 " +
	"Requests are made on the order's page; a reason is welcome and not needed. <b>& so on</b>"

// fakeSets stand for stored sets.
type fakeSets struct{ text string }

func (f fakeSets) List(context.Context, string) ([]versions.Version, error) {
	return []versions.Version{{Set: base, Version: 2}, {Set: synonyms.Global, Version: 1}, {Set: "deleted", Version: 1}}, nil
}

func (f fakeSets) Get(_ context.Context, _, set string, version int) (*versions.Version, error) {
	return &versions.Version{Set: set, Version: max(version, 1), Text: f.text}, nil
}

func (f fakeSets) History(_ context.Context, _, set string, _ int) ([]versions.Version, error) {
	return []versions.Version{{Set: set, Version: 1}}, nil
}

func (f fakeSets) Save(_ context.Context, edit versions.Edit) (*versions.Version, error) {
	return &versions.Version{Set: edit.Set, Version: 2, Author: edit.Author, Text: edit.Text}, nil
}

func (f fakeSets) Rollback(_ context.Context, edit versions.Edit, _ int) (*versions.Version, error) {
	return &versions.Version{Set: edit.Set, Version: 3}, nil
}

func (f fakeSets) Delete(context.Context, string, string, *int) error { return nil }

// fakeSynonyms stand for the stored synonyms.
type fakeSynonyms struct{ fakeSets }

func (fakeSynonyms) Try(set, _, _ string) ([]synonyms.Applied, int, error) {
	return []synonyms.Applied{{Rule: set}}, 0, nil
}

func (fakeSynonyms) Check(string) (int, []synonyms.Problem, error) {
	return 1, []synonyms.Problem{{Line: 2, Detail: "has an empty entry"}}, nil
}

func (fakeSynonyms) Draft(string, string, string) (*synonyms.Draft, error) {
	return &synonyms.Draft{}, nil
}

// fakeDrafts find one hit, another one by a draft.
type fakeDrafts struct{}

func (fakeDrafts) SearchBy(
	_ context.Context, _ access.Scope, draft *synonyms.Draft, _ search.Request,
) (*search.Response, error) {
	if draft == nil {
		return &search.Response{Hits: []search.Hit{{ID: "before"}}}, nil
	}
	return &search.Response{Hits: []search.Hit{{ID: "after"}}}, nil
}

// fakePresets have versions of every name but those that are given.
type fakePresets struct{ fakeSets }

func (fakePresets) Details(context.Context, string) ([]presets.Detail, error) {
	return []presets.Detail{{Name: "balanced", Source: presets.FromBuiltin}}, nil
}

func (fakePresets) Given(name string) (d *presets.Definition, source string) {
	if name == "balanced" || name == "rrf" {
		return nil, presets.FromBuiltin
	}
	return nil, ""
}

func (f fakePresets) Rollback(_ context.Context, edit versions.Edit, _ int) (*versions.Version, error) {
	return &versions.Version{Set: edit.Set, Version: 3, Text: f.text}, nil
}

func (fakePresets) Unused(*versions.Version) string { return "" }

// fakeEmbedder makes vectors of the lengths of texts.
type fakeEmbedder struct{}

func (fakeEmbedder) Model() string { return "lengths" }

func (fakeEmbedder) Texts(_ context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = []float32{float32(len(text)), 0.5}
	}
	return vectors, nil
}
