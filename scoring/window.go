package scoring

import "math"

// window holds the observations of all candidates by all legs, fit for arithmetic.
type window struct {
	legs         []Leg
	candidates   []Candidate
	observations []Observation // [candidate][leg]; ranks of a joint ranking are filled in when asked for
	unranked     bool          // some observations came without a rank
	ranked       int           // how many candidates were asked for their ranks
}

func newWindow(legs []Leg, candidates []Candidate) *window {
	w := &window{legs: legs, candidates: candidates, observations: make([]Observation, len(candidates)*len(legs))}
	for i := range candidates {
		row := w.row(i)
		for leg := range row {
			row[leg] = w.observed(i, leg)
			w.unranked = w.unranked || row[leg].Rank == Unranked
		}
	}
	return w
}

// observed is a leg's observation of a candidate, by evidence where there is any.
func (w *window) observed(candidate, leg int) Observation {
	l, said := &w.legs[leg], w.candidates[candidate].Observations
	if leg >= len(said) || l.Degraded {
		return Observation{Raw: math.NaN()}
	}
	o := said[leg].usable(l.Kind)
	if l.Evidence != nil {
		o = o.of(l.Evidence[candidate])
	}
	return o
}

// row gives all legs' observations of a candidate.
func (w *window) row(candidate int) []Observation {
	return w.observations[candidate*len(w.legs) : (candidate+1)*len(w.legs)]
}

func (w *window) id(candidate int) string { return w.candidates[candidate].ID }

// known gives a leg's known raw scores: of the chunks that it returned, or of all
// candidates.
func (w *window) known(leg int, all bool) []float64 {
	known := make([]float64, 0, len(w.candidates))
	for c := range w.candidates {
		if o := w.row(c)[leg]; o.Known() && (all || o.returned()) {
			known = append(known, o.Raw)
		}
	}
	return known
}

// largest is a leg's largest raw score, and at least 0.
func (w *window) largest(leg int) float64 {
	largest := 0.0
	for c := range w.candidates {
		if raw := w.row(c)[leg].Raw; raw > largest { // an unknown one is not
			largest = raw
		}
	}
	return largest
}

// of is the observation by evidence in place of the raw score.
func (o Observation) of(evidence float64) Observation {
	if o.Raw = evidence; math.IsInf(evidence, 0) {
		o.Raw = math.NaN()
	}
	if o.Rank == Unranked && !o.Known() {
		o.Rank = 0
	}
	return o
}

// raw is a leg's raw score of a candidate, NaN where it is unknown.
func (w *window) raw(candidate, leg int) float64 {
	if w.legs[leg].Evidence == nil || w.legs[leg].Degraded {
		return w.row(candidate)[leg].Raw
	}
	said := w.candidates[candidate].Observations
	if leg >= len(said) {
		return math.NaN()
	}
	return said[leg].usable(w.legs[leg].Kind).Raw
}

// usable is the observation fit for arithmetic: a raw score that is not finite is
// unknown, and float32 noise beyond the leg's scale is cut off.
func (o Observation) usable(kind Kind) Observation {
	low, high := 0.0, math.MaxFloat32
	switch kind {
	case Text:
	case Vector:
		low, high = -1, 1
	case Signal:
		high = 1
	}
	switch {
	case o.Raw >= low && o.Raw <= high:
		o.Raw += 0 // turns -0 into 0
	case math.IsInf(o.Raw, 0):
		o.Raw = math.NaN()
	default:
		o.Raw = min(max(o.Raw, low), high) // NaN stays NaN
	}
	if o.Rank < Unranked || o.Rank == Unranked && !o.Known() {
		o.Rank = 0
	}
	return o
}
