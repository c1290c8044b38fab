package embedded_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/embedded"
	"github.com/hybridge-search/hybridge/engine/enginetest"
	"github.com/hybridge-search/hybridge/lib/sqlite"
)

// dataFile of a closed engine, in whole.
func dataFile(t *testing.T, dir string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "hybridge.db"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func storeDataFile(t *testing.T, dir string, data []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "hybridge.db"), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func openLogged(t *testing.T, dir string) (*embedded.Engine, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	e, err := embedded.Open(t.Context(), embedded.Options{
		Path: dir, Tokenizer: enginetest.Words{}, Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return e, &log
}

// TestDamagedChunk spoils a vector, a body, a name and an id in the file: each start leaves
// the chunk out, names it once, and goes on with the others; writing it again mends it.
//
// Promise: "a checksum of every chunk" (docs/guide/en/backup.md).
// Promise: "Every chunk has a checksum" (docs/guide/en/embedded.md).
func TestDamagedChunk(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir)
	mustCreate(t, e)
	var chunks []engine.Chunk
	for i := range 40 {
		c := chunk(fmt.Sprintf("chunk-%02d", i), "doc", "word body-of-"+strconv.Itoa(i))
		c.DocumentName, c.Vectors[engine.FieldVector] = "name", []float32{1, 100 + float32(i)}
		chunks = append(chunks, c)
	}
	mustWrite(t, e, chunks...)
	all := found(t, e, "word")
	mustClose(t, e)
	whole := dataFile(t, dir)
	vector := binary.LittleEndian.AppendUint32(nil, math.Float32bits(107))
	for what, pattern := range map[string]string{
		"vector": string(vector), "body": "word body-of-7", "name and all before": "chunk-07docname",
	} {
		t.Run(what, func(t *testing.T) {
			data := slices.Clone(whole)
			at := bytes.Index(data, []byte(pattern))
			if at < 0 {
				t.Fatal("not in the file")
			}
			data[at+2] ^= 4
			storeDataFile(t, dir, data)
			e, log := openLogged(t, dir)
			defer mustClose(t, e)
			for range 2 {
				if got := found(t, e, "word"); len(got) != 39 || slices.Contains(got, "chunk-07") {
					t.Errorf("found %d, %v", len(got), got)
				}
			}
			if n := strings.Count(log.String(), "chunk=chunk-07"); n != 1 {
				t.Errorf("%d lines name the chunk: %s; want n 1", n, log)
			}
			integrity, err := e.Verify(t.Context(), testKB, false)
			if err != nil || integrity.Chunks != 39 || !slices.Equal(integrity.Damaged.First, []string{"chunk-07"}) {
				t.Errorf(`verified %+v, %v; want no error and integrity.Chunks 39 and {"chunk-07"}`, integrity, err)
			}
			if troubles := e.Troubles(); len(troubles) != 1 || troubles[0].Code != engine.DamagedChunks {
				t.Errorf("troubles %+v; want 1 troubles and troubles[0].Code DamagedChunks", troubles)
			}
			_, err = e.Scan(t.Context(), engine.ScanRequest{KB: testKB, IDs: []string{"chunk-07"}, Limit: 1})
			if err == nil {
				t.Error("a damaged chunk looks as if there were none")
			}
			if _, err := e.Verify(t.Context(), testKB, true); err != nil { // an index may have another id
				t.Error(err)
			}
			mustWrite(t, e, chunks[7])
			if got := found(t, e, "word"); !slices.Equal(got, all) {
				t.Errorf("found %d after it was written again", len(got))
			}
			integrity, err = e.Verify(t.Context(), testKB, false)
			if err != nil || !integrity.Sound() || len(e.Troubles()) > 0 {
				t.Errorf("verified %+v, %v", integrity, err)
			}
		})
	}
}

// TestDamagedWhileOpen: what goes wrong after the start is found when it is read, or checked.
func TestDamagedWhileOpen(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir)
	mustCreate(t, e)
	mustWrite(t, e, chunk("a", "d", "red one"), chunk("b", "d", "red two"), chunk("c", "d", "red six"))
	mustClose(t, e)
	e, log := openLogged(t, dir)
	defer mustClose(t, e)
	if got := found(t, e, "red"); len(got) != 3 {
		t.Fatal(got)
	}
	db, err := sqlite.Connect(filepath.Join(dir, "hybridge.db"), 1, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		"UPDATE chunks_1 SET body = replace(body, 'red one', 'red ohe') WHERE id = 'a'",
		"UPDATE chunks_1 SET vector = zeroblob(8) WHERE id = 'b'",
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]int{"a": 0, "c": 1} {
		if read, err := e.Chunks(t.Context(), engine.ChunksRequest{KB: testKB, IDs: []string{id}}); err != nil || len(read) != want {
			t.Errorf("read %+v, %v", read, err)
		}
	}
	integrity, err := e.Verify(t.Context(), testKB, false)
	if err != nil || integrity.Damaged.Count != 2 {
		t.Errorf("verified %+v, %v; want no error and integrity.Damaged.Count 2", integrity, err)
	}
	if got := found(t, e, "red"); !slices.Equal(got, []string{"c"}) {
		t.Errorf(`found %v; %s; want {"c"}`, got, log)
	}
}

// TestFlippedBitsOfTheFile flips one random bit of the data file at a time, also in the pages
// of SQLite's own: a chunk is what was written, or it is not there and named.
func TestFlippedBitsOfTheFile(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir)
	mustCreate(t, e)
	random := rand.New(rand.NewPCG(7, 7))
	want := map[string]string{}
	var chunks []engine.Chunk
	for i := range 300 {
		c := chunk("c"+strconv.Itoa(i), "d"+strconv.Itoa(i/10), randomWords(random))
		want[c.ID] = c.Content
		chunks = append(chunks, c)
	}
	mustWrite(t, e, chunks...)
	mustClose(t, e)
	whole := dataFile(t, dir)
	unopened, hurt := 0, 0
	for range 60 {
		bit := random.IntN(8 * len(whole))
		data := slices.Clone(whole)
		data[bit/8] ^= 1 << (bit % 8)
		storeDataFile(t, dir, data)
		e, err := embedded.Open(t.Context(), embedded.Options{Path: dir, Tokenizer: enginetest.Words{}})
		if err != nil {
			unopened++
			continue
		}
		lost := checkContents(t, e, want)
		if lost < 0 {
			unopened++
		} else if lost > 0 {
			hurt++
		}
		_ = e.Close() // some damage keeps SQLite from closing well
	}
	t.Logf("%d bits: %d cost chunks, with %d nothing could be read", 60, hurt, unopened)
	if hurt == 0 || unopened > 20 {
		t.Errorf("of 60 bits %d cost chunks, with %d nothing could be read", hurt, unopened)
	}
}

// checkContents gives how many chunks are damaged; -1: the knowledge base says that it cannot
// be read.
func checkContents(t *testing.T, e *embedded.Engine, want map[string]string) int {
	t.Helper()
	integrity, err := e.Verify(t.Context(), testKB, false)
	if err != nil {
		return -1
	}
	read, err := e.Scan(t.Context(), engine.ScanRequest{KB: testKB, Limit: len(want) + 1})
	if err != nil {
		t.Error(err)
	}
	missing := len(want)
	for i := range read {
		missing--
		if read[i].Content != want[read[i].ID] {
			t.Errorf("chunk %s has %q", read[i].ID, read[i].Content)
		}
	}
	if missing > integrity.Damaged.Count && integrity.Index == "" {
		t.Errorf("%d chunks are missing, %+v", missing, integrity)
	}
	return missing
}
