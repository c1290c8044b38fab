package answer_test

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hybridge-search/hybridge/internal/brief"
	_ "github.com/hybridge-search/hybridge/internal/properties"
	"github.com/hybridge-search/hybridge/search/answer"
)

// TestAnswersAreEncodedAsEncodingJSON fills every member of an answer with
// anything that its type can hold.
func TestAnswersAreEncodedAsEncodingJSON(t *testing.T) {
	number := rapid.OneOf(
		rapid.Float64Range(-10, 10), rapid.Float64(),
		rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1e-6, 1e-7, 1e20, 1e21, 0.1, 1.0 / 3}),
	)
	text := rapid.OneOf(
		rapid.String(), rapid.StringMatching(`[\x00-\x1f<>&"\\/a-z退款\x{2028}\x{2029}😀]*`),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
	)
	var anything *rapid.Generator[any]
	anything = rapid.Deferred(func() *rapid.Generator[any] {
		return rapid.OneOf(
			number.AsAny(), text.AsAny(), rapid.Bool().AsAny(), rapid.Just[any](nil),
			rapid.SliceOfN(anything, 0, 3).AsAny(), rapid.MapOfN(text, anything, 0, 3).AsAny(),
		)
	})
	answer := rapid.MakeCustom[answer.Response](rapid.MakeConfig{Types: map[reflect.Type]*rapid.Generator[any]{
		reflect.TypeFor[float64]():        number.AsAny(),
		reflect.TypeFor[string]():         text.AsAny(),
		reflect.TypeFor[map[string]any](): rapid.MapOfN(text, anything, 0, 4).AsAny(),
		reflect.TypeFor[[]any]():          rapid.SliceOfN(anything, 1, 4).AsAny(),
		reflect.TypeFor[time.Time]():      rapid.Just(time.Unix(1.77e9, 0).UTC()).AsAny(),
	}})
	rapid.Check(t, func(t *rapid.T) {
		response := answer.Draw(t, "answer")
		response.Shared = nil // is not JSON
		var want bytes.Buffer
		encoder := json.NewEncoder(&want)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(&response); err != nil {
			t.Fatal(err)
		}
		got, err := response.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want.String() {
			t.Fatalf("got  %s\nwant %s", brief.Of(got), &want)
		}
	})
}

func TestAnAnswerThatIsNoJSONIsAnError(t *testing.T) {
	response := answer.Response{Hits: []answer.Hit{{Score: math.NaN()}}}
	before := []byte("before")
	if got, err := response.AppendJSON(before); err == nil || string(got) != "before" {
		t.Errorf(`error %v, written %q; want an error and string(got) "before"`, err, brief.Of(got))
	}
}

// TestSharedAnswers: the head of one reader and what all share are the answer, whatever its
// texts look like; texts that are translated for each reader are not shared.
func TestSharedAnswers(t *testing.T) {
	response := answer.Response{
		QueryID: `a","preset":"b`, TookMS: 1.5, Preset: "balanced", Hits: []answer.Hit{{ID: "x", KnowledgeBase: "shop"}},
	}
	text, err := response.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	shared := answer.NewShared(&response, text)
	if shared == nil || shared.Hits != 1 {
		t.Fatalf("shared is %+v; want a shared and shared.Hits 1", shared)
	}
	again := answer.Response{QueryID: response.QueryID, TookMS: response.TookMS, Preset: response.Preset, Shared: shared}
	if got, err := again.AppendJSON(nil); err != nil || string(got) != string(text) {
		t.Errorf("%v, got\n%s\nwant\n%s", err, brief.Of(got), brief.Of(text))
	}
	for _, r := range []*answer.Response{&response, &again} {
		if got := r.HitNames(); !slices.Equal(got, []answer.HitName{{KnowledgeBase: "shop", ID: "x"}}) {
			t.Errorf(`the hits are %v; want {{KnowledgeBase: "shop", ID: "x"}}`, got)
		}
	}
	response.Explain = &answer.Explain{Relevance: []answer.RelevanceAccount{{Why: "because"}}}
	if answer.NewShared(&response, text) != nil {
		t.Error("a text that is translated is shared")
	}
	if answer.NewShared(&answer.Response{QueryID: "other"}, text) != nil {
		t.Error("a text is shared that is not of this answer")
	}
}
