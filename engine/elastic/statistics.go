package elastic

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/mappings"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/vector"
)

const (
	sampleSize    = 500 // vectors of a knowledge base whose cosines stand for all
	sampleSeed    = 7
	sampleRefresh = 10 * time.Second // at most this often while chunks are written
)

// fieldFigures are what a text and a vector field hold.
type fieldFigures struct {
	docs    int
	length  float64 // tokens of all of them
	vectors int
}

// Statistics implements engine.Searcher. Frequencies count the knowledge base's
// own chunks, hidden ones included; they are remembered for up to 30 s, and as long
// as after that the figures of the field are the same, for up to 10 minutes.
func (e *Engine) Statistics(ctx context.Context, req *engine.StatisticsRequest) (*engine.Statistics, error) {
	t, err := e.target(ctx, &req.KB)
	if err != nil {
		return nil, err
	}
	field, ok := t.names.Text[req.Field]
	if !ok && (req.Field != "" || len(req.Terms) > 0) {
		return nil, t.noField("field", req.Field)
	}
	stats := &engine.Statistics{DF: make([]int, len(req.Terms))}
	figures, err := e.frequencies(ctx, t, field, req, stats.DF)
	if err != nil {
		return nil, err
	}
	stats.Docs, stats.Vectors = figures.docs, figures.vectors
	if figures.docs > 0 {
		stats.AverageLength = figures.length / float64(figures.docs)
	}
	if req.Vector == nil {
		return stats, nil
	}
	stats.Cosine, err = e.cosines(ctx, t, req, figures.vectors)
	return stats, err
}

// frequencies fills df and gives the field's figures, asking only for what is
// not remembered.
func (e *Engine) frequencies(
	ctx context.Context, t *target, field mappings.TextField, req *engine.StatisticsRequest, df []int,
) (fieldFigures, error) {
	of := fieldKey{t.kb.Ref, e.memory.generation(t), field.Name, req.VectorField}
	figures, known := e.memory.figures(of)
	key := func(term string) termKey {
		return termKey{of.ref, of.generation, of.text, term, figures.docs, figures.length}
	}
	life := figuresLife
	if field.Length != "" { // without the lengths of texts, figures tell little
		life = countedLife
	}
	unknown := unknowns{text: field, vector: req.VectorField, figures: !known}
	for i, term := range req.Terms {
		n, ok := recall(e.memory.terms, key(term), life)
		if df[i] = n; !ok && !slices.Contains(unknown.terms, term) {
			unknown.terms = append(unknown.terms, term)
		}
	}
	if known && len(unknown.terms) == 0 {
		return figures, nil
	}
	counted, err := e.countTerms(ctx, t, &unknown)
	if err != nil {
		return fieldFigures{}, err
	}
	changed := !known && counted.figures != figures
	if !known {
		figures = counted.figures
		remember(e.memory.fields, of, figures)
	}
	for i, term := range unknown.terms {
		remember(e.memory.terms, key(term), counted.terms[i])
	}
	if changed && len(unknown.terms) < len(req.Terms) { // the others were those of other chunks
		return e.frequencies(ctx, t, field, req, df)
	}
	for i, term := range req.Terms {
		if at := slices.Index(unknown.terms, term); at >= 0 {
			df[i] = counted.terms[at]
		}
	}
	return figures, nil
}

// unknowns are what is not remembered: the frequencies of terms and maybe the
// figures of the fields, for which Elasticsearch looks at every chunk.
type unknowns struct {
	text    mappings.TextField
	vector  string // a field
	terms   []string
	figures bool
}

// countTerms counts in one request the chunks that have each term, and those that
// have a text and a vector.
func (e *Engine) countTerms(ctx context.Context, t *target, of *unknowns) (counted termCounts, err error) {
	a, err := e.contents(ctx, t, t.termsStatement(of))
	if err != nil {
		return counted, err
	}
	defer a.release()
	if err := readWith(a.Aggregations, counted.read); err != nil || len(counted.terms) != len(of.terms) {
		return counted, unreadable(err)
	}
	return counted, nil
}

// termCounts are the aggregations of termsStatement.
type termCounts struct {
	terms   []int
	figures fieldFigures
}

// read implements readable.
func (c *termCounts) read(r reader) {
	for r.object(); r.more(); {
		switch r.name() {
		case "terms":
			c.readTerms(r)
		case "text":
			c.figures.docs = int(readMember(r, "doc_count"))
		case "vectors":
			c.figures.vectors = int(readMember(r, "doc_count"))
		case "length":
			c.figures.length = readMember(r, "value")
		default:
			r.raw()
		}
	}
}

func (c *termCounts) readTerms(r reader) {
	for r.object(); r.more(); {
		if r.name() != "buckets" {
			r.raw()
			continue
		}
		for r.array(); r.more(); {
			c.terms = append(c.terms, int(readMember(r, "doc_count")))
		}
	}
}

// readMember gives a number of an object, of which the rest is passed over.
func readMember(r reader, name string) (found float64) {
	for r.object(); r.more(); {
		if r.name() != name {
			r.raw()
			continue
		}
		n, err := strconv.ParseFloat(r.raw(), 64)
		if err != nil {
			r.fail(err.Error())
		}
		found = n
	}
	return found
}

func (t *target) termsStatement(of *unknowns) statement {
	aggs := esquery.Aggregations{}
	if of.figures {
		t.askFigures(of, aggs)
	}
	if len(of.terms) > 0 {
		c := newClauses(&of.text, len(of.terms))
		each := esquery.FiltersAggregation{Filters: make([]esquery.Query, len(of.terms))}
		for i, term := range of.terms {
			each.Filters[i] = c.word(term, esquery.Common{})
		}
		aggs["terms"] = each
	}
	return asking(t.pieces().plain, esquery.Search{Query: esquery.Bool{Filter: t.own}, Aggs: aggs})
}

func (t *target) askFigures(of *unknowns, aggs esquery.Aggregations) {
	if of.text.Name != "" {
		aggs["text"] = esquery.FilterAggregation{Filter: esquery.Exists{Field: of.text.Name}}
	}
	if of.text.Length != "" {
		aggs["length"] = esquery.SumAggregation{Field: of.text.Length}
	}
	if vector, ok := t.names.Vectors[of.vector]; ok {
		aggs["vectors"] = esquery.FilterAggregation{Filter: esquery.Exists{Field: vector.Name}}
	}
}

// sample is a fixed random choice of a knowledge base's vectors.
type sample struct {
	rows       []float32 // [n*dim], each of length 1
	size       int       // n
	generation int64
	since      time.Time
}

// fresh: a sample of all vectors there were is taken again after each write, a
// true sample only now and then.
func (s *sample) fresh(generation int64) bool {
	if s.generation == generation {
		return true
	}
	return s.size == sampleSize && time.Since(s.since) < sampleRefresh
}

// cosines gives the moments of the cosines between the vector and the sample.
func (e *Engine) cosines(
	ctx context.Context, t *target, req *engine.StatisticsRequest, vectors int,
) (scoring.Moments, error) {
	field, ok := t.names.Vectors[req.VectorField]
	if !ok {
		return scoring.Moments{}, t.noField("vector_field", req.VectorField)
	}
	query, err := unit(req.Vector, field.Dims)
	if err != nil || query == nil || vectors == 0 {
		return scoring.Moments{}, err
	}
	s, err := e.sample(ctx, t, field)
	if err != nil {
		return scoring.Moments{}, err
	}
	return moments(query, s), nil
}

func (e *Engine) sample(ctx context.Context, t *target, field mappings.VectorField) (*sample, error) {
	key, generation := sampleKey{t.kb.Ref, t.index, field.Name}, e.memory.generation(t)
	if s, ok := recall(e.memory.samples, key, sampleLife); ok && s.fresh(generation) {
		return s, nil
	}
	statement, err := t.sampleStatement(field)
	if err != nil {
		return nil, err
	}
	a, err := e.search(ctx, statement)
	if err != nil {
		return nil, err
	}
	s := &sample{generation: generation, since: time.Now()}
	for i := range a.Hits {
		var source map[string][]float32
		if err := json.Unmarshal([]byte(a.Hits[i].Source), &source); err != nil {
			return nil, fault.Wrap(fault.Unavailable, err, "a stored vector cannot be read")
		}
		if row, err := unit(source[field.Name], field.Dims); err == nil && row != nil {
			s.rows = append(s.rows, row...)
			s.size++
		}
	}
	remember(e.memory.samples, key, s)
	return s, nil
}

func (t *target) sampleStatement(field mappings.VectorField) (statement, error) {
	by := t.names.ID
	if by == "" {
		by = "_seq_no"
	}
	among := esquery.Bool{Filter: append(slices.Clone(t.own), esquery.Exists{Field: field.Name})}
	return post(t.path("_search"), esquery.Search{
		Query: esquery.RandomScore{Query: among, Seed: sampleSeed, Field: by},
		Size:  sampleSize, Source: []string{field.Name},
	})
}

// moments of the cosines between a vector of length 1 and the sample.
func moments(query []float32, s *sample) scoring.Moments {
	if s.size == 0 {
		return scoring.Moments{}
	}
	cosines := make([]float32, s.size)
	vector.Dots(query, s.rows, cosines)
	mean := 0.0
	for _, c := range cosines {
		mean += float64(c) / float64(s.size)
	}
	variance := 0.0
	for _, c := range cosines {
		variance += (float64(c) - mean) * (float64(c) - mean) / float64(s.size)
	}
	return scoring.Moments{Mean: mean, Deviation: math.Sqrt(variance)}
}
