package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/deadline"
	_ "github.com/hybridge-search/hybridge/internal/properties" // fewer cases in make test
)

func wantKind(t *testing.T, err error, kind fault.Kind, parts ...string) {
	t.Helper()
	if !fault.Is(err, kind) {
		t.Fatalf("got error %v (kind %s), want kind %s", err, fault.KindOf(err), kind)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
}

// lines makes n good lines.
func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"id": "c%d", "content": "text %d"}`+"\n", i, i)
	}
	return b.String()
}

func TestABadLineFailsAlone(t *testing.T) {
	fake := newFakeEngine()
	p := newPipeline(fake, nil, Options{BatchLines: 2, MaxLine: 1000})
	input := `{"id": "a", "content": "x"}

{"id": "b", "content": "y"
{"id": "c", "content": "z"}
{"id": "d", "content": "` + strings.Repeat("long", 1000) + `"}
{"id": "a", "content": "again"}
{"id": "e", "content": "last, without a newline"}`
	results, summary, err := streamAll(p, passages, input)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range results {
		code := ""
		if r.Error != nil {
			code = string(r.Error.Code)
		}
		got = append(got, fmt.Sprintf("%d %s %s %s", r.Line, r.ID, r.Status, code))
	}
	want := []string{
		"1 a created ", "3  failed invalid_argument", "4 c created ", "5  failed too_large",
		"6 a updated ", "7 e created ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if summary.Lines != 6 || summary.Created != 3 || summary.Updated != 1 || summary.Failed != 2 ||
		summary.Bytes != int64(len(input)) {
		t.Errorf("summary %+v", summary)
	}
	if fake.chunks["a"].Content != "again" {
		t.Errorf("the later of two lines must win, got %q", fake.chunks["a"].Content)
	}
}

func TestAFiveMegabyteChunk(t *testing.T) {
	fake, embedder := newFakeEngine(), &fakeEmbedder{}
	content := strings.Repeat("退款 ", 5<<20/7)
	input := fmt.Sprintf(`{"id": "big", "content": %q}`, content) + "\n" + lines(1)
	results, _, err := streamAll(newPipeline(fake, embedder, Options{}), passages, input)
	if err != nil || len(results) != 2 || results[0].Error != nil {
		t.Fatalf("%+v, %v; want no error and 2 results and no results[0].Error", results, err)
	}
	if fake.chunks["big"].Content != content {
		t.Error("the content changed on its way")
	}
	if embedded := embedder.calls[0][0]; len(embedded) > 32<<10 || !strings.HasPrefix(content, embedded) {
		t.Errorf("%d bytes were embedded", len(embedded))
	}
}

func TestEmbedding(t *testing.T) {
	fake, embedder := newFakeEngine(), &fakeEmbedder{}
	p := newPipeline(fake, embedder, Options{})
	own := `{"id": "own", "content": "x", "vector": [7, 7]}`
	results, _, err := streamAll(p, passages, own+"\n"+`{"id": "made", "title": "ab", "content": "c"}`)
	if err != nil || results[0].Error != nil || results[1].Error != nil {
		t.Fatalf("%+v, %v; want no error and no results[0].Error and no results[1].Error", results, err)
	}
	if got := fake.chunks["own"].Vectors["vector"]; !slices.Equal(got, []float32{7, 7}) {
		t.Errorf("own vector: %v; want {7, 7}", got)
	}
	if got := fake.chunks["made"].Vectors["vector"]; !slices.Equal(got, []float32{4, 1}) {
		t.Errorf("made vector: %v, want that of %q", got, "ab c")
	}
	both := `{"id": "both", "category": "c", "title": "t", "question": "why", "answer": "therefore"}`
	if _, _, err := streamAll(p, pairs, both+"\n"+`{"id": "q", "title": "t", "question": "why"}`); err != nil {
		t.Fatal(err)
	}
	for field, text := range map[string]string{"question_vector": "c t why", "answer_vector": "c t therefore"} {
		if got := fake.chunks["both"].Vectors[field]; !slices.Equal(got, []float32{float32(len(text)), 1}) {
			t.Errorf("%s: %v, want that of %q", field, got, text)
		}
	}
	vectors := fake.chunks["q"].Vectors
	if vectors["question_vector"] == nil || vectors["answer_vector"] != nil {
		t.Errorf("a pair without an answer has the vectors %v", vectors)
	}
	if _, _, err := streamAll(p, keywords, lines(1)); err != nil || fake.chunks["c0"].Vectors["vector"] != nil {
		t.Errorf(`keyword search only: %v, %v; want no error and no fake.chunks["c0"].Vectors["vector"]`, fake.chunks["c0"].Vectors, err)
	}
}

// TestEmbeddingFurtherFields: what has a source is made of it alone, in the batch
// of the others; what has none, and an empty title, stay absent.
func TestEmbeddingFurtherFields(t *testing.T) {
	fake, embedder := newFakeEngine(), &fakeEmbedder{}
	input := `{"id": "made", "title": "ab", "content": "c"}` + "\n" + `{"id": "untitled", "title": " ", "content": "c"}` + "\n" +
		`{"id": "own", "title": "ab", "content": "c", "vectors": {"title_vector": [7, 7], "summary_vector": [8, 8]}}`
	if _, _, err := streamAll(newPipeline(fake, embedder, Options{}), severalVectors, input); err != nil {
		t.Fatal(err)
	}
	want := map[string]map[string][]float32{
		"made":     {"vector": {4, 1}, "title_vector": {2, 1}},
		"untitled": {"vector": {1, 1}},
		"own":      {"vector": {4, 1}, "title_vector": {7, 7}, "summary_vector": {8, 8}},
	}
	for id, vectors := range want {
		if diff := cmp.Diff(vectors, fake.chunks[id].Vectors); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id, diff)
		}
	}
	if len(embedder.calls) != 1 || len(embedder.calls[0]) != 4 {
		t.Errorf("embedded as %q, want one call of four texts", embedder.calls)
	}
}

func TestEmbeddingFails(t *testing.T) {
	one := `{"id": "own", "content": "x", "vector": [7, 7]}` + "\n"
	f := func(kb string, embedder *fakeEmbedder, input, failing string, code fault.Kind) {
		t.Helper()
		fake := newFakeEngine()
		results, _, err := streamAll(newPipeline(fake, embedder, Options{}), kb, input)
		if err != nil {
			t.Error(err)
		}
		for _, r := range results {
			_, written := fake.chunks[r.ID]
			if shall := !slices.Contains(strings.Fields(failing), r.ID); written != shall {
				t.Errorf("%s: written %v, want %v (%+v)", r.ID, written, shall, r.Error)
			}
			if r.Error != nil && r.Error.Code != code {
				t.Errorf("%s: %+v, want code %s", r.ID, r.Error, code)
			}
		}
	}
	away := fault.New(fault.Unavailable, "embedding service unavailable")
	f(passages, &fakeEmbedder{err: away}, one+lines(2), "c0 c1", fault.Unavailable)
	f(passages, &fakeEmbedder{refuses: "text 5"}, one+lines(9), "c5", fault.InvalidArgument)
	f(passages, &fakeEmbedder{dims: 3}, one+lines(2), "c0 c1", fault.Conflict)
	f(foreign, &fakeEmbedder{}, one+lines(2), "c0 c1", fault.Conflict)
	f(passages, &fakeEmbedder{err: errors.New("secret")}, lines(1), "c0", fault.Internal)
}

func TestAnEngineThatStaysAwayEndsTheStream(t *testing.T) {
	deadline.Set(t, time.Minute)
	fake := newFakeEngine()
	away := fault.New(fault.Unavailable, "elasticsearch is away")
	fake.before = func(context.Context, int) error { return away }
	p := newPipeline(fake, nil, Options{BatchLines: 10})
	results, summary, err := streamAll(p, passages, lines(1000))
	wantKind(t, err, fault.Unavailable, "elasticsearch is away")
	if len(results) != 30 || summary.Failed != 30 || results[0].Error.Code != fault.Unavailable {
		t.Errorf("%d results, %+v; want 30 results and summary.Failed 30 and results[0].Error.Code Unavailable", len(results), summary)
	}
	fake.before = func(_ context.Context, write int) error {
		if write%3 == 0 {
			return nil
		}
		return away
	}
	fake.writes = nil
	if results, summary, err = streamAll(p, passages, lines(1000)); err != nil || len(results) != 1000 {
		t.Errorf("an engine that is away now and then: %d results, %+v, %v; want no error and 1000 results", len(results), summary, err)
	}
}

func TestKilledAndRunAgain(t *testing.T) {
	fake := newFakeEngine()
	p := newPipeline(fake, nil, Options{BatchLines: 7})
	stop := errors.New("the caller went away")
	emitted := 0
	_, err := p.Stream(ctx, acme, Source{KB: passages, Lines: strings.NewReader(lines(100))}, func(Result) error {
		if emitted++; emitted == 40 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) {
		t.Fatalf("got %v, want the error of emit", err)
	}
	if n := len(fake.chunks); n < 40 || n == 100 {
		t.Fatalf("%d chunks were written before it was killed; want n at least 40 and n other than 100", n)
	}
	if _, summary, err := streamAll(p, passages, lines(100)); err != nil || summary.Created+summary.Updated != 100 {
		t.Errorf("second run: %+v, %v; want no error and summary.Created + summary.Updated 100", summary, err)
	}
	if len(fake.chunks) != 100 {
		t.Errorf("%d chunks, want 100", len(fake.chunks))
	}
}

func TestCancel(t *testing.T) {
	deadline.Set(t, time.Minute)
	fake := newFakeEngine()
	canceled, cancel := context.WithCancel(ctx)
	fake.before = func(ctx context.Context, _ int) error {
		cancel()
		<-ctx.Done()
		return fault.Wrap(fault.Canceled, ctx.Err(), "write")
	}
	endless := &generator{size: 100, lines: -1}
	_, err := newPipeline(fake, nil, Options{}).Stream(canceled, acme, Source{KB: passages, Lines: endless},
		func(Result) error { return nil })
	wantKind(t, err, fault.Canceled)
}

func TestInputThatBreaksOff(t *testing.T) {
	fake := newFakeEngine()
	whole := lines(3)
	broken := io.MultiReader(strings.NewReader(whole+`{"id": "half", "content": "a"}`), iotest.ErrReader(io.ErrUnexpectedEOF))
	var results []Result
	_, err := newPipeline(fake, nil, Options{}).Stream(ctx, acme, Source{KB: passages, Lines: broken},
		func(r Result) error { results = append(results, r); return nil })
	wantKind(t, err, fault.InvalidArgument, "line 4")
	if len(results) != 3 || len(fake.chunks) != 3 {
		t.Errorf("%d results, %d chunks; the lines before the break must be written", len(results), len(fake.chunks))
	}
	tooLarge := fault.New(fault.TooLarge, "the body is larger than 1 byte")
	_, err = newPipeline(fake, nil, Options{}).Stream(ctx, acme,
		Source{KB: passages, Lines: iotest.ErrReader(tooLarge)}, func(Result) error { return nil })
	wantKind(t, err, fault.TooLarge)
}

func TestRefreshIsAskedOfTheLastWrite(t *testing.T) {
	f := func(input string, want ...bool) {
		t.Helper()
		fake := newFakeEngine()
		_, err := newPipeline(fake, nil, Options{BatchLines: 2}).Stream(ctx, acme,
			Source{KB: passages, Lines: strings.NewReader(input), Refresh: true}, func(Result) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		var got []bool
		for _, w := range fake.writes {
			got = append(got, w.Refresh)
		}
		if !slices.Equal(got, want) {
			t.Errorf("refresh of the writes: %v, want %v", got, want)
		}
	}
	f(lines(3), false, true)
	f(lines(4), false, false, true)
	f(lines(2)+"broken\n[\n{\n", false, true)
}

func TestWhoMayWrite(t *testing.T) {
	p := newPipeline(newFakeEngine(), nil, Options{})
	_, _, err := streamAll(p, attached, lines(1))
	wantKind(t, err, fault.ReadOnly, "ragflow_1")
	_, _, err = streamAll(p, "nope", lines(1))
	wantKind(t, err, fault.NotFound)
	_, err = p.Stream(ctx, access.Scope{Tenant: "other"}, Source{KB: passages, Lines: strings.NewReader(lines(1))}, nil)
	wantKind(t, err, fault.NotFound)
	_, err = p.Stream(ctx, access.Scope{Tenant: "acme", KnowledgeBases: []string{pairs}},
		Source{KB: passages, Lines: strings.NewReader(lines(1))}, nil)
	wantKind(t, err, fault.NotFound)
}

// Whatever the sizes of batches and reads, and whichever lines are bad: one
// result per line in order, and the good lines written.
func TestEveryLineGetsItsResult(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		good := rapid.SliceOfN(rapid.Bool(), 0, 40).Draw(t, "good")
		var input strings.Builder
		want := map[string]bool{}
		for i, ok := range good {
			input.WriteString(rapid.SampledFrom([]string{"", "", "\n", " \r\n"}).Draw(t, "blank"))
			if ok {
				fmt.Fprintf(&input, `{"id": "c%d", "content": "x"}`, i)
				want[fmt.Sprintf("c%d", i)] = true
			} else {
				input.WriteString(rapid.SampledFrom([]string{"{", `{"id": "z"}`, strings.Repeat("y", 99)}).Draw(t, "bad"))
			}
			input.WriteString("\n")
		}
		fake := newFakeEngine()
		p := newPipeline(fake, nil, Options{
			BatchLines: rapid.IntRange(1, 9).Draw(t, "lines"),
			BatchBytes: rapid.IntRange(1, 200).Draw(t, "bytes"),
			MaxLine:    64,
		})
		var results []Result
		source := Source{KB: passages, Lines: iotest.OneByteReader(strings.NewReader(input.String()))}
		summary, err := p.Stream(ctx, acme, source, func(r Result) error { results = append(results, r); return nil })
		if err != nil || len(results) != len(good) || summary.Lines != len(good) || len(fake.chunks) != len(want) {
			t.Fatalf("%d results, %d chunks, %v; want %d, %d", len(results), len(fake.chunks), err, len(good), len(want))
		}
		for i, r := range results {
			if (r.Status == engine.Created) != good[i] || i > 0 && r.Line <= results[i-1].Line {
				t.Fatalf("line %d: %+v, want written %v", i, r, good[i])
			}
		}
	})
}

func FuzzLines(f *testing.F) {
	for _, seed := range []string{
		lines(2), "\ufeff{}\r\n", "{\"id\": \"a\", \"content\": \"\\ud800\"}\n", "\n\n", "null", "[[[[",
		`{"id": "a", "content": "x", "metadata": {"a": {"b": [1, null, "c"]}}}`, strings.Repeat("x", 300),
		`{"id": "a", "content": "x", "vector": [1e-46, -0]}`, "{\"id\": \"\xff\"}", "\x00",
		`{"id": "a", "ID": "b", "content": "x", "ordinal": 2147483648}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		fake := newFakeEngine()
		results, summary, err := streamAll(newPipeline(fake, nil, Options{MaxLine: 256, BatchLines: 3}), passages, string(input))
		if err != nil {
			t.Fatalf("no input fails the stream: %v", err)
		}
		if summary.Lines != len(results) || summary.Created+summary.Updated+summary.Failed != summary.Lines {
			t.Fatalf("%d results, %+v", len(results), summary)
		}
		for _, r := range results {
			if r.Error != nil && r.Error.Code != fault.InvalidArgument && r.Error.Code != fault.TooLarge {
				t.Fatalf("bad input gives %+v; want no r.Error or r.Error.Code InvalidArgument or r.Error.Code TooLarge", r.Error)
			}
		}
	})
}

// generator makes lines on the fly: nothing of the input is kept anywhere.
type generator struct {
	size  int // of the content of a line
	lines int // negative: endless
	rest  []byte
	made  int
	at    func(line int)
}

func (g *generator) Read(p []byte) (int, error) {
	if len(g.rest) == 0 {
		if g.made == g.lines {
			return 0, io.EOF
		}
		if g.at != nil {
			g.at(g.made)
		}
		g.rest = fmt.Appendf(g.rest[:0], `{"id": "c%d", "content": "%s"}`+"\n", g.made, strings.Repeat("word ", g.size/5))
		g.made++
	}
	n := copy(p, g.rest)
	g.rest = g.rest[n:]
	return n, nil
}
