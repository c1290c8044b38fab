package evaluation

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hybridge-search/hybridge/fault"
)

// Set is a retrieval set in BEIR's layout: corpus.jsonl, queries.jsonl,
// qrels.tsv, and beside each .jsonl optionally its vectors, raw little-endian
// float32, one row a line.
type Set struct {
	Name       string
	Corpus     []Passage
	Queries    []Query
	Judgments  map[string]Judgments // by query id
	Dimensions int                  // 0: no vectors given
}

// Passage is one document of the corpus; Vector is [dim]float32 or nil.
type Passage struct {
	ID     string    `json:"_id"`
	Title  string    `json:"title"`
	Text   string    `json:"text"`
	Vector []float32 `json:"-"`
}

// Query is one judged question.
type Query struct {
	ID     string    `json:"_id"`
	Text   string    `json:"text"`
	Vector []float32 `json:"-"`
}

// Load reads a set's folder; vectors is the middle of their file names
// ("e5" for corpus.e5.f32), empty to leave them out.
func Load(dir, vectors string, dimensions int) (*Set, error) {
	set := &Set{Name: filepath.Base(dir), Judgments: map[string]Judgments{}}
	if err := readLines(filepath.Join(dir, "corpus.jsonl"), &set.Corpus); err != nil {
		return nil, err
	}
	if err := readLines(filepath.Join(dir, "queries.jsonl"), &set.Queries); err != nil {
		return nil, err
	}
	if err := set.readJudgments(filepath.Join(dir, "qrels.tsv")); err != nil {
		return nil, err
	}
	if vectors == "" {
		return set, nil
	}
	set.Dimensions = dimensions
	rows, err := ReadVectors(filepath.Join(dir, "corpus."+vectors+".f32"), dimensions, len(set.Corpus))
	if err != nil {
		return nil, err
	}
	for i := range set.Corpus {
		set.Corpus[i].Vector = rows[i]
	}
	if rows, err = ReadVectors(filepath.Join(dir, "queries."+vectors+".f32"), dimensions, len(set.Queries)); err != nil {
		return nil, err
	}
	for i := range set.Queries {
		set.Queries[i].Vector = rows[i]
	}
	return set, nil
}

func readLines[T any](path string, into *[]T) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return fault.Wrap(fault.InvalidArgument, err, "read the retrieval set")
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	for {
		var line T
		if err := decoder.Decode(&line); err == io.EOF {
			return nil
		} else if err != nil {
			return fault.Wrap(fault.InvalidArgument, err, "read line %d of %s", len(*into)+1, path)
		}
		*into = append(*into, line)
	}
}

// readJudgments reads query-id, corpus-id, score with a header line.
func (s *Set) readJudgments(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fault.Wrap(fault.InvalidArgument, err, "read the judgments")
	}
	defer func() { _ = file.Close() }()
	scanner := bufio.NewScanner(file)
	for line := 1; scanner.Scan(); line++ {
		fields := strings.Split(scanner.Text(), "\t")
		if line == 1 || len(fields) < 3 {
			continue
		}
		grade, err := strconv.Atoi(fields[2])
		if err != nil {
			return fault.Wrap(fault.InvalidArgument, err, "line %d of %s: score %q", line, path, fields[2])
		}
		if s.Judgments[fields[0]] == nil {
			s.Judgments[fields[0]] = Judgments{}
		}
		s.Judgments[fields[0]][fields[1]] = grade
	}
	return scanner.Err()
}

// ReadVectors reads [rows][dimensions]float32; the file must be just as long.
func ReadVectors(path string, dimensions, rows int) ([][]float32, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fault.Wrap(fault.InvalidArgument, err, "read vectors")
	}
	if len(content) != rows*dimensions*4 {
		return nil, fault.New(fault.InvalidArgument, "%s has %d bytes; %d rows of %d float32 have %d",
			path, len(content), rows, dimensions, rows*dimensions*4)
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
