package scoring

import (
	"math"
	"testing"
)

func TestValidate(t *testing.T) {
	rrf := Fusion{Method: RRF, RRFK: 60}
	f := func(fusion Fusion, legs []Leg, field string) {
		t.Helper()
		wantInvalid(t, fusion.Validate(legs), field)
	}
	f(rrf, nil, "legs")
	f(rrf, pair(-1, 1), "weights.text")
	f(rrf, pair(1, math.NaN()), "weights.vector")
	f(rrf, pair(math.Inf(1), 1), "weights.text")
	f(rrf, pair(1e10, 1), "weights.text")
	f(rrf, pair(0, 0), "weights")
	f(rrf, []Leg{textLeg(1), textLeg(1)}, "legs")
	f(rrf, []Leg{{Name: "text", Kind: "sparse", Weight: 1}}, "legs")
	f(Fusion{Method: RRF}, pair(1, 1), "rrf_k")
	f(Fusion{Method: RRF, RRFK: math.NaN()}, pair(1, 1), "rrf_k")
	f(Fusion{Method: Linear}, pair(1, 1), "normalizer")
	f(Fusion{Method: Linear, Normalizer: "softmax"}, pair(1, 1), "normalizer")
	f(Fusion{Method: ScriptScore, Pivot: -1}, pair(1, 1), "pivot")
	f(Fusion{Method: Single}, pair(1, 1), "legs")
	f(Fusion{Method: "best"}, pair(1, 1), "fusion")
}

func TestValidateSaysWhatIsAccepted(t *testing.T) {
	err := Fusion{Method: RRF, RRFK: 60}.Validate(pair(-1, 1))
	if want := "weights.text is -1; it must be a finite number >= 0"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestValidateAccepts(t *testing.T) {
	for _, fusion := range []Fusion{
		{Method: RRF, RRFK: 1},
		{Method: Linear, Normalizer: ZScore},
		{Method: ScriptScore, Saturated: true, Pivot: 5},
	} {
		if err := fusion.Validate(pair(0, 1)); err != nil {
			t.Errorf("%+v: %v", fusion, err)
		}
	}
	if err := (Fusion{Method: Single}).Validate([]Leg{textLeg(0)}); err != nil {
		t.Errorf("single: %v", err)
	}
}
