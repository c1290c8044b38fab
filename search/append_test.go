package search_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// TestAnAnswerIsGivenAgain: only its head is another one.
func TestAnAnswerIsGivenAgain(t *testing.T) {
	kept, _ := newFleeting(true)
	text, _, err := searcherOver(kept).Append(t.Context(), scope, moreThanFive("script_score", 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	again, ok := search.AppendAgain([]byte("before"), text, time.Now().Add(-time.Second))
	var first, second search.Response
	if err := json.Unmarshal(text, &first); err != nil || !ok || string(again[:6]) != "before" {
		t.Fatalf("%v, %v, %s", err, ok, again)
	}
	if err := json.Unmarshal(again[6:], &second); err != nil {
		t.Fatal(err)
	}
	if first.Cached || !second.Cached || first.QueryID == second.QueryID || second.TookMS < 1000 {
		t.Errorf("the heads: %v %s; %v %s, %v ms", first.Cached, first.QueryID, second.Cached, second.QueryID, second.TookMS)
	}
	second.Cached, second.Timings = false, first.Timings
	if a, b := timeless(t, &first), timeless(t, &second); a != b {
		t.Errorf("the rest:\n%s\n%s", a, b)
	}
	if out, ok := search.AppendAgain([]byte("before"), []byte("{}"), time.Now()); ok || string(out) != "before" {
		t.Errorf("what is no answer: %v, %s", ok, out)
	}
}

// TestAnErrorWritesNothing, also where the answer is known but is no JSON.
func TestAnErrorWritesNothing(t *testing.T) {
	kept, _ := newFleeting(true)
	for name, c := range map[string]struct {
		change func(*search.Request)
		want   fault.Kind
	}{
		"a bad request":     {func(r *search.Request) { r.Preset = "none" }, fault.InvalidArgument},
		"an unknown engine": {func(r *search.Request) { r.Engine = "none" }, fault.InvalidArgument},
	} {
		req := moreThanFive("script_score", 1)
		c.change(&req)
		if out, _, err := searcherOver(kept).Append(t.Context(), scope, req, []byte("before")); !fault.Is(err, c.want) ||
			string(out) != "before" {
			t.Errorf("%s: %v, written %s", name, err, out)
		}
	}
}
