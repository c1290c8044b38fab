package scoring

// Single is one leg as it is, with the weight 1: the contribution is the raw
// score, the score s/(s+pivot) of a text score s or (1 + cosine)/2. A returned
// chunk without a raw score counts as the lowest of the leg's scale.
var Single = newMethod("single", method{
	alone:  true,
	weigh:  func(weights []float64) { weights[0] = 1 },
	scheme: func(f Fusion, w *window) scheme { return single{kind: w.legs[0].Kind, pivot: f.Pivot} },
	scorer: func(f Fusion, kinds []Kind, _ []float64) scorer {
		s := single{kind: kinds[0], pivot: f.Pivot}
		return func(raw, _ float64) float64 { return s.score(raw) }
	},
	comparable: func(Fusion, [][]Leg) bool { return true },
})

type single struct {
	kind  Kind
	pivot float64
}

func (s single) points(_ int, o Observation) float64 {
	switch {
	case o.Known():
		return o.Raw
	case s.kind == Vector:
		return -1
	default:
		return 0
	}
}

func (s single) normalized(_ int, o Observation) float64 {
	if !o.Known() {
		return 0
	}
	return s.score(o.Raw)
}

func (s single) keeps(returned bool, _ float64) bool { return returned }

func (s single) score(raw float64) float64 {
	if s.kind == Vector {
		return (1 + raw) / 2
	}
	return saturate(raw, s.pivot)
}
