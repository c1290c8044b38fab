package search_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search"
)

// releases are texts that differ in what stands beside them.
func releases() []engine.Chunk {
	ago := func(days int) string {
		return time.Now().UTC().Add(-time.Duration(days) * 24 * time.Hour).Format(time.DateOnly)
	}
	one := func(id, date string, stars any, kind string) engine.Chunk {
		c := chunk(id, "notes", "The refund of an order, release "+id+".", 0.8, 0.1)
		c.Metadata = map[string]any{"kind": kind, "stars": stars, "released": date}
		return c
	}
	undated := chunk("undated", "notes", "The refund of an order, release undated.", 0.8, 0.1)
	return []engine.Chunk{
		one("old", ago(2000), 900.0, "note"), one("recent", ago(20), 3.0, "note"),
		one("new", ago(1), 0.0, "draft"), one("middle", ago(200), []any{1.0, 40.0}, "note"), undated,
	}
}

func testSignals(b *bench) {
	b.fill("k", releases()...)
	b.fill("other", shelf()...)
	const recency = `{"recency": {"field": "released", "half_life": "90d"}, "weight": 5}`
	const stars = `{"number": {"field": "stars", "pivot": 10}, "weight": 5}`
	const notes = `{"match": {"field": "kind", "values": ["note", "page"]}, "weight": 5}`
	for _, preset := range []string{"balanced", "script_score", "linear", "rrf"} {
		for signals, want := range map[string]string{
			recency: "new recent middle old", stars: "old middle recent", notes: "",
		} {
			body := fmt.Sprintf(`{"query": "refund of an order", "vector": [0.8, 0.1, 0.1, 0], "knowledge_bases": ["k"],
				"preset": %q, "signals": [%s], "threshold": {"relative": 0}, "copies": "keep"}`, preset, signals)
			r := b.answer(body)
			if got := ids(r); !strings.HasPrefix(got, want) || len(r.Hits) != 5 {
				b.Errorf("%s by %s: %s, want %s first", preset, signals, got, want)
			}
			for i := range r.Hits {
				b.saysSignal(&r.Hits[i])
			}
			if last := r.Hits[len(r.Hits)-1].ID; signals == notes && last != "undated" && last != "new" {
				b.Errorf("%s: %s, of no kind asked for, is not last: %s", preset, last, ids(r))
			}
		}
	}
	both := b.answer(`{"query": "refund of an order", "vector": [0.8, 0.1, 0.1, 0], "knowledge_bases": ["k", "other"],
		"signals": [` + recency + `, ` + stars + `], "copies": "keep"}`)
	if len(both.Hits) < 8 || both.MergedBy != "pooled" {
		b.Errorf(`two knowledge bases, %s: %s; want at least 8 both.Hits and both.MergedBy "pooled"`, both.MergedBy, ids(both))
	}
	for i := range both.Hits {
		if n := len(both.Hits[i].Legs); n != 4 {
			b.Errorf("%d legs of %s; want n 4", n, both.Hits[i].ID)
		}
	}
	_, err := b.ask(`{"query": "refund", "knowledge_bases": ["k"], "preset": "text", "signals": [` + recency + `]}`)
	if e := new(fault.Error); !errors.As(err, &e) || e.Field != "signals" {
		b.Errorf("the preset text with a signal: %v", err)
	}
	b.explainsSignal(`{"query": "refund of an order", "vector": [0.8, 0.1, 0.1, 0], "knowledge_bases": ["k"], "chunk_id": "old", "signals": [` + stars + `]}`)
}

// saysSignal wants the last leg of a hit to be the signal, on its own scale.
func (b *bench) saysSignal(hit *search.Hit) {
	b.Helper()
	l := hit.Legs[len(hit.Legs)-1]
	if !strings.Contains(l.Leg, ":") || l.Raw == nil || *l.Raw < 0 || *l.Raw > 1 || (l.Contribution > 0) != (*l.Raw > 0) {
		said, _ := json.Marshal(l)
		b.Errorf("%s: %s", hit.ID, brief.Of(said))
	}
}

func (b *bench) explainsSignal(body string) {
	b.Helper()
	var req search.ExplainRequest
	if err := json.Unmarshal([]byte(body), &req); err != nil {
		b.Fatal(err)
	}
	e, err := b.searcher.Explain(b.Context(), scope, req)
	if err != nil {
		b.Fatal(err)
	}
	last := e.Legs[len(e.Legs)-1]
	if last.Leg != "number:stars" || last.Raw == nil || math.Abs(*last.Raw-900.0/910) > 1e-9 || last.Contribution == nil {
		b.Errorf(`the explanation: %+v; want last.Leg "number:stars" and a last.Raw and math.Abs(*last.Raw - 900.0/910) at most 1e-9 and a last.Contribution`, last)
	}
}

// TestSignalsShareRanks: a match has two values, and ids decide nothing between equals.
func TestSignalsShareRanks(t *testing.T) {
	unranked := func(raw float64) scoring.Observation {
		if raw == 0 {
			return scoring.Observation{}
		}
		return scoring.Observation{Rank: scoring.Unranked, Raw: raw}
	}
	candidates := []scoring.Candidate{
		{ID: "a", Observations: []scoring.Observation{{Rank: 2, Raw: 1}, unranked(1)}},
		{ID: "b", Observations: []scoring.Observation{{Rank: 1, Raw: 2}, unranked(1)}},
		{ID: "c", Observations: []scoring.Observation{{Rank: 3, Raw: 0.5}, unranked(0)}},
	}
	legs := []scoring.Leg{{Name: "text", Kind: scoring.Text, Weight: 1}, {Name: "match:x", Kind: scoring.Signal, Weight: 2}}
	ranked := scoring.Fusion{Method: scoring.RRF, RRFK: 60}.Fuse(legs, candidates)
	for i, want := range []float64{1.0/61 + 2.0/61, 1.0/62 + 2.0/61, 1.0 / 63} {
		if math.Abs(ranked[i].Raw-want) > 1e-12 {
			t.Errorf("%s has %v, want %v", ranked[i].ID(), ranked[i].Raw, want)
		}
	}
}

func TestSignalsAreChecked(t *testing.T) {
	f := func(field, signals string) {
		t.Helper()
		var o search.Overrides
		if err := json.Unmarshal([]byte(`{"signals": [`+signals+`]}`), &o); err != nil {
			t.Fatal(err)
		}
		err := o.Validate()
		if e := new(fault.Error); field == "" && err != nil || field != "" && (!errors.As(err, &e) || e.Field != field) {
			t.Errorf("%s: %v, want %s refused", signals, err, field)
		}
	}
	f("", `{"recency": {"field": "d", "half_life": "30d", "offset": "0s"}, "weight": 0.5}`)
	f("", `{"number": {"field": "metadata.rank", "pivot": 0.5, "shape": "log"}, "weight": 1000}`)
	f("", `{"match": {"field": "kind", "values": ["a", 1, true]}, "weight": 1}`)
	f("signals[0]", `{"weight": 1}`)
	f("signals[0]", `{"match": {"field": "k", "values": [1]}, "number": {"field": "k", "pivot": 1}, "weight": 1}`)
	f("signals[0].weight", `{"match": {"field": "k", "values": [1]}}`)
	f("signals[0].weight", `{"match": {"field": "k", "values": [1]}, "weight": 1001}`)
	f("signals[0].recency.half_life", `{"recency": {"field": "d", "half_life": "0d"}, "weight": 1}`)
	f("signals[0].recency.half_life", `{"recency": {"field": "d", "half_life": "36501d"}, "weight": 1}`)
	f("signals[0].recency.half_life", `{"recency": {"field": "d", "half_life": "999999999w"}, "weight": 1}`)
	f("signals[0].recency.offset", `{"recency": {"field": "d", "half_life": "1d", "offset": "-1d"}, "weight": 1}`)
	f("signals[0].recency.field", `{"recency": {"half_life": "1d"}, "weight": 1}`)
	f("signals[0].number.pivot", `{"number": {"field": "n"}, "weight": 1}`)
	f("signals[0].number.shape", `{"number": {"field": "n", "pivot": 1, "shape": "sigmoid"}, "weight": 1}`)
	f("signals[0].match.values", `{"match": {"field": "n", "values": []}, "weight": 1}`)
	f("signals[0].match.values", `{"match": {"field": "n", "values": [{}]}, "weight": 1}`)
	f("signals[1]", `{"match": {"field": "n", "values": [1]}, "weight": 1}, {"match": {"field": "n", "values": [2]}, "weight": 1}`)
	f("signals", strings.Repeat(`{"weight": 1}, `, 8)+`{"weight": 1}`)
}
