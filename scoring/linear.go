package scoring

// Linear is the weighted sum of normalised scores, with weights that sum to 1 over the
// planned legs.
var Linear = newMethod("linear", method{
	weigh:  shareOut,
	scheme: newLinear,
	scorer: func(f Fusion, _ []Kind, _ []float64) scorer {
		n := f.Normalizer.normalization()
		return func(sum, _ float64) float64 { return n.similarity(sum) }
	},
	comparable: func(f Fusion, plans [][]Leg) bool {
		same := f.Normalizer.normalization().comparable
		return same != nil && sameWeights(plans) && same(plans)
	},
})

type linear struct {
	normalization
	legs   []Leg
	scales []scale
}

func newLinear(f Fusion, w *window) scheme {
	l := &linear{normalization: f.Normalizer.normalization(), legs: w.legs, scales: make([]scale, len(w.legs))}
	for leg := range w.legs {
		if w.legs[leg].Kind == Signal {
			l.scales[leg] = scale{span: 1} // it is on a scale of its own already
			continue
		}
		l.scales[leg] = l.scale(&w.legs[leg], w.known(leg, l.everyKnown))
	}
	return l
}

// shareOut normalises the weights of legs to the sum 1, unless all are 0.
func shareOut(weights []float64) {
	var few [8]float64
	whole := addUp(append(few[:0], weights...))
	for i := range weights {
		weights[i] = ratio(weights[i], whole)
	}
}

func (l *linear) points(leg int, o Observation) float64 {
	return l.legs[leg].Weight * l.normalized(leg, o)
}

func (l *linear) normalized(leg int, o Observation) float64 {
	s := &l.scales[leg]
	if !o.Known() || !o.returned() && !l.everyKnown {
		return s.absent
	}
	return s.of(o.Raw)
}

func (l *linear) keeps(returned bool, _ float64) bool { return returned }

// Similarity maps what a fusion shows as normalised into [0, 1].
func (f Fusion) Similarity(normalized float64) float64 {
	if f.Method == Linear {
		normalized = f.Normalizer.normalization().similarity(normalized)
	}
	return clamp(normalized, 1)
}

func (n normalization) similarity(normalized float64) float64 {
	if n.score == nil {
		return normalized
	}
	return n.score(normalized)
}
