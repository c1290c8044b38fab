package benchmarks

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/internal/skips"
)

// dims is the dimension of the vectors that come with the data sets.
const dims = 384

// dataFolder holds retrieval sets with vectors, beside the clone.
const dataFolder = "../../../shared/data"

// sets are English and Chinese, of short and of long passages.
var sets = []string{"scifact", "drcd", "lecoqa_statute", "lecoqa_faq", "lecoqa_ans", "stackfaq", "xquad_en", "xquad_zh"}

// askedSets are those whose questions are asked.
var askedSets = []string{"scifact", "drcd", "lecoqa_statute", "lecoqa_faq", "stackfaq"}

// question is a query with its vector.
type question struct {
	Text   string
	Vector []float32
}

type entry struct {
	ID    string `json:"_id"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

// corpus gives n chunks: the data sets' own, then again under new ids with
// vectors a little off, so that no two are the same. 0 stands for all of the data
// sets' own.
func corpus(b *testing.B, n int) []engine.Chunk {
	b.Helper()
	random := rand.New(rand.NewPCG(3, 3))
	var all []engine.Chunk
	for _, set := range sets {
		vectors := readVectors(b, set, "corpus")
		for i, e := range readEntries(b, set, "corpus") {
			all = append(all, engine.Chunk{
				ID: set + "-" + e.ID, DocumentID: fmt.Sprintf("%s-%d", set, i/10), DocumentName: set,
				Title: e.Title, Content: e.Text, Vectors: map[string][]float32{engine.FieldVector: vectors[i]},
				Available: true,
			})
		}
	}
	own := len(all)
	if n == 0 {
		n = own
	}
	for i := own; i < n; i++ {
		c := all[(i-own)%own]
		c.ID = fmt.Sprintf("%s-again-%d", c.ID, i)
		c.Vectors = map[string][]float32{engine.FieldVector: near(random, c.Vectors[engine.FieldVector])}
		all = append(all, c)
	}
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:n]
}

// repeated counts the chunks whose text another one before them has.
func repeated(chunks []engine.Chunk) (n int) {
	type text struct{ title, content string }
	seen := map[text]bool{}
	for i := range chunks {
		t := text{chunks[i].Title, chunks[i].Content}
		if seen[t] {
			n++
		}
		seen[t] = true
	}
	return n
}

// near gives a vector at a cosine of about 0.99.
func near(random *rand.Rand, v []float32) []float32 {
	out := make([]float32, len(v))
	length := 0.0
	for i := range v {
		out[i] = v[i] + float32(random.NormFloat64()*0.14/math.Sqrt(dims))
		length += float64(out[i]) * float64(out[i])
	}
	for i := range out {
		out[i] /= float32(math.Sqrt(length))
	}
	return out
}

// questions gives n different ones, of all sets in turn.
func questions(b *testing.B, n int) []question {
	b.Helper()
	perSet := make([][]question, len(askedSets))
	for s, set := range askedSets {
		vectors := readVectors(b, set, "queries")
		for i, e := range readEntries(b, set, "queries") {
			perSet[s] = append(perSet[s], question{e.Text, vectors[i]})
		}
	}
	var all []question
	for i := 0; len(all) < n; i++ {
		of := perSet[i%len(perSet)]
		if at := i / len(perSet); at < len(of) {
			all = append(all, of[at])
		}
	}
	return all
}

func readEntries(b *testing.B, set, name string) []entry {
	b.Helper()
	file, err := os.Open(filepath.Join(dataFolder, set, name+".jsonl"))
	if err != nil {
		skips.Missing(b, err.Error())
	}
	defer func() { _ = file.Close() }()
	var all []entry
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			b.Fatal(err)
		}
		all = append(all, e)
	}
	if err := lines.Err(); err != nil {
		b.Fatal(err)
	}
	return all
}

func readVectors(b *testing.B, set, name string) [][]float32 {
	b.Helper()
	data, err := os.ReadFile(filepath.Join(dataFolder, set, name+".e5.f32"))
	if err != nil {
		skips.Missing(b, err.Error())
	}
	rows := make([][]float32, len(data)/4/dims)
	for r := range rows {
		rows[r] = make([]float32, dims)
		for i := range rows[r] {
			rows[r][i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*(r*dims+i):]))
		}
	}
	return rows
}
