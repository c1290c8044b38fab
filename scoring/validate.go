package scoring

import (
	"fmt"
	"math"

	"github.com/hybridge-search/hybridge/fault"
)

// Limits of what a caller may set, so that no sum overflows.
const (
	maxWeight = 1e9
	maxRRFK   = 1e6
)

// Validate refuses, with fault.InvalidArgument and the field's name as the API
// has it (weights.text, rrf_k, normalizer …), what has no meaning.
func (f Fusion) Validate(legs []Leg) error {
	if err := f.validateLegs(legs); err != nil {
		return err
	}
	switch f.Method {
	case RRF:
		if !(f.RRFK >= 1 && f.RRFK <= maxRRFK) {
			return fault.Invalid("rrf_k", f.RRFK, fmt.Sprintf("a number from 1 to %d", int(maxRRFK)))
		}
	case Linear:
		return f.Normalizer.validate()
	case ScriptScore:
	case Single:
		if len(legs) != 1 {
			return fault.Invalid("legs", len(legs), "exactly one leg without fusion")
		}
	default:
		return fault.Invalid("fusion", string(f.Method), "rrf, linear, script_score or single")
	}
	if !(f.Pivot >= 0 && f.Pivot <= math.MaxFloat32) {
		return fault.Invalid("pivot", f.Pivot, "a finite number > 0, or 0 for the default")
	}
	return nil
}

func (f Fusion) validateLegs(legs []Leg) error {
	if len(legs) == 0 {
		return fault.Invalid("legs", 0, "at least one leg")
	}
	weights := make([]float64, len(legs))
	names := make(map[string]bool, len(legs))
	for i := range legs {
		if err := legs[i].validate(); err != nil {
			return err
		}
		if names[legs[i].Name] {
			return fault.Invalid("legs", legs[i].Name, "the name of one leg only")
		}
		names[legs[i].Name] = true
		weights[i] = legs[i].Weight
	}
	if f.Method != Single && !anyAbove(weights, 0) {
		return fault.Invalid("weights", weights, "numbers of which at least one is > 0")
	}
	return nil
}

func (l *Leg) validate() error {
	switch {
	case l.Kind != Text && l.Kind != Vector:
		return fault.Invalid("legs", string(l.Kind), "of kind text or vector")
	case !(l.Weight >= 0) || math.IsInf(l.Weight, 0):
		return fault.Invalid("weights."+l.Name, l.Weight, "a finite number >= 0")
	case l.Weight > maxWeight:
		return fault.Invalid("weights."+l.Name, l.Weight, fmt.Sprintf("at most %d", int(maxWeight)))
	default:
		return nil
	}
}

func (n Normalizer) validate() error {
	switch n {
	case MinMax, L2, ZScore, Theoretical:
		return nil
	default:
		return fault.Invalid("normalizer", string(n), "min_max, l2, z_score or theoretical")
	}
}

func anyAbove(values []float64, floor float64) bool {
	for _, v := range values {
		if v > floor {
			return true
		}
	}
	return false
}
