package tune

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search"
)

// Parameter is one thing that is tried by several values: numbers of a range, or choices.
type Parameter struct {
	Name      string
	Low, High float64
	Log       bool     // even steps are of the logarithm
	Choices   []string // nil: it is a range

	kind *kind
	of   string // what follows the prefix of the kind
}

// kind says how parameters of a name change a request. Together they cover everything that a request, and so
// a preset, can set.
type kind struct {
	// retrieval: it changes what is found, not only how that is fused.
	retrieval bool
	low, high float64 // what a range may have; both 0: it takes choices only
	// set lays a number over a request.
	set func(p *Parameter, value float64, onto *search.Request)
	// choose lays a choice over a request; nil: choices are numbers.
	choose func(p *Parameter, choice string, onto *search.Request) error
}

// kinds are parameters by name, or by the beginning of their names up to a dot.
var kinds = map[string]*kind{
	"weights.": {high: math.MaxFloat32, set: func(p *Parameter, value float64, onto *search.Request) {
		onto.Weights = with(onto.Weights, p.of, value)
	}},
	"signals.": {high: search.MaxSignalWeight, set: weighSignal},
	"rrf_k": {low: 1, high: 1e6, set: func(_ *Parameter, value float64, onto *search.Request) {
		onto.RRFK = &value
	}},
	"pivot": {low: 1e-6, high: 1e6, set: func(_ *Parameter, value float64, onto *search.Request) {
		onto.Pivot = &value
	}},
	"threshold.score": {high: 1, set: func(_ *Parameter, value float64, onto *search.Request) {
		onto.Threshold.Score = &value
	}},
	"threshold.relative": {high: 1, set: func(_ *Parameter, value float64, onto *search.Request) {
		onto.Threshold.Relative = &value
	}},
	"rerank.weight": {high: 1, set: func(_ *Parameter, value float64, onto *search.Request) {
		if r := onto.Rerank; r != nil {
			onto.Rerank = &search.Rerank{Name: r.Name, Window: r.Window, Weight: &value, BudgetMS: r.BudgetMS}
		}
	}},
	"normalizer": {choose: func(_ *Parameter, choice string, onto *search.Request) error {
		onto.Normalizer = new(scoring.Normalizer(choice))
		return onto.Normalizer.Validate()
	}},
	"preset": {retrieval: true, choose: func(_ *Parameter, choice string, onto *search.Request) error {
		onto.Preset = choice
		return nil
	}},
	"candidates": {retrieval: true, choose: func(_ *Parameter, choice string, onto *search.Request) error {
		n, err := strconv.Atoi(choice)
		if err != nil || n < 1 || n > search.MaxObserved {
			return fault.Invalid("candidates", choice, "1 to 200")
		}
		onto.Candidates = &n
		return nil
	}},
	"rerank": {retrieval: true, choose: func(_ *Parameter, choice string, onto *search.Request) error {
		r := search.Rerank{Name: choice}
		if before := onto.Rerank; before != nil {
			r.Window, r.Weight, r.BudgetMS = before.Window, before.Weight, before.BudgetMS
		}
		onto.Rerank = &r
		return nil
	}},
	"text_query.": {retrieval: true, choose: chooseTextQuery},
	"minimum_should_match": {retrieval: true, choose: func(_ *Parameter, choice string, onto *search.Request) error {
		onto.MinimumShouldMatch = &choice
		return onto.Overrides.Validate()
	}},
	"fields.": {retrieval: true, choose: func(p *Parameter, choice string, onto *search.Request) error {
		boost, err := strconv.ParseFloat(choice, 64)
		if err != nil {
			return fault.Invalid(p.Name, choice, "1, or a number from 2 to 100")
		}
		onto.Fields = with(onto.Fields, p.of, boost)
		return onto.Overrides.Validate()
	}},
}

// Retrieves reports whether it changes what is found, not only how that is fused.
func (p *Parameter) Retrieves() bool { return p.kind.retrieval }

// Names lists the names of parameters; one that ends in a dot is a prefix for a leg, a signal or a part of
// the text.
func Names(retrieval bool) (names []string) {
	for name, k := range kinds {
		if k.retrieval == retrieval {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

const accepted = "NAME=LOW..HIGH, NAME=LOW..HIGH:log or NAME=CHOICE,CHOICE with a name of "

// Parse reads a parameter: weights.text=0..1, rrf_k=1..200:log, normalizer=min_max,z_score.
func Parse(text string) (Parameter, error) {
	name, values, found := strings.Cut(text, "=")
	p := Parameter{Name: name, kind: kinds[name]}
	if before, after, dotted := strings.Cut(name, "."); dotted && p.kind == nil && after != "" {
		p.kind, p.of = kinds[before+"."], after
	}
	if p.kind == nil || !found || values == "" || strings.HasSuffix(name, ".") {
		return p, fault.Invalid("space", text, accepted+strings.Join(slices.Concat(Names(false), Names(true)), ", "))
	}
	low, high, ranged := strings.Cut(values, "..")
	if !ranged {
		p.Choices = strings.Split(values, ",")
		return p, p.checkChoices()
	}
	if p.kind.set == nil {
		return p, fault.Invalid(name, values, "choices, divided by commas")
	}
	high, p.Log = strings.CutSuffix(high, ":log")
	var wrong [2]error
	p.Low, wrong[0] = strconv.ParseFloat(low, 64)
	p.High, wrong[1] = strconv.ParseFloat(high, 64)
	if wrong[0] != nil || wrong[1] != nil {
		return p, fault.Invalid(name, values, "two numbers with .. between them")
	}
	return p, p.checkRange(values)
}

func (p *Parameter) checkRange(values string) error {
	least, most := p.kind.low, p.kind.high
	switch {
	case !(p.Low < p.High):
		return fault.Invalid(p.Name, values, "a range from the smaller to the larger number")
	case p.Low < least || p.High > most:
		return fault.Invalid(p.Name, values, "numbers from "+number(least)+" to "+number(most))
	case p.Log && p.Low <= 0:
		return fault.Invalid(p.Name, values, "a logarithmic range of numbers > 0")
	}
	return nil
}

func (p *Parameter) checkChoices() error {
	for i, choice := range p.Choices {
		if slices.Contains(p.Choices[:i], choice) {
			return fault.Invalid(p.Name, choice, "each choice once")
		}
		if p.kind.choose != nil {
			if err := p.kind.choose(p, choice, &search.Request{}); err != nil {
				return err
			}
			continue
		}
		value, err := strconv.ParseFloat(choice, 64)
		if err != nil || value < p.kind.low || value > p.kind.high {
			return fault.Invalid(p.Name, choice, "numbers from "+number(p.kind.low)+" to "+number(p.kind.high))
		}
	}
	return nil
}

// choose lays a choice over a request.
func (p *Parameter) choose(choice string, onto *search.Request) error {
	if p.kind.choose != nil {
		return p.kind.choose(p, choice, onto)
	}
	value, err := strconv.ParseFloat(choice, 64)
	if err == nil {
		p.kind.set(p, value, onto)
	}
	return err
}

// at returns the value at a place of the range, from 0 to 1, rounded to three digits, so that printed values are the
// measured ones.
func (p *Parameter) at(place float64) float64 {
	value := p.Low + place*(p.High-p.Low)
	if p.Log {
		value = p.Low * math.Pow(p.High/p.Low, place)
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(value, 'g', 3, 64), 64)
	if err != nil {
		return value
	}
	return min(max(rounded, p.Low), p.High)
}

// String writes the parameter as Parse reads it.
func (p *Parameter) String() string {
	if p.Choices != nil {
		return p.Name + "=" + strings.Join(p.Choices, ",")
	}
	text := p.Name + "=" + number(p.Low) + ".." + number(p.High)
	if p.Log {
		text += ":log"
	}
	return text
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// with is a copy of a map with one value more: requests share their maps.
func with(m map[string]float64, name string, value float64) map[string]float64 {
	copied := make(map[string]float64, len(m)+1)
	for k, v := range m {
		copied[k] = v
	}
	copied[name] = value
	return copied
}

// chooseTextQuery changes how a question becomes a text query.
func chooseTextQuery(p *Parameter, choice string, onto *search.Request) error {
	value, err := strconv.ParseFloat(choice, 64)
	if err != nil {
		return fault.Invalid(p.Name, choice, "a number")
	}
	switch t := &onto.TextQuery; p.of {
	case "phrase_boost":
		t.PhraseBoost = &value
	case "part_weight":
		t.PartWeight = &value
	case "phrase_slop":
		slop, err := strconv.Atoi(choice)
		if err != nil {
			return fault.Invalid(p.Name, choice, "a whole number")
		}
		t.PhraseSlop = &slop
	default:
		return fault.Invalid("space", p.Name, "text_query.phrase_boost, text_query.phrase_slop or text_query.part_weight")
	}
	return onto.Overrides.Validate()
}

// weighSignal changes the weight of a signal that the request has, named as its leg.
func weighSignal(p *Parameter, value float64, onto *search.Request) {
	onto.Signals = slices.Clone(onto.Signals)
	for i := range onto.Signals {
		if onto.Signals[i].Leg().Name == p.of {
			onto.Signals[i].Weight = max(value, math.SmallestNonzeroFloat64)
		}
	}
}
