package tune

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search"
)

// MaxRetrievals limits the ways of retrieving: each asks every question of an engine.
const MaxRetrievals = 32

// Space is the search space: a preset and its variable parameters.
type Space struct {
	Preset     string
	TopK       int // hits of an answer
	Parameters []Parameter
	Planners   map[string]search.Planner
	Fields     []engine.Field // of the knowledge base
}

// arm is a part of the space within which only numbers vary: one choice of each parameter that has choices.
type arm struct {
	request search.Request
	ranges  []Parameter
	fusion  scoring.Fusion // method and normaliser
	fetch   int            // the way of retrieving
	columns int            // of the fusion of what that finds
}

// plan lays numbers over the arm's request: places in its ranges, from 0 to 1.
func (s *Space) plan(a *arm, places []float64) (*search.Request, *search.Plan, error) {
	req := a.request
	for i := range a.ranges {
		a.ranges[i].kind.set(&a.ranges[i], a.ranges[i].at(places[i]), &req)
	}
	s.balance(&req)
	plan, err := s.planOf(&req)
	return &req, plan, err
}

func (s *Space) planOf(req *search.Request) (*search.Plan, error) {
	planner := s.Planners[req.Preset]
	if planner == nil {
		return nil, fault.Invalid("preset", req.Preset, "one of "+
			strings.Join(slices.Sorted(maps.Keys(s.Planners)), ", "))
	}
	plan, err := planner(req, s.Fields)
	return &plan, err
}

// balance gives vectors what text leaves of 1: weights are relative, so one of them follows from the others.
func (s *Space) balance(req *search.Request) {
	text, vector := string(scoring.Text), string(scoring.Vector)
	weight, searched := req.Weights[text]
	if _, both := req.Weights[vector]; searched && !both && weight <= 1 {
		req.Weights = with(req.Weights, vector, math.Round((1-weight)*1e4)/1e4)
	}
}

// start is the arm of the preset as it is.
func (s *Space) start() arm {
	topK := s.TopK
	return arm{request: search.Request{Preset: s.Preset, TopK: &topK}}
}

// pick is a choice of one of the parameters.
type pick struct {
	of     *Parameter
	choice string
}

// arms are the preset as it is, then every combination of the choices that makes a plan of its own, with the
// ranges that change something there. A parameter that never does is refused.
func (s *Space) arms() ([]arm, error) {
	combined, err := s.combinations()
	if err != nil {
		return nil, err
	}
	all, used, seen := []arm{s.start()}, map[string]bool{}, map[string]bool{}
	asItIs, err := s.planOf(&all[0].request)
	if err != nil {
		return nil, err
	}
	start, err := textOf(asItIs)
	if err != nil {
		return nil, err
	}
	for _, picks := range combined {
		made, picks, err := s.telling(picks)
		if err != nil {
			return nil, err
		}
		a, err := s.with(picks)
		if err != nil {
			return nil, err
		}
		if a.ranges, err = s.rangesOf(a); err != nil {
			return nil, err
		}
		for _, p := range picks {
			used[p.of.Name] = true
		}
		for i := range a.ranges {
			used[a.ranges[i].Name] = true
		}
		if same := made == start && len(a.ranges) == 0; !same && !seen[made] {
			seen[made] = true
			all = append(all, a)
		}
	}
	for i := range s.Parameters {
		if name := s.Parameters[i].Name; !used[name] {
			return nil, fault.Invalid("space", name, "a parameter that changes something of preset "+s.Preset)
		}
	}
	return all, nil
}

// combinations are all choices beside each other.
func (s *Space) combinations() ([][]pick, error) {
	const most = 1024
	all := [][]pick{nil}
	for i := range s.Parameters {
		p := &s.Parameters[i]
		if p.Choices == nil {
			continue
		}
		var more [][]pick
		for _, picks := range all {
			for _, choice := range p.Choices {
				more = append(more, append(slices.Clone(picks), pick{p, choice}))
			}
		}
		if all = more; len(all) > most {
			return nil, fault.Invalid("space", len(all), "at most 1024 combinations of choices")
		}
	}
	return all, nil
}

// telling leaves out choices without which the plan is the same, which is given as text.
func (s *Space) telling(picks []pick) (made string, told []pick, err error) {
	if made, err = s.made(picks); err != nil {
		return "", nil, err
	}
	for i := 0; i < len(picks); {
		without := slices.Delete(slices.Clone(picks), i, i+1)
		other, err := s.made(without)
		if err != nil || other != made { // it may be what makes a plan possible
			i++
			continue
		}
		picks = without
	}
	return made, picks, nil
}

func (s *Space) made(picks []pick) (string, error) {
	a, err := s.with(picks)
	if err != nil {
		return "", err
	}
	return s.planText(a, "")
}

// with is the arm of some choices.
func (s *Space) with(picks []pick) (arm, error) {
	a := s.start()
	plan, err := s.planOf(&a.request)
	if err != nil {
		return a, err
	}
	if slices.ContainsFunc(s.Parameters, func(p Parameter) bool { return p.kind == kinds["signals."] }) {
		for i := range plan.Legs { // of the preset
			if signal := plan.Legs[i].Signal; signal != nil {
				a.request.Signals = append(a.request.Signals, *signal)
			}
		}
	}
	if r := plan.Rerank; r != nil && slices.ContainsFunc(s.Parameters, func(p Parameter) bool {
		return strings.HasPrefix(p.Name, "rerank")
	}) {
		a.request.Rerank = &search.Rerank{Name: r.Name, Window: &r.Window, Weight: &r.Weight}
		if r.BudgetMS > 0 {
			a.request.Rerank.BudgetMS = &r.BudgetMS
		}
	}
	for _, p := range picks {
		if err := p.of.choose(p.choice, &a.request); err != nil {
			return a, err
		}
	}
	return a, nil
}

// planText is the plan of an arm with all ranges at their middle, but for one that is moved.
func (s *Space) planText(a arm, moved string) (string, error) {
	var places []float64
	a.ranges = nil
	for _, p := range s.Parameters {
		if p.Choices != nil {
			continue
		}
		place := 0.5
		if p.Name == moved {
			place = 0.75
		}
		a.ranges, places = append(a.ranges, p), append(places, place)
	}
	_, plan, err := s.plan(&a, places)
	if err != nil {
		return "", err
	}
	return textOf(plan)
}

// textOf tells plans apart that rank otherwise.
func textOf(plan *search.Plan) (string, error) {
	told := *plan
	if told.Joint { // it ranks every chunk, however many of them are candidates
		told.Candidates, told.Legs = 0, slices.Clone(told.Legs)
		for i := range told.Legs {
			told.Legs[i].K = 0
		}
	}
	text, err := json.Marshal(&told)
	return string(text), err
}

// rangesOf are the ranges that change the plan of an arm.
func (s *Space) rangesOf(a arm) (used []Parameter, err error) {
	made, err := s.planText(a, "")
	if err != nil {
		return nil, err
	}
	for _, p := range s.Parameters {
		if p.Choices != nil {
			continue
		}
		moved, err := s.planText(a, p.Name)
		if err != nil {
			return nil, err
		}
		if moved != made {
			used = append(used, p)
		}
	}
	return used, nil
}

// Search adds parameters, as Parse reads them: what changes a fusion, or retrievals. field names the texts in errors.
func (s *Space) Search(field string, texts []string, retrieves bool) error {
	for _, text := range texts {
		p, err := Parse(text)
		if err != nil {
			return err
		}
		if p.Retrieves() != retrieves {
			return fault.Invalid(field, text, "one of "+strings.Join(Names(retrieves), ", "))
		}
		s.Parameters = append(s.Parameters, p)
	}
	return nil
}

// Complete adds what is usual where nothing that changes a fusion is searched.
func (s *Space) Complete() error {
	if slices.ContainsFunc(s.Parameters, func(p Parameter) bool { return !p.Retrieves() }) {
		return nil
	}
	usual, err := s.Usual()
	s.Parameters = append(usual, s.Parameters...)
	return err
}

// Usual is the default search space of a preset: the weights, and the numbers and choices of its fusion.
func (s *Space) Usual() ([]Parameter, error) {
	start := s.start()
	plan, err := s.planOf(&start.request)
	if err != nil {
		return nil, err
	}
	texts := []string{"weights.text=0..1", "rrf_k=1..200:log"}
	switch plan.Fusion.Method {
	case scoring.ScriptScore: // BM25 is ten times a cosine, so that small weights matter
		texts[0] = "weights.text=0.0002..1:log"
	case scoring.Linear:
		var all []string
		for _, n := range scoring.Normalizers() {
			all = append(all, string(n))
		}
		texts = append(texts, "normalizer="+strings.Join(all, ","))
	}
	for i := range plan.Legs {
		l := &plan.Legs[i]
		switch {
		case l.Kind == scoring.Signal:
			texts = append(texts, "signals."+l.Name+"="+number(l.Weight/8)+".."+number(l.Weight*8)+":log")
		case l.Name != string(l.Kind):
			texts = append(texts, "weights."+l.Name+"=0..1")
		}
	}
	var usual []Parameter
	for _, text := range texts {
		p, err := Parse(text)
		if err != nil {
			return nil, err
		}
		alone := *s
		alone.Parameters = []Parameter{p}
		if _, err := alone.arms(); err == nil {
			usual = append(usual, p)
		}
	}
	return usual, nil
}
