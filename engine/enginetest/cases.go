package enginetest

import (
	"bytes"
	"embed"
	"encoding/json"
	"io/fs"
	"math"
	"path"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/textquery"
)

//go:embed testdata/*.json
var testdata embed.FS

// scenario is one file of testdata: a knowledge base, its chunks, and searches
// over it. See testdata/README.md.
type scenario struct {
	Comment  string        `json:"comment"`
	Schema   schema        `json:"schema"`
	Chunks   []storedChunk `json:"chunks"`
	Searches []searchCase  `json:"searches"`
}

type storedChunk struct {
	engine.Chunk
	Vectors map[string][]float32 `json:"vectors"`
	Hidden  bool                 `json:"hidden"`
}

type searchCase struct {
	Comment string      `json:"comment"`
	Legs    []legCase   `json:"legs"`
	Filter  filterCase  `json:"filter"`
	Sum     *sumCase    `json:"sum"`
	Facets  []string    `json:"facets"`
	Expect  expectation `json:"expect"`
}

type legCase struct {
	Name     string           `json:"name"`
	Field    string           `json:"field"`
	K        int              `json:"k"`
	Words    string           `json:"words"` // a text query of these words, weight 1 each
	Text     *textquery.Query `json:"text"`
	Vector   []float32        `json:"vector"`
	Required bool             `json:"required"`
}

type filterCase struct {
	Conditions []conditionCase `json:"conditions"`
	IDs        []string        `json:"ids"`
	Except     []string        `json:"except"`
	Owner      string          `json:"owner"`
	Required   []string        `json:"required"` // phrases, words separated by spaces
	Excluded   []string        `json:"excluded"`
	Fields     []string        `json:"fields"`
}

type conditionCase struct {
	Field  string            `json:"field"`
	In     []any             `json:"in"`
	Range  map[string]any    `json:"range"` // gt, gte, lt, lte
	Part   *partCase         `json:"part"`
	Exists *bool             `json:"exists"`
	AnyOf  [][]conditionCase `json:"any_of"`
	Not    bool              `json:"not"`
}

type partCase struct {
	Text string       `json:"text"`
	At   filter.Place `json:"at"`
}

type sumCase struct {
	Candidates int       `json:"candidates"`
	Weights    []float64 `json:"weights"`
	Pivot      float64   `json:"pivot"`
	Absent     []float64 `json:"absent"`
}

// expectation lists the checks; omitted fields are not checked.
type expectation struct {
	// IDs are the hits in the order of the sum, or of the only leg.
	IDs []string `json:"ids"`
	// Found are the hits in any order.
	Found []string `json:"found"`
	// Legs gives each leg's ranking by its name.
	Legs map[string][]string `json:"legs"`
	// Raw gives raw scores by leg and chunk, null where there is none.
	Raw map[string]map[string]*float64 `json:"raw"`
	// Facets gives a hit's values by chunk and field, in any order.
	Facets map[string]map[string][]string `json:"facets"`
}

func dataCases(t *testing.T) []testCase {
	t.Helper()
	files, err := fs.Glob(testdata, "testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases embedded: %v", err)
	}
	var cases []testCase
	for _, file := range files {
		sc := readScenario(t, file)
		name := "data/" + strings.TrimSuffix(path.Base(file), ".json")
		cases = append(cases, testCase{name, func(t *testing.T, s *suite) { sc.run(t, s) }})
	}
	return cases
}

func readScenario(t *testing.T, file string) *scenario {
	t.Helper()
	content, err := testdata.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	sc := &scenario{}
	if err := decoder.Decode(sc); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return sc
}

func (sc *scenario) run(t *testing.T, s *suite) {
	b := s.base(t, sc.Schema)
	chunks := make([]engine.Chunk, len(sc.Chunks))
	for i, c := range sc.Chunks {
		chunks[i] = c.Chunk
		chunks[i].Vectors = c.Vectors
		chunks[i].Available = !c.Hidden
		if chunks[i].DocumentID == "" {
			chunks[i].DocumentID = "doc-" + c.ID
		}
	}
	b.write(chunks...)
	for _, c := range sc.Searches {
		t.Run(c.Comment, func(t *testing.T) {
			here := &base{t: t, engine: b.engine, kb: b.kb}
			c.check(t, here)
		})
	}
}

func (c *searchCase) check(t *testing.T, b *base) {
	req := engine.Request{Legs: make([]engine.Leg, len(c.Legs)), Filter: c.Filter.filter(), Facets: c.Facets}
	for i, leg := range c.Legs {
		req.Legs[i] = leg.leg()
	}
	if c.Sum != nil {
		req.Sum = &engine.Sum{Candidates: c.Sum.Candidates, Weights: c.Sum.Weights, Pivot: c.Sum.Pivot, Absent: c.Sum.Absent}
	}
	result := b.search(req)
	c.Expect.check(t, &req, result)
}

func (l *legCase) leg() engine.Leg {
	leg := engine.Leg{
		Name: l.Name, Field: l.Field, K: l.K,
		Text: l.Text, Vector: l.Vector, Required: l.Required,
	}
	if leg.Name == "" {
		leg.Name = l.Field
	}
	if leg.K == 0 {
		leg.K = 10
	}
	if leg.Text == nil && leg.Vector == nil {
		leg.Text = queryOf(l.Words)
	}
	return leg
}

func (f *filterCase) filter() engine.Filter {
	filter := engine.Filter{
		IDs: f.IDs, Except: f.Except, Owner: f.Owner, Fields: f.Fields,
		Required: phrases(f.Required), Excluded: phrases(f.Excluded),
	}
	for _, c := range f.Conditions {
		filter.Conditions = append(filter.Conditions, c.condition())
	}
	return filter
}

func phrases(texts []string) []textquery.Phrase {
	var all []textquery.Phrase
	for _, text := range texts {
		all = append(all, textquery.Phrase{Terms: strings.Fields(text)})
	}
	return all
}

func (c *conditionCase) condition() filter.Condition {
	condition := filter.Condition{Field: c.Field, Exists: c.Exists, Not: c.Not}
	for _, some := range c.AnyOf {
		all := make([]filter.Condition, len(some))
		for i := range some {
			all[i] = some[i].condition()
		}
		condition.AnyOf = append(condition.AnyOf, all)
	}
	for _, v := range c.In {
		condition.In = append(condition.In, filter.Value{V: v})
	}
	if c.Part != nil {
		condition.Part = &filter.Part{Text: c.Part.Text, At: c.Part.At}
	}
	if c.Range != nil {
		bound := func(name string) *filter.Value {
			if v, given := c.Range[name]; given {
				return &filter.Value{V: v}
			}
			return nil
		}
		condition.Range = &filter.Range{
			GT: bound("gt"), GTE: bound("gte"), LT: bound("lt"), LTE: bound("lte"),
		}
	}
	return condition
}

func (e *expectation) check(t *testing.T, req *engine.Request, result *engine.Result) {
	t.Helper()
	if e.IDs != nil {
		got := hitIDs(result.Hits)
		if req.Sum == nil {
			got = ranking(result, 0)
		}
		same(t, "hits", got, e.IDs)
	}
	if e.Found != nil {
		sameSet(t, "hits in any order", hitIDs(result.Hits), e.Found)
	}
	names := map[string]bool{}
	for i, leg := range req.Legs {
		names[leg.Name] = true
		if want, given := e.Legs[leg.Name]; given {
			same(t, "leg "+leg.Name, ranking(result, i), want)
		}
		for id, want := range e.Raw[leg.Name] {
			expected := math.NaN()
			if want != nil {
				expected = *want
			}
			near64(t, "raw score of "+id+" in "+leg.Name, find(t, result, id).Observations[i].Raw, expected, 1e-5)
		}
	}
	for _, name := range append(sortedKeys(e.Legs), sortedKeys(e.Raw)...) {
		if !names[name] {
			t.Errorf("the case expects something of leg %q, which it does not have", name)
		}
	}
	for id, fields := range e.Facets {
		for field, want := range fields {
			sameSet(t, "values of "+field+" in "+id, find(t, result, id).Facets[field], want)
		}
	}
}
