package scoring

import "math"

// unfound is the scheme of chunks that no leg found: nothing adds anything.
type unfound struct{}

func (unfound) points(int, Observation) float64     { return 0 }
func (unfound) normalized(int, Observation) float64 { return math.NaN() }
func (unfound) keeps(bool, float64) bool            { return true }

// Unfound gives the candidates at some places as chunks that no leg found and that stand in an
// answer all the same: of score 0, to which each leg adds 0.
func (f Fusion) Unfound(legs []Leg, candidates []Candidate, places []int) []Fused {
	_, legs = f.usable(legs)
	l := &ledger{window: newWindow(legs, candidates), scheme: unfound{}}
	all := make([]Fused, len(places))
	for i, at := range places {
		all[i] = Fused{Index: int32(at), ledger: l} //nolint:gosec // far below 2³¹
	}
	return all
}
