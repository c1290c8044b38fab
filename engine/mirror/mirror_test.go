package mirror_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/embedded"
	"github.com/hybridge-search/hybridge/engine/enginetest"
	"github.com/hybridge-search/hybridge/engine/mirror"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/deadline"
	"github.com/hybridge-search/hybridge/lib/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// flaky is a real engine under another name that can be away.
type flaky struct {
	folder string
	engine.Engine
	name string

	mu   sync.Mutex
	away error
	deaf map[string]bool // ids of chunks that it refuses
	slow bool            // shows nothing before it is asked to refresh
	late []func() error  // what it does not show yet

	scanned func() // called once before a scan
	broken  error  // what it answers to a write that it has done
	hangs   bool   // answers nothing until who asks gives up
}

func (f *flaky) Name() string { return f.name }

func (f *flaky) Verify(ctx context.Context, kb engine.KnowledgeBase, repair bool) (*engine.Integrity, error) {
	return f.Engine.(engine.Verifier).Verify(ctx, kb, repair)
}

func (f *flaky) down(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.away = err
}

func (f *flaky) refuse(ids ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.deaf = map[string]bool{}
	for _, id := range ids {
		f.deaf[id] = true
	}
}

// show does what was written without a refresh.
func (f *flaky) show() error {
	f.mu.Lock()
	late := f.late
	f.late = nil
	f.mu.Unlock()
	for _, do := range late {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

// delays keeps a change for later when the engine is slow.
func (f *flaky) delays(do func() error) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.slow {
		f.late = append(f.late, do)
	}
	return f.slow
}

func (f *flaky) state() (deaf map[string]bool, away error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.deaf, f.away
}

func (f *flaky) hang(hangs bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hangs = hangs
}

// hung waits for the end of the context if the engine hangs.
func (f *flaky) hung(ctx context.Context) error {
	f.mu.Lock()
	hangs := f.hangs
	f.mu.Unlock()
	if !hangs {
		return nil
	}
	<-ctx.Done()
	return fault.Wrap(fault.Canceled, ctx.Err(), "%s was given up", f.name)
}

func (f *flaky) Ping(ctx context.Context) error { return f.hung(ctx) }

func (f *flaky) Scan(ctx context.Context, req engine.ScanRequest) ([]engine.Chunk, error) {
	if _, away := f.state(); away != nil {
		return nil, away
	}
	if before := f.scanned; before != nil {
		f.scanned = nil
		before()
	}
	return f.Engine.(engine.Scanner).Scan(ctx, req)
}

func (f *flaky) Write(ctx context.Context, req engine.WriteRequest) ([]engine.WriteOutcome, error) {
	deaf, away := f.state()
	if away == nil {
		away = f.hung(ctx)
	}
	if away != nil {
		return nil, away
	}
	var taken []engine.Chunk
	for _, c := range req.Chunks {
		if !deaf[c.ID] {
			taken = append(taken, c)
		}
	}
	all := req.Chunks
	req.Chunks = taken
	if req.Refresh {
		if err := f.show(); err != nil {
			return nil, err
		}
	} else if later := context.WithoutCancel(ctx); f.delays(func() error {
		_, err := f.Engine.Write(later, req)
		return err
	}) {
		return make([]engine.WriteOutcome, len(all)), nil
	}
	written, err := f.Engine.Write(ctx, req)
	if err == nil && len(all) > 0 {
		err = f.broken
	}
	if err != nil {
		return nil, err
	}
	outcomes := make([]engine.WriteOutcome, len(all))
	for i, c := range all {
		if deaf[c.ID] {
			outcomes[i] = engine.WriteOutcome{
				ID: c.ID, Status: engine.Failed, Err: fault.New(fault.Overloaded, "%s is busy", f.name),
			}
			continue
		}
		outcomes[i], written = written[0], written[1:]
	}
	return outcomes, nil
}

func (f *flaky) ReplaceDocument(
	ctx context.Context, id string, req engine.WriteRequest,
) ([]engine.WriteOutcome, error) {
	if _, away := f.state(); away != nil {
		return nil, away
	}
	if later := context.WithoutCancel(ctx); !req.Refresh && f.delays(func() error {
		_, err := f.Engine.ReplaceDocument(later, id, req)
		return err
	}) {
		return make([]engine.WriteOutcome, len(req.Chunks)), nil
	}
	return f.Engine.ReplaceDocument(ctx, id, req)
}

func (f *flaky) DeleteDocument(ctx context.Context, kb engine.KnowledgeBase, id string) (int, error) {
	if _, away := f.state(); away != nil {
		return 0, away
	}
	return f.Engine.DeleteDocument(ctx, kb, id)
}

func (f *flaky) DeleteChunks(ctx context.Context, kb engine.KnowledgeBase, ids []string) (int, error) {
	if _, away := f.state(); away != nil {
		return 0, away
	}
	return f.Engine.DeleteChunks(ctx, kb, ids)
}

func (f *flaky) DeleteKnowledgeBase(ctx context.Context, ref engine.Ref) error {
	if _, away := f.state(); away != nil {
		return away
	}
	return f.Engine.DeleteKnowledgeBase(ctx, ref)
}

var errAway = fault.New(fault.Unavailable, "connection refused")

// pair is a knowledge base on two engines.
type pair struct {
	*testing.T
	folder    string
	one, two  *flaky
	mirror    *mirror.Mirror
	set       *mirror.Set
	kb        engine.KnowledgeBase
	retryWait time.Duration
	patience  time.Duration
}

func open(t *testing.T, name string) *flaky {
	t.Helper()
	folder := t.TempDir()
	e, err := embedded.Open(t.Context(), embedded.Options{Path: folder, Tokenizer: enginetest.Words{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return &flaky{Engine: e, name: name, folder: folder}
}

// newPair makes a pair whose outbox waits for so long before it tries again.
func newPair(t *testing.T, wait time.Duration) *pair {
	t.Helper()
	p := &pair{T: t, folder: t.TempDir(), one: open(t, "one"), two: open(t, "two"), retryWait: wait}
	p.start()
	p.kb = engine.KnowledgeBase{
		Ref: engine.Ref{Tenant: "acme", ID: "kb"}, Engine: "one", Engines: []string{"one", "two"},
		Kind: engine.KindChunks, Dimensions: 2, Analyzer: engine.AnalyzerJieba,
	}
	p.must(p.set.CreateKnowledgeBase(t.Context(), p.kb))
	t.Cleanup(func() { _ = p.mirror.Close() })
	return p
}

func (p *pair) start() {
	p.Helper()
	var err error
	p.mirror, err = mirror.Open(p.Context(), mirror.Options{
		Path: p.folder, Engines: []engine.Engine{p.one, p.two}, Retry: p.retryWait, Patience: p.patience,
	})
	p.must(err)
	p.set, err = p.mirror.Over(p.kb.Engines)
	if p.kb.Engines == nil {
		p.set, err = p.mirror.Over([]string{"one", "two"})
	}
	p.must(err)
}

func (p *pair) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

func (p *pair) write(chunks ...engine.Chunk) []engine.WriteOutcome {
	p.Helper()
	outcomes, err := p.set.Write(p.Context(), engine.WriteRequest{KB: p.kb, Chunks: chunks, Refresh: true})
	p.must(err)
	return outcomes
}

func chunk(id, content string) engine.Chunk {
	return engine.Chunk{
		ID: id, DocumentID: "d", Content: content, Available: true,
		Vectors: map[string][]float32{engine.FieldVector: {1, float32(len(content))}},
	}
}

// holds lists "id=content" of all chunks of an engine.
func (p *pair) holds(e *flaky) string {
	p.Helper()
	chunks, err := e.Engine.(engine.Scanner).Scan(p.Context(), engine.ScanRequest{KB: p.kb, Limit: 1000})
	p.must(err)
	list := ""
	for i := range chunks {
		if len(chunks[i].Vectors) != 1 {
			p.Errorf("chunk %s lost its vector; want 1 chunks[i].Vectors", chunks[i].ID)
		}
		list += chunks[i].ID + "=" + chunks[i].Content + " "
	}
	return list
}

// agree waits until both engines hold the same and nothing is owed.
func (p *pair) agree(want string) {
	p.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		one, two, owed := p.holds(p.one), p.holds(p.two), p.owed()
		if one == want && two == want && owed == 0 {
			return
		}
		if time.Now().After(deadline) {
			p.Fatalf("one holds %q, two %q, %d owed; want %q", one, two, owed, want)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// owed is how much both engines are behind.
func (p *pair) owed() int {
	p.Helper()
	d, err := p.set.Describe(p.Context(), p.kb)
	p.must(err)
	sum := 0
	for _, e := range d.Details["engines"].(map[string]any) {
		sum += e.(map[string]any)["behind"].(int)
	}
	return sum
}

// Promise: "each line's result lists every engine" (docs/guide/en/embedded.md).
func TestWritesGoToAll(t *testing.T) {
	p := newPair(t, time.Hour)
	for _, o := range p.write(chunk("a", "x"), chunk("b", "y")) {
		if o.Status != engine.Created || len(o.Engines) != 2 || o.Engines[1].Engine != "two" ||
			o.Engines[1].Status != engine.Created {
			t.Errorf(`outcome %+v; want o.Status Created and 2 o.Engines and o.Engines[1].Engine "two" and o.Engines[1].Status Created`, o)
		}
	}
	p.agree("a=x b=y ")
	n, err := p.set.DeleteChunks(t.Context(), p.kb, []string{"a", "absent"})
	if n != 1 || err != nil {
		t.Errorf("deleted %d, %v; want n 1 and no error", n, err)
	}
	p.agree("b=y ")
}

func TestAnEngineThatWasAwayCatchesUp(t *testing.T) {
	p := newPair(t, 20*time.Millisecond)
	p.write(chunk("a", "old"), chunk("b", "old"), chunk("c", "old"))
	p.two.down(errAway)
	for _, o := range p.write(chunk("a", "new"), chunk("z", "new")) {
		if o.Err != nil || !fault.Is(o.Engines[1].Err, fault.Unavailable) || o.Engines[1].Status != engine.Failed {
			t.Errorf("outcome %+v; want no error and an error of kind Unavailable and o.Engines[1].Status Failed", o)
		}
	}
	if _, err := p.set.DeleteChunks(t.Context(), p.kb, []string{"b"}); err != nil {
		t.Error(err)
	}
	if p.owed() != 3 {
		t.Errorf("%d owed, want 3", p.owed())
	}
	p.write(chunk("a", "newer"))
	p.two.down(nil)
	p.agree("a=newer c=old z=new ")
}

func TestTheReferenceCatchesUpWithTheOthers(t *testing.T) {
	p := newPair(t, 20*time.Millisecond)
	p.write(chunk("a", "old"))
	p.one.down(errAway)
	o := p.write(chunk("a", "new"))[0]
	if !fault.Is(o.Err, fault.Unavailable) || o.Engines[1].Status != engine.Updated {
		t.Errorf("outcome %+v; want an error of kind Unavailable and o.Engines[1].Status Updated", o)
	}
	p.one.down(nil)
	p.agree("a=new ")
}

func TestARefusedChunkIsMadeUpForAlone(t *testing.T) {
	p := newPair(t, 20*time.Millisecond)
	p.two.refuse("b")
	outcomes := p.write(chunk("a", "x"), chunk("b", "x"))
	if outcomes[0].Engines[1].Err != nil || !fault.Is(outcomes[1].Engines[1].Err, fault.Overloaded) || p.owed() != 1 {
		t.Errorf("outcomes %+v, %d owed; want no error and an error of kind Overloaded and p.owed() 1", outcomes, p.owed())
	}
	p.two.refuse()
	p.agree("a=x b=x ")
}

// TestSlowEngines: an engine that shows a write only after a refresh is asked for one
// before it is read, so what it has not shown yet is neither drift nor lost.
func TestSlowEngines(t *testing.T) {
	deadline.Set(t, time.Minute)
	slow := func(wait time.Duration) *pair {
		p := newPair(t, wait)
		p.one.slow = true
		return p
	}
	t.Run("check", func(t *testing.T) {
		p := slow(time.Hour)
		p.two.slow = true
		_, err := p.set.Write(t.Context(), engine.WriteRequest{KB: p.kb, Chunks: []engine.Chunk{chunk("a", "x")}})
		p.must(err)
		report, err := p.set.Check(t.Context(), p.kb, true)
		p.must(err)
		if d := report.Engines[0]; report.Chunks != 1 || d.Chunks != 1 || d.Differs() {
			t.Errorf("%+v, want no difference of one chunk", report)
		}
	})
	t.Run("chunk", func(t *testing.T) {
		p := slow(20 * time.Millisecond)
		p.two.down(errAway)
		_, err := p.set.Write(t.Context(), engine.WriteRequest{KB: p.kb, Chunks: []engine.Chunk{chunk("a", "x")}})
		p.must(err)
		p.two.down(nil)
		p.agree("a=x ")
	})
	t.Run("document", func(t *testing.T) {
		p := slow(20 * time.Millisecond)
		p.two.down(errAway)
		_, err := p.set.ReplaceDocument(t.Context(), "d", engine.WriteRequest{KB: p.kb, Chunks: []engine.Chunk{chunk("a", "x")}})
		p.must(err)
		p.two.down(nil)
		p.agree("a=x ")
	})
	t.Run("written during a check", func(t *testing.T) {
		p := slow(time.Hour)
		p.write(chunk("a", "x"))
		p.two.scanned = func() { // it is a difference until both are asked to refresh
			_, err := p.set.Write(t.Context(), engine.WriteRequest{KB: p.kb, Chunks: []engine.Chunk{chunk("b", "y")}})
			p.must(err)
		}
		report, err := p.set.Check(t.Context(), p.kb, false)
		p.must(err)
		if d := report.Engines[0]; d.Differs() {
			t.Errorf("%+v, want no difference", d)
		}
	})
}

// TestDamageIsRepairedFromAnother: a damaged chunk of the reference is no reason to delete it
// from the other.
func TestDamageIsRepairedFromAnother(t *testing.T) {
	p := newPair(t, time.Hour)
	p.write(chunk("a", "x"), chunk("b", "y"))
	db, err := sqlite.Connect(filepath.Join(p.one.folder, "hybridge.db"), 1, "")
	p.must(err)
	_, err = db.ExecContext(t.Context(), `UPDATE chunks_1 SET body = replace(body, '"x"', '"z"') WHERE id = 'a'`)
	p.must(err)
	p.must(db.Close())
	report, err := p.set.Check(t.Context(), p.kb, false)
	p.must(err)
	if report.Integrity[0].Damaged.Count != 1 || report.Engines[0].Differs() {
		t.Errorf("%+v, want one chunk damaged and no difference", report)
	}
	report, err = p.set.Check(t.Context(), p.kb, true)
	p.must(err)
	if found := report.Integrity[0]; !found.Sound() || found.Restored != 1 || report.Engines[0].Differs() {
		t.Errorf("%+v, want one chunk restored", report)
	}
	p.agree("a=x b=y ")
}

func TestWhatAllRefuseIsOwedByNobody(t *testing.T) {
	p := newPair(t, time.Hour)
	p.one.refuse("a")
	p.two.refuse("a")
	if o := p.write(chunk("a", "x"))[0]; o.Status != engine.Failed {
		t.Errorf("outcome %+v; want o.Status Failed", o)
	}
	p.agree("")
	p.one.down(errAway)
	p.two.down(errAway)
	_, err := p.set.Write(t.Context(), engine.WriteRequest{KB: p.kb, Chunks: []engine.Chunk{chunk("a", "x")}})
	if !fault.Is(err, fault.Unavailable) {
		t.Errorf("with all away: %v, want unavailable", err)
	}
}

// A write that all failed may have been done by some: all become like the reference.
func TestWhatNobodyIsSureOf(t *testing.T) {
	p := newPair(t, 20*time.Millisecond)
	p.one.broken = fault.New(fault.Timeout, "the connection was lost")
	p.two.down(errAway)
	_, err := p.set.Write(t.Context(), engine.WriteRequest{KB: p.kb, Chunks: []engine.Chunk{chunk("a", "x")}})
	if !fault.Is(err, fault.Timeout) {
		t.Errorf("got %v, want the reference's fault", err)
	}
	p.two.down(nil)
	p.agree("a=x ")
}

func TestDocuments(t *testing.T) {
	p := newPair(t, 20*time.Millisecond)
	p.write(chunk("a", "x"), chunk("b", "x"), chunk("c", "x"))
	p.two.down(errAway)
	_, err := p.set.ReplaceDocument(t.Context(), "d", engine.WriteRequest{
		KB: p.kb, Chunks: []engine.Chunk{chunk("b", "new"), chunk("e", "new")}, Refresh: true,
	})
	p.must(err)
	p.two.down(nil)
	p.agree("b=new e=new ")

	p.one.down(errAway)
	if _, err := p.set.DeleteDocument(t.Context(), p.kb, "d"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a reference that is away: %v, want unavailable", err)
	}
	p.one.down(nil)
	p.agree("")
}

// Debts outlive the process, and so do those of a write whose end nobody saw.
func TestTheOutboxOutlivesTheProcess(t *testing.T) {
	p := newPair(t, time.Hour)
	p.two.down(errAway)
	p.write(chunk("a", "x"))
	p.must(p.mirror.Close())
	p.two.down(nil)
	p.retryWait = 20 * time.Millisecond
	p.start()
	if _, err := p.set.Check(t.Context(), p.kb, false); err != nil { // pays what is owed, due or not
		t.Fatal(err)
	}
	p.agree("a=x ")
}

func TestCheckFindsAndRepairsDrift(t *testing.T) {
	p := newPair(t, time.Hour)
	var many []engine.Chunk
	for i := range 500 {
		many = append(many, chunk(fmt.Sprintf("%04d", i), "text"))
	}
	p.write(many...)
	behind := func(chunks ...engine.Chunk) { // written past the mirror
		t.Helper()
		_, err := p.two.Engine.Write(t.Context(), engine.WriteRequest{KB: p.kb, Chunks: chunks, Refresh: true})
		p.must(err)
	}
	_, err := p.two.Engine.DeleteChunks(t.Context(), p.kb, []string{"0000", "0250", "0499"})
	p.must(err)
	turned := many[7]
	turned.Vectors = map[string][]float32{engine.FieldVector: {-1, 0.5}}
	scaled := many[8]
	scaled.Vectors = map[string][]float32{engine.FieldVector: {10, 40}}
	behind(chunk("0100", "edited"), turned, scaled, chunk("extra", "x"))

	for _, repair := range []bool{false, true} {
		report, err := p.set.Check(t.Context(), p.kb, repair)
		p.must(err)
		d := report.Engines[0]
		got := fmt.Sprintln(report.Reference, report.Chunks, d.Engine, d.Chunks, d.Missing, d.Extra, d.Stale)
		const want = "one 500 two 498 {3 [0000 0250 0499]} {1 [extra]} {2 [0007 0100]}\n"
		if got != want || report.Repaired != repair {
			t.Errorf("repair %t: got %s, want %s", repair, got, want)
		}
	}
	report, err := p.set.Check(t.Context(), p.kb, false)
	p.must(err)
	if report.Engines[0].Differs() || report.Engines[0].Chunks != 500 {
		t.Errorf("after the repair: %+v", report)
	}
}

// Further vectors go to all engines; one that differs alone is found and repaired.
func TestFurtherVectorsGoToAll(t *testing.T) {
	p := newPair(t, time.Hour)
	p.kb.ID, p.kb.VectorFields = "titled", []engine.VectorField{{Name: "title_vector", Source: engine.SourceTitle}}
	p.must(p.set.CreateKnowledgeBase(t.Context(), p.kb))
	titled := func(x float32) engine.Chunk {
		c := chunk("a", "text")
		c.Vectors["title_vector"] = []float32{x, 1}
		return c
	}
	p.write(titled(1), chunk("b", "text"))
	_, err := p.two.Engine.Write(t.Context(), engine.WriteRequest{KB: p.kb, Chunks: []engine.Chunk{titled(-1)}, Refresh: true})
	p.must(err)
	for _, differs := range []bool{true, false} {
		report, err := p.set.Check(t.Context(), p.kb, true)
		p.must(err)
		if d := report.Engines[0]; d.Chunks != 2 || d.Differs() != differs || differs && d.Stale.Count != 1 {
			t.Errorf("differs %t: %+v", differs, d)
		}
	}
}

// Writers of the same chunks at the same time, with an engine that comes and
// goes, leave both engines with the same.
func TestConcurrentWriters(t *testing.T) {
	p := newPair(t, 5*time.Millisecond)
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for i := range 20 {
				c := chunk(fmt.Sprintf("c%d", i%5), fmt.Sprintf("v%d", w*100+i))
				_, err := p.set.Write(context.Background(), engine.WriteRequest{KB: p.kb, Chunks: []engine.Chunk{c}})
				if err != nil {
					t.Error(err)
				}
				switch i % 7 {
				case 3:
					p.two.down(errAway)
				case 5:
					p.two.down(nil)
				}
			}
		})
	}
	writers.Wait()
	p.two.down(nil)
	p.agree(p.holds(p.one))
}

func TestKnowledgeBases(t *testing.T) {
	p := newPair(t, time.Hour)
	if err := p.set.CreateKnowledgeBase(t.Context(), p.kb); !fault.Is(err, fault.Conflict) {
		t.Errorf("creating it twice: %v, want conflict", err)
	}
	other := p.kb
	other.ID = "other"
	p.must(p.two.CreateKnowledgeBase(t.Context(), other))
	if err := p.set.CreateKnowledgeBase(t.Context(), other); !fault.Is(err, fault.Conflict) {
		t.Errorf("one engine has it: %v, want conflict", err)
	}
	if _, err := p.one.Describe(t.Context(), other); !fault.Is(err, fault.NotFound) {
		t.Errorf("a half made one stayed: %v; want an error of kind NotFound", err)
	}
	p.two.down(errAway)
	if err := p.set.DeleteKnowledgeBase(t.Context(), p.kb.Ref); !fault.Is(err, fault.Unavailable) {
		t.Errorf("deleting with an engine away: %v, want unavailable", err)
	}
	if _, err := p.one.Describe(t.Context(), p.kb); err != nil {
		t.Errorf("it must stay on the reference: %v", err)
	}
	p.two.down(nil)
	p.must(p.set.DeleteKnowledgeBase(t.Context(), p.kb.Ref))
	for _, e := range []*flaky{p.one, p.two} {
		if _, err := e.Describe(t.Context(), p.kb); !fault.Is(err, fault.NotFound) {
			t.Errorf("still there on %s: %v; want an error of kind NotFound", e.name, err)
		}
	}
}

func TestOver(t *testing.T) {
	p := newPair(t, time.Hour)
	for _, names := range [][]string{{"one", "three"}, {}} {
		if _, err := p.mirror.Over(names); err == nil {
			t.Errorf("%q was accepted; want an error", names)
		}
	}
	if e, ok := p.set.Member("two"); !ok || e.Name() != "two" {
		t.Error("no member two")
	}
	if _, ok := p.set.Member("three"); ok {
		t.Error("a member three")
	}
}

// TestWritesDoNotQueueBehindAnEngineThatHangs: the first gives up after the patience, those
// behind it leave the engine out at once, and all are made up for when it is back.
func TestWritesDoNotQueueBehindAnEngineThatHangs(t *testing.T) {
	deadline.Set(t, time.Minute)
	p := newPair(t, 200*time.Millisecond)
	_ = p.mirror.Close()
	p.patience = time.Second
	p.start()
	for _, hung := range []*flaky{p.two, p.one} {
		hung.hang(true)
		const many = 20
		var tried atomic.Int32
		var group sync.WaitGroup
		began := time.Now()
		for i := range many {
			group.Go(func() {
				outcomes, err := p.set.Write(t.Context(), engine.WriteRequest{
					KB: p.kb, Chunks: []engine.Chunk{chunk(fmt.Sprintf("%02d", i), hung.name)}, Refresh: true,
				})
				if err != nil {
					t.Error(err)
					return
				}
				for _, o := range outcomes[0].Engines {
					if (o.Engine == hung.name) != fault.Is(o.Err, fault.Timeout) {
						t.Errorf("outcome %+v", o)
					}
				}
				tried.Add(1)
			})
		}
		group.Wait()
		if took := time.Since(began); tried.Load() != many || took > many/2*p.patience {
			t.Errorf("%d writes took %v, with a patience of %v", tried.Load(), took, p.patience)
		}
		hung.hang(false)
		want := ""
		for i := range many {
			want += fmt.Sprintf("%02d=%s ", i, hung.name)
		}
		p.agree(want)
	}
}
