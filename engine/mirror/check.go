package mirror

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"slices"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// Check implements engine.Checker: it walks the reference and each other engine side
// by side, in the order of ids. What seems to differ is compared again while writes
// wait, so that a write under way does not count as a difference.
func (s *Set) Check(ctx context.Context, kb engine.KnowledgeBase, repair bool) (*engine.DriftReport, error) {
	if err := s.notMigrating(ctx, kb.Ref); err != nil {
		return nil, err
	}
	if err := s.mirror.catchUp(ctx, kb.Ref); err != nil {
		return nil, err
	}
	report := &engine.DriftReport{Reference: s.members[0].Name(), Repaired: repair, Engines: []engine.Drift{}}
	damaged, err := s.verify(ctx, kb, repair, report)
	if err != nil {
		return nil, err
	}
	for _, other := range s.members[1:] {
		w := &walk{
			mirror: s.mirror, copier: copier{kb: kb, from: s.members[0], to: other},
			repair: repair, drift: engine.Drift{Engine: other.Name()}, damaged: damaged,
		}
		if err := w.run(ctx); err != nil {
			return nil, err
		}
		report.Chunks = w.counted
		report.Engines = append(report.Engines, w.drift)
	}
	return report, nil
}

// notMigrating refuses to compare engines that have different shapes.
func (s *Set) notMigrating(ctx context.Context, ref engine.Ref) error {
	m, ok := s.members[0].(engine.Migrator)
	if !ok {
		return nil
	}
	found, err := m.Migration(ctx, ref)
	switch {
	case fault.Is(err, fault.NotFound) || err == nil && found.State == engine.MigrationSwitched:
		return nil
	case err != nil:
		return err
	}
	return fault.New(fault.Conflict,
		"the mapping of knowledge base %q is being changed; compare its engines afterwards", ref.ID)
}

// verify has the engines compare what they store with their checksums. With repair it takes
// what is damaged on one from another. It gives the ids that stay damaged, which say nothing
// about a difference.
func (s *Set) verify(
	ctx context.Context, kb engine.KnowledgeBase, repair bool, report *engine.DriftReport,
) (map[string]bool, error) {
	damaged := map[string]bool{}
	for _, m := range s.members {
		v, ok := m.(engine.Verifier)
		if !ok {
			continue
		}
		found, err := v.Verify(ctx, on(kb, m), repair)
		if err != nil {
			return nil, err
		}
		if repair && len(found.All) > 0 {
			if found, err = s.restore(ctx, kb, m, found.All); err != nil {
				return nil, err
			}
		}
		if repair && found.Index != "" {
			return nil, fault.New(fault.Corrupt, "engine %s has a damaged index of knowledge base %q that cannot be made anew; "+
				"nothing was changed on the others: %s", m.Name(), kb.ID, found.Index)
		}
		for _, id := range found.All {
			damaged[id] = true
		}
		report.Integrity = append(report.Integrity, *found)
	}
	return damaged, nil
}

// restore writes damaged chunks of an engine again, as another engine has them, and verifies
// it once more.
func (s *Set) restore(
	ctx context.Context, kb engine.KnowledgeBase, damaged engine.Engine, ids []string,
) (*engine.Integrity, error) {
	restored := 0
	for _, other := range s.members {
		if other == damaged {
			continue
		}
		c := &copier{kb: kb, from: other, to: damaged}
		for some := range slices.Chunk(ids, chunksAtOnce) {
			n, err := s.mirror.rewrite(ctx, c, some)
			if err != nil {
				return nil, err
			}
			restored += n
		}
		if restored == len(ids) {
			break
		}
	}
	found, err := damaged.(engine.Verifier).Verify(ctx, on(kb, damaged), true)
	if err == nil {
		found.Restored = restored
	}
	return found, err
}

// rewrite writes the chunks that exist at the source.
func (m *Mirror) rewrite(ctx context.Context, c *copier, ids []string) (int, error) {
	release, err := m.lock(ctx, c.kb.Ref)
	if err != nil {
		return 0, err
	}
	defer release()
	if err := c.settled(ctx); err != nil {
		return 0, err
	}
	chunks, err := c.scan(ctx, c.from, ids)
	if err != nil || len(chunks) == 0 {
		return 0, err
	}
	outcomes, err := c.to.Write(ctx, engine.WriteRequest{KB: on(c.kb, c.to), Chunks: chunks, Refresh: true, Copy: true})
	if err != nil {
		return 0, err
	}
	for _, o := range outcomes {
		if o.Err != nil {
			return 0, o.Err
		}
	}
	return len(chunks), nil
}

// catchUp pays all debts in a knowledge base, due or not. Nothing can be compared with a
// reference that is itself behind.
func (m *Mirror) catchUp(ctx context.Context, ref engine.Ref) error {
	owed, err := m.outbox.of(ctx, ref, debtsAtOnce)
	if err != nil {
		return err
	}
	return m.pay(ctx, owed)
}

// walk compares one engine with the reference.
type walk struct {
	copier
	mirror  *Mirror
	repair  bool
	counted int // chunks of the reference
	drift   engine.Drift
	suspect []string
	damaged map[string]bool // on an engine, and told apart
}

func (w *walk) run(ctx context.Context) error {
	if err := w.settled(ctx); err != nil {
		return err
	}
	left, right := w.cursor(w.from), w.cursor(w.to)
	for {
		a, err := left.peek(ctx)
		if err != nil {
			return err
		}
		b, err := right.peek(ctx)
		if err != nil {
			return err
		}
		if a == nil && b == nil {
			return w.look(ctx)
		}
		w.compare(left, right)
		if len(w.suspect) >= chunksAtOnce {
			if err := w.look(ctx); err != nil {
				return err
			}
		}
	}
}

// compare takes the smaller of the next two chunks, or both when they are one.
func (w *walk) compare(left, right *cursor) {
	a, b := left.next, right.next
	switch {
	case b == nil || a != nil && a.ID < b.ID:
		w.suspect = append(w.suspect, a.ID)
		left.take()
		w.counted++
	case a == nil || b.ID < a.ID:
		w.suspect = append(w.suspect, b.ID)
		right.take()
		w.drift.Chunks++
	default:
		if !same(a, b) {
			w.suspect = append(w.suspect, a.ID)
		}
		left.take()
		right.take()
		w.counted++
		w.drift.Chunks++
	}
}

// look decides about the suspects, and repairs those that differ.
func (w *walk) look(ctx context.Context) error {
	if len(w.suspect) == 0 {
		return nil
	}
	ids := slices.DeleteFunc(w.suspect, func(id string) bool { return w.damaged[id] })
	w.suspect = nil
	if len(ids) == 0 {
		return nil
	}
	release, err := w.mirror.lock(ctx, w.kb.Ref)
	if err != nil {
		return err
	}
	defer release()
	if err := w.settled(ctx); err != nil {
		return err
	}
	here, err := w.byID(ctx, w.from, ids)
	if err != nil {
		return err
	}
	there, err := w.byID(ctx, w.to, ids)
	if err != nil {
		return err
	}
	var differ []string
	for _, id := range ids {
		a, b := here[id], there[id]
		switch {
		case a == nil && b == nil:
			continue
		case b == nil:
			w.drift.Missing.Add(id)
		case a == nil:
			w.drift.Extra.Add(id)
		case !same(a, b):
			w.drift.Stale.Add(id)
		default:
			continue
		}
		differ = append(differ, id)
	}
	if !w.repair || len(differ) == 0 {
		return nil
	}
	failed, err := w.copy(ctx, differ)
	if err != nil {
		return err
	}
	for id, err := range failed {
		return fault.Wrap(fault.KindOf(err), err, "chunk %q cannot be repaired on engine %s: %s",
			id, w.to.Name(), detail(err))
	}
	return nil
}

func (c *copier) byID(ctx context.Context, e engine.Engine, ids []string) (map[string]*engine.Chunk, error) {
	chunks, err := c.scan(ctx, e, ids)
	if err != nil {
		return nil, err
	}
	found := make(map[string]*engine.Chunk, len(chunks))
	for i := range chunks {
		found[chunks[i].ID] = &chunks[i]
	}
	return found, nil
}

// cursor reads an engine page by page.
type cursor struct {
	engine engine.Engine
	kb     engine.KnowledgeBase
	page   []engine.Chunk
	next   *engine.Chunk
	after  string
	ended  bool
}

func (w *walk) cursor(e engine.Engine) *cursor { return &cursor{engine: e, kb: on(w.kb, e)} }

// peek gives the next chunk without taking it; nil at the end.
func (c *cursor) peek(ctx context.Context) (*engine.Chunk, error) {
	if c.next == nil && len(c.page) == 0 && !c.ended {
		page, err := c.engine.(engine.Scanner).Scan(ctx, engine.ScanRequest{KB: c.kb, After: c.after, Limit: chunksAtOnce})
		if err != nil {
			return nil, err
		}
		c.page, c.ended = page, len(page) < chunksAtOnce
		if len(page) > 0 {
			c.after = page[len(page)-1].ID
		}
	}
	if c.next == nil && len(c.page) > 0 {
		c.next = &c.page[0]
		c.page = c.page[1:]
	}
	return c.next, nil
}

func (c *cursor) take() { c.next = nil }

// same compares two stored chunks, vectors by direction, as an engine may have scaled them
// to length 1.
func same(a, b *engine.Chunk) bool {
	left, err := json.Marshal(a)
	if err != nil {
		return false
	}
	right, err := json.Marshal(b)
	if err != nil || !bytes.Equal(left, right) {
		return false
	}
	for name := range a.Vectors {
		if !sameDirection(a.Vectors[name], b.Vectors[name]) {
			return false
		}
	}
	for name := range b.Vectors {
		if !sameDirection(a.Vectors[name], b.Vectors[name]) {
			return false
		}
	}
	return true
}

// rounding is how far the cosine of a vector with itself may be from 1 after
// an engine has stored it in float32 with length 1.
const rounding = 1e-5

// sameDirection treats a missing vector like one of length 0.
func sameDirection(a, b []float32) bool {
	var dot, aa, bb float64
	for i := range a {
		aa += float64(a[i]) * float64(a[i])
	}
	for i := range b {
		bb += float64(b[i]) * float64(b[i])
	}
	if aa == 0 || bb == 0 || len(a) != len(b) {
		return aa == 0 && bb == 0
	}
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
	}
	return dot/math.Sqrt(aa*bb) > 1-rounding
}
