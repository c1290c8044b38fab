package embedded

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/textquery"
)

// TestNarrowing wants the same answers, to the bit, whether rows are estimated
// first or all are scored.
func TestNarrowing(t *testing.T) {
	e := opened(t)
	count := 0
	rapid.Check(t, func(r *rapid.T) {
		count++
		w := &narrowWorld{T: r, dims: rapid.SampledFrom([]int{1, 2, 3, 16, 40}).Draw(r, "dims")}
		w.random = rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 0))
		kb := w.knowledgeBase(t, e, fmt.Sprint("kb", count))
		for range 20 {
			req := w.request(kb)
			got, err := e.search(t.Context(), &req, 1)
			if err != nil {
				r.Fatal(err)
			}
			want, err := e.search(t.Context(), &req, math.MaxInt)
			if err != nil {
				r.Fatal(err)
			}
			if got, want := plain(got), plain(want); !reflect.DeepEqual(got, want) {
				r.Fatalf("%+v\ngot  %+v\nwant %+v", req, got, want)
			}
		}
		if err := e.DeleteKnowledgeBase(t.Context(), kb.Ref); err != nil {
			r.Fatal(err)
		}
	})
}

// plain is a result without what differs from run to run; NaN equals NaN.
func plain(result *engine.Result) []string {
	var lines []string
	for _, h := range result.Hits {
		lines = append(lines, fmt.Sprintf("%s %v", h.ID, h.Observations))
	}
	return lines
}

// narrowWorld makes knowledge bases with vectors that are equal, near each other,
// zero or missing, and with gaps between their rows.
type narrowWorld struct {
	*rapid.T
	random *rand.Rand
	dims   int
}

func (w *narrowWorld) knowledgeBase(t *testing.T, e *Engine, id string) engine.KnowledgeBase {
	kb := engine.KnowledgeBase{
		Ref: engine.Ref{Tenant: "t", ID: id}, Name: id, Kind: engine.KindQA, Dimensions: w.dims, Engine: e.Name(),
	}
	if err := e.CreateKnowledgeBase(t.Context(), kb); err != nil {
		w.Fatal(err)
	}
	chunks := make([]engine.Chunk, w.random.IntN(400))
	var gone []string
	for i := range chunks {
		c := &chunks[i]
		*c = engine.Chunk{
			ID: fmt.Sprintf("c%03d", w.random.Perm(1000)[0]+1000*i), DocumentID: fmt.Sprint("d", w.random.IntN(3)),
			Available: w.random.IntN(10) > 0, Vectors: map[string][]float32{},
			QA: &engine.QA{Question: w.words(), Answer: w.words()},
		}
		for _, field := range kb.Fields() {
			if field.Source != "" && w.random.IntN(8) > 0 {
				c.Vectors[field.Name] = w.vector()
			}
		}
		if w.random.IntN(5) == 0 {
			gone = append(gone, c.ID)
		}
	}
	if _, err := e.Write(t.Context(), engine.WriteRequest{KB: kb, Chunks: chunks}); err != nil {
		w.Fatal(err)
	}
	if _, err := e.DeleteChunks(t.Context(), kb, gone); err != nil {
		w.Fatal(err)
	}
	return kb
}

func (w *narrowWorld) words() string {
	words := make([]string, w.random.IntN(4))
	for i := range words {
		words[i] = []string{"red", "fox", "blue", "sea"}[w.random.IntN(4)]
	}
	return strings.Join(words, " ")
}

// vector is on a coarse grid, or next to where all of the others are.
func (w *narrowWorld) vector() []float32 {
	v := make([]float32, w.dims)
	coarse := w.random.IntN(2) == 0
	for i := range v {
		if v[i] = float32(w.random.IntN(3) - 1); !coarse {
			v[i] = 1 + float32(w.random.NormFloat64())*1e-3
		}
	}
	return v
}

func (w *narrowWorld) request(kb engine.KnowledgeBase) engine.Request {
	req := engine.Request{KB: kb}
	for i, field := range kb.Fields() {
		if w.random.IntN(3) == 0 && i != 2 {
			continue
		}
		l := engine.Leg{Name: field.Name, Field: field.Name, K: w.random.IntN(60)}
		if field.Source != "" {
			l.Vector = w.vector()
		} else {
			l.Text = &textquery.Query{Terms: []textquery.Term{{Text: "red", Weight: 1}, {Text: "sea", Weight: 2}}}
			l.Required = w.random.IntN(4) == 0
		}
		req.Legs = append(req.Legs, l)
	}
	if w.random.IntN(3) > 0 {
		req.Sum = &engine.Sum{Candidates: w.random.IntN(60), Pivot: float64(w.random.IntN(2))}
		for range req.Legs {
			req.Sum.Weights = append(req.Sum.Weights, []float64{0, 0.05, 0.5, 0.95, 30, -0.5}[w.random.IntN(6)])
			if w.random.IntN(2) == 0 {
				req.Sum.Absent = append(req.Sum.Absent, 2*w.random.Float64())
			}
		}
	}
	if w.random.IntN(3) == 0 {
		req.Filter.Conditions = []filter.Condition{{Field: "document_id", In: []filter.Value{{V: "d1"}}}}
	}
	return req
}

// TestSurviving wants no row of the best k, and no more than those that the
// limits cannot rule out, to a step.
func TestSurviving(t *testing.T) {
	// Worst cases that no steps can be made between rule out nothing.
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, x := range []float32{nan, inf, -inf, -math.MaxFloat32} {
		if got := survivors([]limits{{x, nan}, {2, 2}, {math.MaxFloat32, math.MaxFloat32}}, 2); !slices.Contains(got, 0) || !slices.Contains(got, 2) {
			t.Errorf("%g: only %d survive", x, got)
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 0))
		k, width := rapid.IntRange(0, 30).Draw(r, "k"), rapid.SampledFrom([]float32{0, 1e-3, 0.1, 10}).Draw(r, "width")
		all := make([]limits, rapid.IntRange(0, 200).Draw(r, "rows"))
		for i := range all {
			x := float32(math.Round(random.NormFloat64()*8) / 8)
			all[i] = limits{x - width*random.Float32(), x + width*random.Float32()}
		}
		got := survivors(all, k)
		least := make([]float32, len(all))
		for i, x := range all {
			least[i] = x.least
		}
		slices.Sort(least)
		for row, x := range all {
			sure := 0 // rows that are better for certain
			for _, y := range all {
				if y.least > x.most {
					sure++
				}
			}
			if survives := slices.Contains(got, uint32(row)); !survives && sure < k {
				r.Fatalf("row %d has only %d better ones: %v", row, sure, all)
			} else if n := len(least); survives && k > 0 && n >= k && x.most < least[n-k]-(least[n-1]-least[0])/2000 {
				r.Fatalf("row %d may not be among the best %d: %v", row, k, all)
			}
		}
		if !slices.IsSorted(got) {
			r.Fatalf("not ascending: %v", got)
		}
	})
}

// limits are those of a row's score.
type limits struct{ least, most float32 }

// survivors are those of rows 0, 1 and so on.
func survivors(all []limits, k int) []uint32 {
	rows, worst, best := make([]uint32, len(all)), make([]float32, len(all)), make([]float32, len(all))
	for i, l := range all {
		rows[i], worst[i], best[i] = uint32(i), l.least, l.most
	}
	return surviving(rows, worst, best, k)
}
