package embedded

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/hybridge-search/hybridge/bm25"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/parallel"
	"github.com/hybridge-search/hybridge/lib/sqlite"
)

// load reads the knowledge base into memory: rows and BM25 indexes side by side. The caller
// holds mu, so the table does not change meanwhile.
func (b *base) load(ctx context.Context) error {
	begun := time.Now()
	b.indexes, b.unsaved = nil, 0
	stored := make([]storedIndex, len(b.texts))
	var others sync.WaitGroup
	others.Go(func() {
		for i, field := range b.texts {
			stored[i].index, stored[i].err = b.readStored(ctx, field)
		}
	})
	s, found, err := b.read(ctx, leastPart)
	others.Wait()
	if err == nil {
		err = b.noteDamage(ctx, s, found)
	}
	if err != nil {
		return sqlite.Fault(err, "loading knowledge base %q", b.kb.ID)
	}
	for i, field := range b.texts {
		x, err := b.readIndex(ctx, field, s.live, stored[i])
		if err != nil {
			b.forget()
			return sqlite.Fault(err, "loading the BM25 index of knowledge base %q, field %s", b.kb.ID, field)
		}
		b.indexes = append(b.indexes, x)
	}
	s.texts = b.textSnapshots()
	b.current.Store(s)
	b.engine.log.Debug("knowledge base loaded", "tenant", b.kb.Tenant, "knowledge_base", b.kb.ID,
		"chunks", s.live.GetCardinality(), "took", time.Since(begun))
	b.changed(0)
	return nil
}

// noteDamage records the unusable parts of the table.
func (b *base) noteDamage(ctx context.Context, s *snapshot, found *findings) error {
	broken, err := b.settle(ctx, s, found)
	if err != nil {
		return err
	}
	if broken != nil {
		b.engine.log.Error("the index of ids is damaged; hybridge kb check --repair rebuilds it",
			"tenant", b.kb.Tenant, "knowledge_base", b.kb.ID, "error", broken)
	}
	b.logDamaged(found.bad)
	return nil
}

// storedIndex is a BM25 index read from the folder, or the reason why it is unusable.
type storedIndex struct {
	index *bm25.Index
	err   error
}

// readIndex returns the BM25 index of a field: the stored one brought up to date, or a new
// one if none can be trusted.
func (b *base) readIndex(
	ctx context.Context, field string, live *roaring.Bitmap, stored storedIndex,
) (*bm25.Index, error) {
	err := stored.err
	if err == nil {
		err = b.reconcile(ctx, field, live, stored.index)
	}
	if err == nil || ctx.Err() != nil {
		return stored.index, err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		b.repairs.Add(1)
		b.engine.repairs.Add(1)
		b.engine.log.Warn("repaired: an unusable BM25 index is rebuilt from the chunks",
			"tenant", b.kb.Tenant, "knowledge_base", b.kb.ID, "field", field, "reason", err)
	}
	x := bm25.New(b.indexOptions())
	return x, b.reconcile(ctx, field, live, x)
}

func (b *base) indexOptions() bm25.Options {
	options := bm25.Options{Fingerprint: b.engine.options.Tokenizer.Fingerprint()}
	if b.kb.BM25 == engine.BM25Okapi {
		options.Variant = bm25.Okapi
	}
	return options
}

// readStored reads a stored index. One with rows that were never written belongs to
// another file of chunks, or to one that a power cut set back.
func (b *base) readStored(ctx context.Context, field string) (*bm25.Index, error) {
	data, err := b.engine.indexes.read(b.table.number, field)
	if err != nil {
		return nil, err
	}
	x, err := bm25.Read(data, b.indexOptions())
	if err != nil {
		return nil, err
	}
	last, err := b.table.lastRow(ctx, b.engine.files.readers)
	if next := x.Snapshot().NextKey(); err == nil && next > last+1 {
		err = fault.New(fault.Conflict, "it holds rows up to %d, the chunks end at %d", next-1, last)
	}
	return x, err
}

// reconcile brings an index to exactly the live rows: missing rows are tokenised and added,
// deleted ones removed.
func (b *base) reconcile(ctx context.Context, field string, live *roaring.Bitmap, x *bm25.Index) error {
	keys := x.Snapshot().Keys()
	surplus, missing := roaring.AndNot(keys, live), roaring.AndNot(live, keys)
	if surplus.IsEmpty() && missing.IsEmpty() {
		return nil
	}
	b.unsaved += int(surplus.GetCardinality() + missing.GetCardinality())
	x.Delete(surplus.ToArray())
	if missing.IsEmpty() {
		return nil
	}
	b.engine.log.Info("a BM25 index is completed from the chunks", "tenant", b.kb.Tenant, "knowledge_base", b.kb.ID,
		"field", field, "added", missing.GetCardinality(), "removed", surplus.GetCardinality())
	return b.addMissing(ctx, x, field, missing)
}

// portion is the number of chunks tokenised and added at a time.
const portion = 4096

// addMissing reads rows by number: rows between them may be damaged.
func (b *base) addMissing(ctx context.Context, x *bm25.Index, field string, missing *roaring.Bitmap) error {
	rows := make([]uint32, portion)
	for some := missing.ManyIterator(); ; {
		n := some.NextMany(rows)
		if n == 0 {
			return nil
		}
		texts, err := b.textsOf(ctx, field, rows[:n])
		if err == nil {
			err = b.tokenise(x, texts)
		}
		if err != nil {
			return err
		}
	}
}

// textsOf reads a field of ascending rows.
func (b *base) textsOf(ctx context.Context, field string, numbers []uint32) ([]numbered, error) {
	list, err := json.Marshal(numbers)
	if err != nil {
		return nil, err
	}
	rows, err := b.engine.files.readers.QueryContext(ctx,
		"SELECT row, body FROM "+b.table.source()+" WHERE row IN (SELECT value FROM json_each(?)) ORDER BY row", string(list))
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	var texts []numbered
	for rows.Next() {
		text := numbered{}
		var body []byte
		if err := rows.Scan(&text.row, &body); err != nil {
			return nil, err
		}
		chunk, err := b.kb.DecodeStored(body)
		if err != nil {
			return nil, err
		}
		text.text = chunk.FieldText(field)
		texts = append(texts, text)
	}
	return texts, rows.Err()
}

// numbered is the text of a row.
type numbered struct {
	row  uint32
	text string
}

// tokenise adds texts to an index, on several processors.
func (b *base) tokenise(x *bm25.Index, texts []numbered) error {
	docs := make([]bm25.Doc, len(texts))
	parallel.Each(len(texts), func(i int) {
		docs[i] = bm25.Doc{Key: texts[i].row, Tokens: b.engine.options.Tokenizer.Terms(texts[i].text)}
	})
	return x.Add(docs)
}

// A BM25 index is saved in the background after this many changed rows, or a
// fifth of its rows where that is more; else when the engine closes.
const saveAfter = 2000

// changed counts changed rows and asks for a save when they are many. The
// caller holds mu.
func (b *base) changed(rows int) {
	b.unsaved += rows
	s := b.current.Load()
	if s == nil || b.unsaved < max(saveAfter, int(s.live.GetCardinality()/5)) {
		return
	}
	select {
	case b.engine.due <- b:
	default: // the next change asks again
	}
}

// saveDue saves knowledge bases with many changes, until the engine closes.
func (e *Engine) saveDue() {
	for {
		select {
		case <-e.life.Done():
			return
		case b := <-e.due:
			b.saveLogged(e.life)
		}
	}
}

func (b *base) saveLogged(ctx context.Context) {
	if err := b.save(); err != nil && ctx.Err() == nil {
		b.engine.log.Warn("BM25 index not saved; it will be rebuilt or completed at the next start",
			"tenant", b.kb.Tenant, "knowledge_base", b.kb.ID, "error", err)
	}
}

// save stores the BM25 indexes of the snapshot. Nobody waits for it.
func (b *base) save() error {
	b.saving.Lock()
	defer b.saving.Unlock()
	b.mu.Lock()
	s, changes, gone := b.current.Load(), b.unsaved, b.gone
	b.mu.Unlock()
	if s == nil || changes == 0 || gone {
		return nil
	}
	for i, field := range b.texts {
		if err := b.engine.indexes.write(b.table.number, field, s.texts[i]); err != nil {
			return err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.unsaved -= changes
	if b.gone { // meanwhile
		return b.engine.indexes.remove(b.table.number, b.texts)
	}
	return nil
}

// indexFiles is the folder of the stored BM25 indexes, a file per knowledge base and
// text field. They are a cache: checked when read, rebuilt from the chunks when
// damaged. They stay out of SQLite, where one damaged page can cost more than an
// index.
type indexFiles string

const (
	indexFolder = "indexes"
	indexSuffix = ".bm25"
)

func openIndexFiles(dir string) (indexFiles, error) {
	folder := filepath.Join(dir, indexFolder)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", fault.Wrap(fault.Unavailable, err, "making the folder %s", folder)
	}
	return indexFiles(folder), nil
}

func (f indexFiles) path(number int64, field string) string {
	return filepath.Join(string(f), fmt.Sprintf("%d-%s%s", number, field, indexSuffix))
}

// read gives a stored index; fs.ErrNotExist when there is none.
func (f indexFiles) read(number int64, field string) ([]byte, error) {
	return os.ReadFile(f.path(number, field))
}

// write replaces a stored index. A process killed meanwhile leaves the old one; what a
// power cut leaves behind fails the checksum.
func (f indexFiles) write(number int64, field string, index io.WriterTo) error {
	path := f.path(number, field)
	const fresh = os.O_RDWR | os.O_CREATE | os.O_TRUNC
	unfinished, err := os.OpenFile(path+".new", fresh, 0o600) //nolint:gosec // number and field are ours
	if err != nil {
		return err
	}
	_, err = index.WriteTo(unfinished)
	if err = errors.Join(err, unfinished.Close()); err != nil {
		return errors.Join(err, os.Remove(unfinished.Name()))
	}
	return os.Rename(unfinished.Name(), path)
}

// remove drops the stored indexes of a knowledge base.
func (f indexFiles) remove(number int64, fields []string) error {
	var all []error
	for _, field := range fields {
		if err := os.Remove(f.path(number, field)); !errors.Is(err, fs.ErrNotExist) {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}

// sweep removes files that belong to no knowledge base. Numbers are never reused, but
// a process may be killed between a deletion and its last step.
func (f indexFiles) sweep(known map[string]bool) error {
	entries, err := os.ReadDir(string(f))
	if err != nil {
		return err
	}
	var all []error
	for _, e := range entries {
		number, _, _ := strings.Cut(e.Name(), "-")
		if !known[number] || !strings.HasSuffix(e.Name(), indexSuffix) {
			all = append(all, os.Remove(filepath.Join(string(f), e.Name())))
		}
	}
	return errors.Join(all...)
}
