package relevance

import (
	"math"
	"testing"

	"github.com/hybridge-search/hybridge/embedding/bank"
	"github.com/hybridge-search/hybridge/scoring"
)

// TestMomentsOfEvidence: chunks in a language that has no line, here one in a hundred, change nothing.
func TestMomentsOfEvidence(t *testing.T) {
	t.Parallel()
	f := func(known float64) scoring.Moments {
		t.Helper()
		s := LegScale{Parts: []Part{
			{Scale: bank.Scale{Slope: 10, Offset: -8}, Share: 0.6 * known, Middle: 0.85},
			{Scale: bank.Scale{Slope: 12, Offset: -9}, Share: 0.4 * known, Middle: 0.81},
		}}
		return *s.moments(&scoring.Moments{Mean: 0.834, Deviation: 0.03})
	}
	all, most := f(1), f(0.99)
	if math.Abs(all.Mean-most.Mean) > 1e-9 || math.Abs(all.Deviation-most.Deviation) > 1e-9 || all.Deviation < 0.2 {
		t.Errorf("%+v of all, %+v without a language of few", all, most)
	}
}
