package scoring

import (
	"math"
	"slices"
	"sort"
)

// Thresholds cut insufficient hits out of a ranking. Absolute ones come
// first (legs, then the fused score); the relative one compares with the best
// chunk they leave, which therefore always stays.
type Thresholds struct {
	Score    *float64       `json:"score,omitempty"`    // least fused score, in [0, 1]
	Relative *float64       `json:"relative,omitempty"` // least share of the best fused score, in [0, 1]
	Legs     []LegThreshold `json:"legs,omitempty"`
	// Spares reports whether a chunk stays despite all thresholds; nil: none does.
	Spares func(*Fused) bool `json:"-"`
}

// LegThreshold is the least raw score in one leg. It also cuts chunks whose raw
// score there is unknown.
type LegThreshold struct {
	Index int     `json:"leg"` // of the leg
	Min   float64 `json:"min"`
}

// Names of the thresholds that are not a leg's.
const (
	scoreThreshold    = "score"
	relativeThreshold = "relative"
)

// Cut sums up the hits cut by one threshold.
type Cut struct {
	Threshold string   `json:"threshold"` // score, relative, or the leg's name
	Min       float64  `json:"min"`       // the value asked; of relative: in terms of the fused score
	Count     int      `json:"count"`
	Best      *float64 `json:"best"` // the best value that fell short, nil when none was known
}

// Applicable leaves out the thresholds of degraded legs, which would cut
// everything and so cost the answer, and those that every score of their leg
// passes (text 0, cosine -1).
func (t Thresholds) Applicable(legs []Leg) Thresholds {
	kept := make([]LegThreshold, 0, len(t.Legs))
	for _, l := range t.Legs {
		if l.Index < 0 || l.Index >= len(legs) || legs[l.Index].Degraded {
			continue
		}
		lowest := 0.0
		if legs[l.Index].Kind == Vector {
			lowest = -1
		}
		if l.Min > lowest {
			kept = append(kept, l)
		}
	}
	t.Legs = kept
	return t
}

// Cut gives the chunks of a ranking that pass, in order, and one Cut per
// threshold that cut something. A chunk counts for the first threshold it
// falls short of: the legs' in their order, score, relative. kept shares the
// memory of the ranking as far as nothing is cut.
func (t Thresholds) Cut(fused []Fused) (kept []Fused, cuts []Cut) {
	floor := t.floor(fused)
	passing := t.passing(fused, floor)
	if passing > 0 {
		kept = fused[:passing:passing] // append copies
	}
	for i := passing; i < len(fused); i++ {
		if short, falls := t.short(&fused[i], floor); falls && (t.Spares == nil || !t.Spares(&fused[i])) {
			cuts = short.account(cuts)
		} else {
			kept = append(kept, fused[i])
		}
	}
	return kept, cuts
}

// passing is how many of the first chunks pass, as far as their fused scores tell.
func (t Thresholds) passing(fused []Fused, floor float64) int {
	if len(t.Legs) > 0 {
		return 0
	}
	score := floor
	if t.Score != nil {
		score = max(score, *t.Score)
	}
	return sort.Search(len(fused), func(i int) bool { return fused[i].Score < score }) // scores fall
}

// Why tells which threshold cuts one chunk of the ranking: Count is 1, Best the
// chunk's own value. It is false when the chunk passes or is not in the ranking.
func (t Thresholds) Why(fused []Fused, id string) (Cut, bool) {
	for i := range fused {
		if fused[i].ID() != id {
			continue
		}
		short, falls := t.short(&fused[i], t.floor(fused))
		if falls {
			return short.account(nil)[0], true
		}
	}
	return Cut{}, false
}

// shortfall is a chunk's value (NaN: unknown) below a threshold.
type shortfall struct {
	threshold  string
	min, value float64
}

// short names the first threshold that a chunk falls short of.
func (t Thresholds) short(f *Fused, floor float64) (shortfall, bool) {
	if short, falls := t.shortAbsolute(f); falls {
		return short, true
	}
	return shortfall{threshold: relativeThreshold, min: floor, value: f.Score}, f.Score < floor
}

func (t Thresholds) shortAbsolute(f *Fused) (shortfall, bool) {
	for _, l := range t.Legs {
		if raw := f.raw(l.Index); !(raw >= l.Min) {
			return shortfall{threshold: legName(f, l.Index), min: l.Min, value: raw}, true
		}
	}
	if t.Score != nil && f.Score < *t.Score {
		return shortfall{threshold: scoreThreshold, min: *t.Score, value: f.Score}, true
	}
	return shortfall{}, false
}

func legName(f *Fused, leg int) string {
	if f.ledger == nil || leg < 0 || leg >= len(f.ledger.legs) {
		return ""
	}
	return f.ledger.legs[leg].Name
}

// raw is the chunk's raw score in a leg, NaN where it is unknown.
func (f *Fused) raw(leg int) float64 {
	if f.ledger == nil || leg < 0 || leg >= len(f.ledger.legs) {
		return math.NaN()
	}
	return f.ledger.raw(int(f.Index), leg)
}

// floor is the fused score that the relative threshold asks for.
func (t Thresholds) floor(fused []Fused) float64 {
	if t.Relative == nil {
		return 0
	}
	for i := range fused {
		if _, falls := t.shortAbsolute(&fused[i]); !falls {
			return clamp(*t.Relative, 1) * fused[i].Score // the best, as scores fall
		}
	}
	return 0
}

// account adds one chunk to the sums of its threshold.
func (s shortfall) account(cuts []Cut) []Cut {
	at := slices.IndexFunc(cuts, func(c Cut) bool { return c.Threshold == s.threshold })
	if at < 0 {
		at = len(cuts)
		cuts = append(cuts, Cut{Threshold: s.threshold, Min: s.min})
	}
	cut := &cuts[at]
	cut.Count++
	switch {
	case math.IsNaN(s.value):
	case cut.Best == nil:
		best := s.value
		cut.Best = &best
	default:
		*cut.Best = max(*cut.Best, s.value)
	}
	return cuts
}
