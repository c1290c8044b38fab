package evaluation

import (
	"context"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/hybridge-search/hybridge/evaluation/exchange"
	"github.com/hybridge-search/hybridge/fault"
)

// Set is a retrieval set in BEIR's layout: corpus.jsonl, queries.jsonl, qrels.tsv or qrels/test.tsv, and
// optionally the vectors of each .jsonl, as raw little-endian float32 with one row per line.
// A set of questions and answers may also have qa.jsonl: the same items with question and
// answer apart.
type Set struct {
	Name       string
	Corpus     []Passage
	Pairs      []Pair
	Queries    []Query
	Judgments  map[string]Judgments // by query id
	Dimensions int                  // 0: no vectors
	Model      string               // that made the vectors; empty: unknown
	// Report lists the oddities of the files.
	Report *exchange.Report `json:"Report,omitzero"`

	own map[string]bool // queries whose own id is a hit to be dropped
}

// Passage is one document of the corpus; Vector is [dim]float32 or nil.
type Passage struct {
	ID     string    `json:"_id"`
	Title  string    `json:"title"`
	Text   string    `json:"text"`
	Vector []float32 `json:"-"`
	// Metadata is used by filters and signals.
	Metadata map[string]any `json:"metadata"`
}

// Query is one judged question.
type Query struct {
	ID     string    `json:"_id"`
	Text   string    `json:"text"`
	Vector []float32 `json:"-"`
	// Queries are further phrasings.
	Queries []string `json:"queries"`
}

// Find returns the folders of retrieval sets: each path, or the folders in it.
func Find(paths []string) ([]string, error) {
	var found []string
	for _, path := range paths {
		within, err := filepath.Glob(filepath.Join(path, "*", corpusFile))
		if err != nil {
			return nil, fault.Wrap(fault.InvalidArgument, err, "look for retrieval sets in %s", path)
		}
		if _, err := os.Stat(filepath.Join(path, corpusFile)); err == nil {
			within = append(within, filepath.Join(path, corpusFile))
		}
		if len(within) == 0 {
			return nil, fault.Invalid("data", path, "a folder with "+corpusFile+", or a folder of such folders")
		}
		for _, file := range within {
			found = append(found, filepath.Dir(file))
		}
	}
	return found, nil
}

const corpusFile = "corpus.jsonl"

// Source says what a set is read from beside its folder.
type Source struct {
	// Vectors is the middle of the names of the vector files ("e5" for corpus.e5.f32); empty: no vectors are read.
	Vectors string
	// Judgments is another file of judgments, of any format of exchange; empty: the folder's.
	Judgments string
}

// Load reads the folder of a set.
func Load(dir, vectors string) (*Set, error) { return LoadFrom(dir, Source{Vectors: vectors}) }

// LoadFrom reads the folder of a set. What is odd about its files is in the report of the set.
func LoadFrom(dir string, from Source) (*Set, error) {
	set := &Set{Name: filepath.Base(dir), Report: &exchange.Report{Folder: filepath.Base(dir)}}
	folder, err := exchange.OpenFolder(dir, set.Report, from.Judgments)
	if err != nil {
		return nil, err
	}
	read := &reading{set: set, folder: folder}
	if err := read.all(); err != nil {
		return nil, err
	}
	if err := set.loadPairs(dir, from.Vectors); err != nil || from.Vectors == "" {
		return set, err
	}
	return set, read.vectors(dir, from.Vectors)
}

// Embedder makes vectors, [dim]float32 each.
type Embedder interface {
	Passages(ctx context.Context, texts []string) ([][]float32, error)
	Query(ctx context.Context, text string) ([]float32, error)
}

// Embed makes the vectors of the set: of title and text together.
func (s *Set) Embed(ctx context.Context, e Embedder) error {
	texts := make([]string, len(s.Corpus))
	for i := range s.Corpus {
		texts[i] = strings.TrimSpace(s.Corpus[i].Title + " " + s.Corpus[i].Text)
	}
	rows, err := e.Passages(ctx, texts)
	if err != nil {
		return err
	}
	queryRows := make([][]float32, len(s.Queries))
	for i := range s.Queries {
		if queryRows[i], err = e.Query(ctx, s.Queries[i].Text); err != nil {
			return err
		}
	}
	if err := s.attach(rows, queryRows); err != nil {
		return err
	}
	return s.embedPairs(ctx, e)
}

// attach sets the vectors of passages and queries.
func (s *Set) attach(rows, queryRows [][]float32) error {
	if len(rows) != len(s.Corpus) || len(queryRows) != len(s.Queries) || len(rows) == 0 || len(queryRows) == 0 {
		return fault.New(fault.InvalidArgument, "%s has %d passages and %d queries, and vectors for %d and %d",
			s.Name, len(s.Corpus), len(s.Queries), len(rows), len(queryRows))
	}
	s.Dimensions = len(rows[0])
	for i := range rows {
		s.Corpus[i].Vector = rows[i]
	}
	for i := range queryRows {
		s.Queries[i].Vector = queryRows[i]
	}
	return nil
}

// ReadVectors reads raw little-endian float32 as [rows][dim]. dim follows from the size of
// the file.
func ReadVectors(path string, rows int) ([][]float32, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fault.Wrap(fault.InvalidArgument, err,
			"read vectors (a set without any: --live embeds it, --vectors= --presets text measures keywords alone)")
	}
	dimensions := len(content) / 4 / max(rows, 1)
	if dimensions == 0 || len(content) != rows*dimensions*4 {
		return nil, fault.New(fault.InvalidArgument, "%s has %d bytes, which are no %d rows of float32",
			path, len(content), rows)
	}
	vectors := make([][]float32, rows)
	flat := make([]float32, rows*dimensions)
	for i := range flat {
		flat[i] = math.Float32frombits(binary.LittleEndian.Uint32(content[i*4:]))
	}
	for i := range vectors {
		vectors[i] = flat[i*dimensions : (i+1)*dimensions : (i+1)*dimensions]
	}
	return vectors, nil
}
