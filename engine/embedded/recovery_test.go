package embedded_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/bm25"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/embedded"
	"github.com/hybridge-search/hybridge/engine/enginetest"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/textquery"
)

var testKB = engine.KnowledgeBase{
	Ref: engine.Ref{Tenant: "t", ID: "kb"}, Engine: "embedded", Kind: engine.KindChunks, Dimensions: 2, Analyzer: "jieba",
}

func mustCreate(t *testing.T, e engine.Engine) {
	t.Helper()
	if err := e.CreateKnowledgeBase(t.Context(), testKB); err != nil {
		t.Fatal(err)
	}
}

func mustClose(t *testing.T, e engine.Engine) {
	t.Helper()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

func chunk(id, document, content string) engine.Chunk {
	return engine.Chunk{
		ID: id, DocumentID: document, Content: content, Available: true,
		Vectors: map[string][]float32{engine.FieldVector: {1, float32(len(id))}},
	}
}

func mustWrite(t *testing.T, e engine.Engine, chunks ...engine.Chunk) {
	t.Helper()
	if _, err := e.Write(t.Context(), engine.WriteRequest{KB: testKB, Chunks: chunks}); err != nil {
		t.Error(err)
	}
}

// found gives the ids that a word finds, by score and id, and checks that the
// vectors know the same chunks.
func found(t *testing.T, e engine.Engine, word string) []string {
	t.Helper()
	result, err := e.Search(t.Context(), &engine.Request{KB: testKB, Legs: []engine.Leg{
		{Name: "text", Field: engine.FieldText, K: 10000, Text: &textquery.Query{Terms: []textquery.Term{{Text: word, Weight: 1}}}},
		{Name: "vector", Field: engine.FieldVector, K: 10000, Vector: []float32{1, 0}},
	}})
	if err != nil {
		t.Error(err)
		return nil
	}
	var ids []string
	for _, h := range result.Hits {
		if h.Observations[0].Rank > 0 {
			ids = append(ids, h.ID)
			if !h.Observations[1].Known() {
				t.Errorf("chunk %s has lost its vector", h.ID)
			}
		}
	}
	return ids
}

// storedIndexes are the files of the stored BM25 indexes.
func storedIndexes(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "indexes", "*.bm25"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func copyDir(t *testing.T, from string) string {
	t.Helper()
	for {
		before := writtenAt(t, from)
		to := copyFiles(t, from)
		if writtenAt(t, from).Equal(before) {
			return to
		}
		// The log was written into the file between the two: no kill leaves that behind.
	}
}

func writtenAt(t *testing.T, dir string) time.Time {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, "hybridge.db"))
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime()
}

func copyFiles(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.Mkdir(filepath.Join(to, "indexes"), 0o700); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), "lock.db") {
			return err
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) { // an index was just replaced
			return nil
		}
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, relative), data, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// TestKilled copies the data directory, as a killed process would leave it,
// between acknowledged writes: every one of them must be there.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir)
	defer mustClose(t, e)
	mustCreate(t, e)
	for i := range 5 {
		for j := range 20 {
			mustWrite(t, e, chunk(fmt.Sprintf("c%d-%d", i, j), fmt.Sprint("d", i), "word"))
		}
		if i == 2 {
			if n, err := e.DeleteDocument(t.Context(), testKB, "d0"); err != nil || n != 20 {
				t.Fatal(n, err)
			}
		}
		again := open(t, copyDir(t, dir))
		want, got := strings.Join(found(t, e, "word"), " "), strings.Join(found(t, again, "word"), " ")
		mustClose(t, again)
		if got != want {
			t.Errorf("after write %d the copy has %s, want %s", i, got, want)
		}
	}
}

// TestKilledMidWrite copies the directory at any moment of a running write:
// the copy opens, and holds whole documents only.
func TestKilledMidWrite(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir)
	defer mustClose(t, e)
	mustCreate(t, e)
	ctx, stop := context.WithCancel(t.Context())
	var writer sync.WaitGroup
	writer.Go(func() {
		for round := 0; ctx.Err() == nil; round++ {
			var chunks []engine.Chunk
			for i := range 10 {
				chunks = append(chunks, chunk(fmt.Sprintf("c%d", i+round%2), "doc", fmt.Sprintf("word round%d", round)))
			}
			if _, err := e.ReplaceDocument(ctx, "doc", engine.WriteRequest{KB: testKB, Chunks: chunks}); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		}
	})
	for range 8 {
		again := open(t, copyDir(t, dir))
		if n := len(found(t, again, "word")); n != 0 && n != 10 {
			t.Errorf("the copy has %d chunks of a document of 10; want n 0 or n 10", n)
		}
		mustClose(t, again)
	}
	stop()
	writer.Wait()
}

// tamper changes the data file of a closed engine.
func tamper(t *testing.T, dir, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "hybridge.db"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(statement)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

func foreignIndex(t *testing.T, fingerprint string, keys ...uint32) []byte {
	t.Helper()
	x := bm25.New(bm25.Options{Fingerprint: fingerprint})
	for _, key := range keys {
		if err := x.Add([]bm25.Doc{{Key: key, Tokens: []string{"foreign"}}}); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if _, err := x.Snapshot().WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func changeIndex(t *testing.T, dir string, change func([]byte) []byte) {
	t.Helper()
	for _, path := range storedIndexes(t, dir) {
		index, err := os.ReadFile(path)
		switch {
		case err != nil:
		case change == nil:
			err = os.Remove(path)
		default:
			err = os.WriteFile(path, change(index), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestStoredIndex reopens with stored BM25 indexes that are missing, damaged,
// foreign, older or newer than the chunks.
func TestStoredIndex(t *testing.T) {
	own := enginetest.Words{}.Fingerprint()
	for _, c := range []struct {
		name    string
		change  func(index []byte) []byte // nil: the file is removed
		repairs int
	}{
		{"as it was saved", slices.Clone[[]byte], 0},
		{"missing", nil, 0},
		{"empty", func([]byte) []byte { return nil }, 1},
		{"cut", func(index []byte) []byte { return index[:len(index)/2] }, 1},
		{"a byte changed", func(index []byte) []byte { index[20]++; return index }, 1},
		{"of another tokenizer", func([]byte) []byte { return foreignIndex(t, "other", 1, 2, 3) }, 1},
		{"older than the chunks", func([]byte) []byte { return foreignIndex(t, own) }, 0},
		{"from the future", func([]byte) []byte { return foreignIndex(t, own, 500) }, 1},
		{"of rows that are there and more", func([]byte) []byte { return foreignIndex(t, own, 1, 2, 3, 4) }, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			e := open(t, dir)
			mustCreate(t, e)
			mustWrite(t, e, chunk("a", "d", "red fox"), chunk("b", "d", "red"), chunk("c", "d", "blue"))
			mustClose(t, e)
			changeIndex(t, dir, c.change)

			var log bytes.Buffer
			e, err := embedded.Open(t.Context(), embedded.Options{
				Path: dir, Tokenizer: enginetest.Words{}, Logger: slog.New(slog.NewTextHandler(&log, nil)),
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(found(t, e, "red"), " "); got != "b a" {
				t.Errorf(`found %q; want got "b a"`, got)
			}
			if got := found(t, e, "foreign"); got != nil {
				t.Errorf("found %q of a foreign index; want no got", got)
			}
			d, err := e.Describe(t.Context(), testKB)
			if err != nil || d.Details["repairs"] != c.repairs {
				t.Errorf("described as %+v, %v; want %d repairs", d, err, c.repairs)
			}
			if n := strings.Count(log.String(), "repaired"); n != c.repairs {
				t.Errorf("logged %d repairs, want %d: %s", n, c.repairs, &log)
			}
			mustWrite(t, e, chunk("z", "d", "red and red"))
			mustClose(t, e)
			e = open(t, dir)
			defer mustClose(t, e)
			if got := strings.Join(found(t, e, "red"), " "); got != "b z a" {
				t.Errorf(`after a save and a start: found %q; want got "b z a"`, got)
			}
		})
	}
}

// TestIndexesOfDeletedKnowledgeBases: they go with it, or with the next start.
func TestIndexesOfDeletedKnowledgeBases(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir)
	mustCreate(t, e)
	mustWrite(t, e, chunk("a", "d", "red fox"))
	mustClose(t, e)
	left := filepath.Join(dir, "indexes", "77-text.bm25")
	for _, path := range []string{left, left + ".new", storedIndexes(t, dir)[0] + ".new"} {
		if err := os.WriteFile(path, []byte("left behind"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e = open(t, dir)
	if found, err := os.ReadDir(filepath.Join(dir, "indexes")); err != nil || len(found) != 1 {
		t.Errorf("%v, %v; want the index of the knowledge base alone", found, err)
	}
	if err := e.DeleteKnowledgeBase(t.Context(), testKB.Ref); err != nil {
		t.Fatal(err)
	}
	mustClose(t, e)
	if found := storedIndexes(t, dir); len(found) != 0 {
		t.Errorf("%v is left", found)
	}
}

// TestRowsGoneSinceSave deletes chunks behind the stored index's back.
func TestRowsGoneSinceSave(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir)
	mustCreate(t, e)
	mustWrite(t, e, chunk("a", "d", "red fox"), chunk("b", "d", "red"), chunk("c", "d", "blue"))
	mustClose(t, e)
	tamper(t, dir, "DELETE FROM chunks_1 WHERE id = 'b'")
	e = open(t, dir)
	defer mustClose(t, e)
	if got := strings.Join(found(t, e, "red"), " "); got != "a" {
		t.Errorf(`found %q; want got "a"`, got)
	}
}

func TestSecondProcess(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir)
	_, err := embedded.Open(t.Context(), embedded.Options{Path: dir, Tokenizer: enginetest.Words{}})
	if !fault.Is(err, fault.Conflict) {
		t.Errorf("a second opening gave %v, want conflict", err)
	}
	mustClose(t, e)
	mustClose(t, open(t, dir))
}

func TestBadOptions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	notADatabase := t.TempDir()
	if err := os.WriteFile(filepath.Join(notADatabase, "hybridge.db"), bytes.Repeat([]byte("no database "), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	f := func(o embedded.Options, want fault.Kind) {
		t.Helper()
		if _, err := embedded.Open(t.Context(), o); !fault.Is(err, want) {
			t.Errorf("opening %+v gave %v, want %s", o, err, want)
		}
	}
	f(embedded.Options{Tokenizer: enginetest.Words{}}, fault.InvalidArgument)
	f(embedded.Options{Path: t.TempDir()}, fault.InvalidArgument)
	f(embedded.Options{Path: file, Tokenizer: enginetest.Words{}}, fault.InvalidArgument)
	f(embedded.Options{Path: notADatabase, Tokenizer: enginetest.Words{}}, fault.Corrupt)
}

func TestAfterClose(t *testing.T) {
	e := open(t, filepath.Join(t.TempDir(), "with space ?#%", "deep"))
	mustCreate(t, e)
	mustClose(t, e)
	mustClose(t, e) // twice is harmless
	if _, err := e.Write(t.Context(), engine.WriteRequest{KB: testKB}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("writing after Close gave %v; want an error of kind Unavailable", err)
	}
	if err := e.CreateKnowledgeBase(t.Context(), testKB); err == nil {
		t.Error("creating after Close succeeded")
	}
}

func TestPreload(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir)
	mustCreate(t, e)
	mustWrite(t, e, chunk("a", "d", "red"))
	mustClose(t, e)
	e, err := embedded.Open(t.Context(), embedded.Options{Path: dir, Tokenizer: enginetest.Words{}, Preload: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := found(t, e, "red"); len(got) != 1 {
		t.Errorf("found %q; want 1 got", got)
	}
	mustClose(t, e)
}

// TestNUL keeps bytes that C strings cannot.
func TestNUL(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir)
	mustCreate(t, e)
	c := chunk("a\x00b", "d\x00e", "word\x00 word")
	c.Metadata = map[string]any{"k\x00": "v\x00w"}
	mustWrite(t, e, c, chunk("a", "d", "word\x00"))
	mustClose(t, e)
	e = open(t, dir)
	defer mustClose(t, e)
	if got := found(t, e, "word\x00"); len(got) != 2 {
		t.Errorf("found %q; want 2 got", got)
	}
	chunks, err := e.Chunks(t.Context(), engine.ChunksRequest{KB: testKB, IDs: []string{c.ID}})
	if err != nil || len(chunks) != 1 || chunks[0].Content != c.Content || chunks[0].Metadata["k\x00"] != "v\x00w" {
		t.Errorf("got %+v, %v", chunks, err)
	}
	if n, err := e.DeleteDocument(t.Context(), testKB, c.DocumentID); n != 1 || err != nil {
		t.Errorf("deleted %d, %v; want n 1 and no error", n, err)
	}
}
