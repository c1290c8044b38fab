package mirror_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/deadline"
)

// pays makes up for what is owed, due or not.
func (p *pair) pays() {
	p.Helper()
	_, err := p.set.Check(p.Context(), p.kb, false)
	p.must(err)
}

func (p *pair) replace(chunks ...engine.Chunk) {
	p.Helper()
	_, err := p.set.ReplaceDocument(p.Context(), "d", engine.WriteRequest{KB: p.kb, Chunks: chunks, Refresh: true})
	p.must(err)
}

// TestNoWriteWipesTheDebtOfAnother: what an engine missed is made up for whatever became of later writes of the same
// chunk or document.
func TestNoWriteWipesTheDebtOfAnother(t *testing.T) {
	cases := map[string]struct {
		do   func(p *pair)
		want string
	}{
		"a later write that all refuse": {func(p *pair) {
			p.two.down(errAway)
			p.write(chunk("a", "new"))
			p.two.down(nil)
			p.one.refuse("a")
			p.two.refuse("a")
			p.write(chunk("a", "refused"))
			p.two.refuse()
		}, "a=new b=old "},
		"a later write that nobody answers": {func(p *pair) {
			p.one.down(errAway)
			p.write(chunk("a", "new"))
			p.two.down(errAway)
			if _, err := p.set.Write(p.Context(), engine.WriteRequest{KB: p.kb, Chunks: []engine.Chunk{chunk("a", "lost")}}); err == nil {
				p.Error("a write succeeded with all engines away")
			}
			p.one.down(nil)
			p.two.down(nil)
		}, "a=new b=old "},
		"a later chunk of a document": {func(p *pair) {
			p.one.down(errAway)
			p.replace(chunk("b", "new"))
			p.one.down(nil)
			p.two.down(errAway)
			p.write(chunk("b", "newest"))
			p.two.down(nil)
		}, "b=newest "},
		"a later document of a chunk": {func(p *pair) {
			p.one.down(errAway)
			p.write(chunk("b", "new"))
			p.one.down(nil)
			p.two.down(errAway)
			p.replace(chunk("b", "newest"))
			p.two.down(nil)
		}, "b=newest "},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := newPair(t, time.Hour)
			p.write(chunk("a", "old"), chunk("b", "old"))
			c.do(p)
			p.pays()
			p.agree(c.want)
		})
	}
}

// TestNoWriteOvertakesAnother: while an engine has yet to answer to one write, no engine sees the next; else the two
// could reach the engines in two orders.
func TestNoWriteOvertakesAnother(t *testing.T) {
	deadline.Set(t, time.Minute)
	p := newPair(t, time.Hour)
	p.two.hang(true)
	first, leave := context.WithCancel(t.Context())
	var written sync.WaitGroup
	written.Go(func() {
		_, _ = p.set.Write(first, engine.WriteRequest{KB: p.kb, Chunks: []engine.Chunk{chunk("a", "first")}, Refresh: true})
	})
	for p.holds(p.one) == "" {
		time.Sleep(time.Millisecond)
	}
	second, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := p.set.Write(second, engine.WriteRequest{KB: p.kb, Chunks: []engine.Chunk{chunk("a", "second")}, Refresh: true})
	if got := p.holds(p.one); got != "a=first " || !fault.Is(err, fault.Canceled) {
		t.Errorf(`while the first write is under way one holds %q, the second says %v; want "a=first " and an error of kind Canceled`, got, err)
	}
	leave()
	written.Wait()
}

// TestADebtWaitsForANewerOne: while the newer of two debts in opposite directions cannot be paid, the older is not.
func TestADebtWaitsForANewerOne(t *testing.T) {
	p := newPair(t, 20*time.Millisecond)
	p.write(chunk("b", "old"))
	p.one.down(errAway)
	p.replace(chunk("b", "new"))
	p.two.down(errAway)
	p.one.down(nil)
	p.write(chunk("b", "newest"))
	p.two.refuse("b")
	p.two.down(nil)
	time.Sleep(300 * time.Millisecond)
	if one := p.holds(p.one); one != "b=newest " {
		t.Errorf(`one holds %s; want one "b=newest "`, one)
	}
	p.two.refuse()
	p.agree("b=newest ")
}
