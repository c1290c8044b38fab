package search_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search"
)

// fleeting is still, but its hits and their texts are gone when they are released:
// a next search writes over them.
type fleeting struct {
	*still
	released atomic.Int32
	memory   sync.Pool // of texts
}

func (f *fleeting) Get(ctx context.Context, scope search.Scope, id string) (engine.KnowledgeBase, engine.Engine, error) {
	kb, _, err := f.still.Get(ctx, scope, id)
	return kb, f, err
}

func (f *fleeting) Search(context.Context, *engine.Request) (*engine.Result, error) {
	memory, ok := f.memory.Get().(*[1 << 16]byte)
	if !ok {
		memory = new([1 << 16]byte)
	}
	rest := memory[:]
	text := func(s string) string {
		var taken []byte
		taken, rest = rest[:len(s)], rest[len(s):]
		copy(taken, s)
		return unsafe.String(unsafe.SliceData(taken), len(taken))
	}
	result := f.result
	result.Hits = slices.Clone(f.result.Hits)
	for i := range result.Hits {
		hit := &result.Hits[i]
		hit.Observations = slices.Clone(hit.Observations)
		hit.ID, hit.DocumentID, hit.DocumentName = text(hit.ID), text(hit.DocumentID), text(hit.DocumentName)
		hit.Facets = map[string][]string{"topic": {text(f.result.Hits[i].Facets["topic"][0])}}
	}
	result.Release = func() {
		f.released.Add(1)
		for i := range result.Hits {
			clear(result.Hits[i].Observations)
			result.Hits[i] = engine.Hit{Candidate: scoring.Candidate{ID: "gone"}, DocumentID: "gone"}
		}
		for i := range memory {
			memory[i] = 'X'
		}
		f.memory.Put(memory)
	}
	return &result, nil
}

// newFleeting gives the same engine twice: one that keeps its hits, and one that
// takes them back.
func newFleeting(summed bool) (kept *still, lost *fleeting) {
	kept = newStill(200, 60, summed)
	for i := range kept.result.Hits {
		kept.result.Hits[i].Facets = map[string][]string{"topic": {fmt.Sprint("topic ", i%7)}}
	}
	return kept, &fleeting{still: kept}
}

var fleetingPresets = []string{"script_score", "balanced", "rrf", "linear"}

// askFor searches for n more chunks than five.
func askFor(t *testing.T, catalog search.Catalog, preset string, n int) *search.Response {
	t.Helper()
	response, err := searcherOver(catalog).Search(t.Context(), scope, moreThanFive(preset, n))
	if err != nil {
		t.Fatal(err)
	}
	return response
}

func moreThanFive(preset string, n int) search.Request {
	topK := 5 + n
	return search.Request{
		Query: "refund", KnowledgeBases: []string{"manuals"}, Preset: preset, TopK: &topK,
		Vector: make([]float32, 384), Explain: true, Facets: []string{"topic"},
	}
}

// sendFor is askFor by the bytes of the answer.
func sendFor(t *testing.T, catalog search.Catalog, preset string, n int) *search.Response {
	t.Helper()
	const before = "before"
	text, note, err := searcherOver(catalog).Append(t.Context(), scope, moreThanFive(preset, n), []byte(before))
	if err != nil {
		t.Fatal(err)
	}
	answer, behind := bytes.CutPrefix(text, []byte(before))
	var response search.Response
	if err := json.Unmarshal(answer, &response); err != nil || !behind {
		t.Fatalf("%v of %s", err, text)
	}
	if diff := cmp.Diff(search.NoteOf(&response), note); diff != "" {
		t.Errorf("the note (-of the answer +given):\n%s", diff)
	}
	return &response
}

// TestAnswersKeepNothingThatIsReleased compares the answers of an engine that takes
// its hits back with those of one that does not, written after further searches.
func TestAnswersKeepNothingThatIsReleased(t *testing.T) {
	const searches = 3
	for _, preset := range fleetingPresets {
		kept, lost := newFleeting(preset == "script_score")
		answers := map[search.Catalog][]*search.Response{}
		for _, catalog := range []search.Catalog{kept, lost} {
			for n := range searches {
				answers[catalog] = append(answers[catalog], askFor(t, catalog, preset, n))
			}
		}
		if released := lost.released.Load(); released != searches {
			t.Errorf("%s: hits were released %d times in %d searches", preset, released, searches)
		}
		for n := range searches {
			if want, got := timeless(t, answers[kept][n]), timeless(t, answers[lost][n]); want != got {
				t.Errorf("%s: answer %d differs after its hits were released:\n%s\n%s", preset, n, want, got)
			}
		}
	}
}

// TestSearchesAtATimeShareNothingThatIsReleased: each has its own answer, whatever
// the others write over.
func TestSearchesAtATimeShareNothingThatIsReleased(t *testing.T) {
	for _, preset := range fleetingPresets {
		kept, lost := newFleeting(preset == "script_score")
		want := timeless(t, askFor(t, kept, preset, 5))
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for i := range 10 {
					ask := askFor
					if i%2 > 0 {
						ask = sendFor
					}
					if got := timeless(t, ask(t, lost, preset, 5)); got != want {
						t.Errorf("%s: got\n%s\nwant\n%s", preset, got, want)
					}
				}
			})
		}
		all.Wait()
	}
}

// timeless is the JSON of an answer without what differs between two of them.
func timeless(t *testing.T, r *search.Response) string {
	t.Helper()
	r.QueryID, r.TookMS, r.Timings = "", 0, search.Timings{}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
