package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/parallel"
)

// Write implements engine.Store. What it acknowledges is committed and visible, with or
// without Refresh; with it, the keyword indexes are made ready too.
func (e *Engine) Write(ctx context.Context, req engine.WriteRequest) ([]engine.WriteOutcome, error) {
	return e.watched.Write("write", func() ([]engine.WriteOutcome, error) { return e.put(ctx, req, nil) })
}

// ReplaceDocument implements engine.Store: a search sees all old chunks of the
// document or all new ones.
func (e *Engine) ReplaceDocument(
	ctx context.Context, documentID string, req engine.WriteRequest,
) ([]engine.WriteOutcome, error) {
	return e.watched.Write("replace", func() ([]engine.WriteOutcome, error) {
		return e.put(ctx, req, &documentID)
	})
}

func (e *Engine) put(ctx context.Context, req engine.WriteRequest, document *string) ([]engine.WriteOutcome, error) {
	var outcomes []engine.WriteOutcome
	err := e.withShape(ctx, &req.KB, func(b *base) error {
		chunks, err := e.options.Embed.RefitWritten(ctx, &req, &b.kb)
		if err != nil {
			return err
		}
		c := newChange(b, &req, b.prepare(chunks))
		if c.document = document; document != nil {
			if err := engine.RefuseFirst(c.outcomes); err != nil {
				return err
			}
			c.removeDocument(*document)
		}
		if err := e.apply(ctx, c); err != nil {
			return err
		}
		outcomes = c.outcomes
		if req.Refresh {
			e.refresh(ctx, b)
		}
		return nil
	})
	return outcomes, err
}

// DeleteDocument implements engine.Store.
func (e *Engine) DeleteDocument(ctx context.Context, kb engine.KnowledgeBase, documentID string) (int, error) {
	return e.watched.Delete(func() (int, error) {
		return e.remove(ctx, kb.Ref, func(c *change) { c.removeDocument(documentID) })
	})
}

// DeleteChunks implements engine.Store.
func (e *Engine) DeleteChunks(ctx context.Context, kb engine.KnowledgeBase, ids []string) (int, error) {
	return e.watched.Delete(func() (int, error) {
		return e.remove(ctx, kb.Ref, func(c *change) { c.removeIDs(ids) })
	})
}

func (e *Engine) remove(ctx context.Context, ref engine.Ref, plan func(*change)) (removed int, err error) {
	err = e.withBase(ctx, ref, func(b *base) error {
		c := newChange(b, nil, nil)
		plan(c)
		if err := e.apply(ctx, c); err != nil {
			return err
		}
		removed = c.removed
		return nil
	})
	return removed, err
}

// change is one call's write, applied atomically.
type change struct {
	base     *base
	request  *engine.WriteRequest // restricts what put may replace; nil: anything
	document *string              // that put replaces
	edit     *engine.ChangeRequest
	edited   []engine.ChangeOutcome
	put      []*prepared // chunks to store; the last of several with one id
	outcomes []engine.WriteOutcome
	firsts   map[string]int // outcomes of ids that may be replaced, by id
	removals []removal
	removed  int
	counters counters
}

// removal is a condition on rows to be deleted, whose parameter is $2.
type removal struct {
	condition string
	argument  any
}

// counters are a change's increments of a knowledge base's counters.
type counters struct {
	chunks, hidden int64
	vectors        []int64
}

func (c *counters) add(available bool, present []bool, n int64) {
	c.chunks += n
	if !available {
		c.hidden += n
	}
	for i, p := range present {
		if p {
			c.vectors[i] += n
		}
	}
}

// newChange plans to store the chunks of a request, and to replace those of the same ids.
func newChange(b *base, request *engine.WriteRequest, chunks []*prepared) *change {
	c := &change{base: b, request: request}
	c.firsts, c.counters.vectors = map[string]int{}, make([]int64, len(b.table.vectors))
	if request != nil {
		for i, err := range request.Claims() {
			chunks[i].err = err
		}
	}
	last := map[string]int{}
	for i, p := range chunks {
		outcome := engine.WriteOutcome{ID: p.id, Status: engine.Created}
		switch _, again := c.firsts[p.id]; {
		case p.err != nil:
			outcome.Status, outcome.Err = engine.Failed, p.err
		case again:
			outcome.Status = engine.Updated
			last[p.id] = i
		default:
			c.firsts[p.id] = i
			last[p.id] = i
		}
		c.outcomes = append(c.outcomes, outcome)
	}
	for i, p := range chunks {
		if at, good := last[p.id]; good && at == i {
			c.put = append(c.put, p)
		}
	}
	return c
}

// ids returns the ids of the chunks to store.
func (c *change) ids() []string {
	ids := make([]string, len(c.put))
	for i, p := range c.put {
		ids[i] = p.id
	}
	return ids
}

func (c *change) removeIDs(ids []string) {
	var known []string
	for _, id := range ids {
		if storable(id) {
			known = append(known, id)
		}
	}
	if len(known) > 0 {
		c.removals = append(c.removals, removal{"id = ANY($2)", known})
	}
}

func (c *change) removeDocument(documentID string) {
	if storable(documentID) {
		c.removals = append(c.removals, removal{"document_id = $2", documentID})
	}
}

// errUnchanged aborts a transaction without changes.
var errUnchanged = errors.New("nothing to change")

// apply runs a change in one transaction. Writers of a knowledge base queue for the
// lock of its row in knowledge_bases, so generations and row numbers are committed in
// order.
func (e *Engine) apply(ctx context.Context, c *change) error {
	if len(c.put) == 0 && len(c.removals) == 0 && c.edit == nil {
		return e.exists(ctx, c.base)
	}
	err := pgx.BeginFunc(ctx, e.pool, func(tx pgx.Tx) error { return c.run(ctx, tx) })
	if errors.Is(err, errUnchanged) {
		return nil
	}
	if err != nil {
		return wrapUnlessReplaced(err, "writing to knowledge base %q", c.base.kb.ID)
	}
	if len(c.put) > 0 {
		e.noteWrite(c.base)
	}
	return nil
}

// exists fails if the knowledge base does not exist.
func (e *Engine) exists(ctx context.Context, b *base) error {
	if _, err := b.state(ctx, e.pool); err != nil {
		return wrapUnlessReplaced(err, "looking for knowledge base %q", b.kb.ID)
	}
	return nil
}

func (c *change) run(ctx context.Context, tx pgx.Tx) error {
	t := &c.base.table
	var generation, row int64
	err := tx.QueryRow(ctx, `SELECT generation + 1, next_row FROM knowledge_bases
		WHERE number = $1 FOR NO KEY UPDATE`, t.number).Scan(&generation, &row)
	if errors.Is(err, pgx.ErrNoRows) {
		return errReplaced
	}
	if err != nil {
		return err
	}
	if err := c.decide(ctx, tx); err != nil {
		return err
	}
	c.removeIDs(c.ids())
	for _, r := range c.removals {
		if err := c.remove(ctx, tx, generation, r); err != nil {
			return err
		}
	}
	if len(c.put) == 0 && c.removed == 0 {
		return errUnchanged
	}
	next := row + int64(len(c.put))
	if next > math.MaxUint32 {
		return fault.New(fault.TooLarge, "knowledge base %q is out of row numbers; make it anew", c.base.kb.ID)
	}
	if err := c.copy(ctx, tx, generation, row); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE knowledge_bases SET generation = $2, next_row = $3, chunks = chunks + $4,
		hidden = hidden + $5, vectors = ARRAY(SELECT a + b FROM unnest(vectors, $6::BIGINT[]) AS sums (a, b))
		WHERE number = $1`, t.number, generation, next, c.counters.chunks, c.counters.hidden, c.counters.vectors)
	return err
}

// remove deletes rows and updates outcomes and counters.
func (c *change) remove(ctx context.Context, tx pgx.Tx, generation int64, r removal) error {
	rows, err := tx.Query(ctx, c.base.table.removal(r.condition), generation, r.argument)
	if err != nil {
		return err
	}
	var id string
	var available bool
	var present []bool
	_, err = pgx.ForEachRow(rows, []any{&id, &available, &present}, func() error {
		c.removed++
		c.counters.add(available, present, -1)
		if i, replaced := c.firsts[id]; replaced {
			c.outcomes[i].Status = engine.Updated
		}
		return nil
	})
	return err
}

// copy adds the chunks by COPY.
func (c *change) copy(ctx context.Context, tx pgx.Tx, generation, row int64) error {
	if len(c.put) == 0 {
		return nil
	}
	for _, p := range c.put {
		c.counters.add(p.available, p.present, 1)
	}
	source := pgx.CopyFromSlice(len(c.put), func(i int) ([]any, error) {
		return c.put[i].row(row+int64(i), generation), nil
	})
	_, err := tx.CopyFrom(ctx, pgx.Identifier{c.base.table.name}, c.base.table.columns(), source)
	return err
}

// prepared is a chunk with everything that can be computed before its row is known.
type prepared struct {
	id, documentID string
	available      bool
	present        []bool // by vector field: whether it has a vector
	values         []any  // of the table's columns behind row and generation
	err            error  // why it cannot be stored
}

func (b *base) prepare(chunks []engine.Chunk) []*prepared {
	all := make([]*prepared, len(chunks))
	parallel.Each(len(chunks), func(i int) { all[i] = b.prepareOne(&chunks[i]) })
	return all
}

func (b *base) prepareOne(c *engine.Chunk) *prepared {
	p := &prepared{id: c.ID, documentID: c.DocumentID, available: c.Available}
	if p.err = b.check(c); p.err != nil {
		return p
	}
	metadata, err := engine.EncodeStored(c.Filterable())
	if err != nil {
		p.err = fault.Wrap(fault.InvalidArgument, err, "the metadata of chunk %q", c.ID)
		return p
	}
	if bytes.Contains(metadata, []byte(`\u0000`)) && hasNUL(c.Filterable()) {
		p.err = fault.New(fault.InvalidArgument, "the metadata of chunk %q has the character U+0000; leave it out", c.ID)
		return p
	}
	body, err := engine.EncodeStored(c)
	if err != nil {
		p.err = fault.Wrap(fault.InvalidArgument, err, "chunk %q", c.ID)
		return p
	}
	p.values = []any{c.ID, c.DocumentID, c.DocumentName, c.Ordinal, c.Available, lotOf(c.ID), metadata, body}
	for _, field := range b.table.vectors {
		v := b.table.unit(c.Vectors[field])
		p.present = append(p.present, v != nil)
		if v == nil {
			p.values = append(p.values, nil)
			continue
		}
		p.values = append(p.values, b.table.value(v))
	}
	return p
}

// row gives the values of all columns.
func (p *prepared) row(number, generation int64) []any {
	return append([]any{number, generation}, p.values...)
}

// maxName bounds values in a B-tree index, in bytes.
const maxName = 1024

// check is a safeguard: ingestion checks the same, except limits of PostgreSQL.
func (b *base) check(c *engine.Chunk) error {
	if c.ID == "" {
		return fault.Invalid("id", c.ID, "a name of the chunk, not empty")
	}
	for field, text := range map[string]string{
		"id": c.ID, "document_id": c.DocumentID, "document_name": c.DocumentName, "owner": c.Owner,
	} {
		if !storable(text) || len(text) > maxName {
			return fault.Invalid(field, text, fmt.Sprintf("at most %d bytes of UTF-8 without the character U+0000", maxName))
		}
	}
	for field, v := range c.Vectors {
		if v == nil {
			continue
		}
		if !slices.Contains(b.table.vectors, field) {
			return fault.Invalid("vector", field, engine.OneOf("a vector field", b.table.vectors))
		}
		if err := engine.CheckVector(field, v, b.kb.Dimensions); err != nil {
			return err
		}
	}
	return nil
}

// storable reports whether PostgreSQL accepts a text.
func storable(text string) bool { return utf8.ValidString(text) && !strings.ContainsRune(text, 0) }

// hasNUL looks for the one character that JSONB does not take.
func hasNUL(fields map[string][]any) bool {
	for name, values := range fields {
		if strings.ContainsRune(name, 0) {
			return true
		}
		for _, v := range values {
			if text, ok := v.(string); ok && strings.ContainsRune(text, 0) {
				return true
			}
		}
	}
	return false
}
