package elastic

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/engine/elastic/storage"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/smile"
	"github.com/hybridge-search/hybridge/lib/vector"
	"github.com/hybridge-search/hybridge/mappings"
	"github.com/hybridge-search/hybridge/scoring"
)

const (
	sampleSize    = 500 // vectors of a field, whose cosines stand for all
	sampleSeed    = 7
	sampleRefresh = 10 * time.Second // at most this often while chunks are written
)

// sample is a fixed random sample of a knowledge base's vectors, each of length 1: the
// vectors or, where that is smaller, their covariance.
type sample struct {
	rows       []float32 // [size*dim]
	covariance *vector.Covariance
	centroids  engine.Centroids
	size       int
	writes     int64
	since      time.Time
}

// usable reports whether the sample may still be used after so many writes. One that is
// smaller than sampleSize holds all vectors, so any write may change it; a full one is
// renewed only now and then.
func (s *sample) usable(writes int64) bool {
	if s.writes == writes {
		return true
	}
	return s.size == sampleSize && time.Since(s.since) < sampleRefresh
}

// moments of the cosines between a vector of length 1 and the sample.
func (s *sample) moments(query []float32) scoring.Moments {
	if s.covariance != nil {
		mean, variance := s.covariance.Moments(query)
		return scoring.Moments{Mean: mean, Deviation: math.Sqrt(variance)}
	}
	mean, deviation := vector.Moments(query, s.rows)
	return scoring.Moments{Mean: mean, Deviation: deviation}
}

// cosineMoments computes the moments of the cosines between a question's vector and the
// vectors of a field.
type cosineMoments struct {
	engine *Engine
	target *target
	field  mappings.VectorField
	query  []float32 // of length 1; nil for a zero vector
	sample *sample   // nil: not known yet
	exact  bool      // of every vector
}

// cosineMoments checks the request and recalls the sample; it sends nothing.
func (e *Engine) cosineMoments(
	ctx context.Context, t *target, req *engine.StatisticsRequest,
) (*cosineMoments, error) {
	field, ok := t.Names.Vectors[req.VectorField]
	if !ok {
		return nil, t.NoField("vector_field", req.VectorField)
	}
	query, err := storage.UnitVector(req.Vector, field.Dims)
	if err != nil {
		return nil, err
	}
	c := &cosineMoments{engine: e, target: t, field: field, query: query, exact: req.Exact}
	if !c.exact {
		c.sample = e.remembered(ctx, t, field)
	}
	return c, nil
}

// compute draws a new sample unless one is cached.
func (c *cosineMoments) compute(ctx context.Context) (scoring.Moments, error) {
	if c.query == nil {
		return scoring.Moments{}, nil
	}
	if c.exact {
		return c.ofAll(ctx)
	}
	if c.sample == nil {
		var err error
		if c.sample, err = c.engine.sampleOf(ctx, c.target, c.field); err != nil {
			return scoring.Moments{}, err
		}
	}
	if c.sample.size == 0 {
		return scoring.Moments{}, nil
	}
	return c.sample.moments(c.query), nil
}

// ofAll has Elasticsearch compare every vector.
func (c *cosineMoments) ofAll(ctx context.Context) (m scoring.Moments, err error) {
	among := esquery.Bool{Filter: and(c.target.Own, esquery.Exists{Field: c.field.Name})}
	request := rest.Post(c.target.Path("_search"), esquery.Search{
		Query: esquery.ScriptScore{
			Query: among, Script: esquery.CosineScript(c.field.Name, c.query),
		},
		Aggs: esquery.Aggregations{momentsName: esquery.ScoreStatsAggregation{}},
	})
	err = c.engine.client.SearchInto(ctx, request, &rest.SearchResponse{ReadAggs: func(r smile.Reader) {
		for r.Object(); r.More(); {
			if r.Name() == momentsName {
				m = readMoments(r)
			} else {
				r.Skip()
			}
		}
	}})
	m.Mean-- // the script adds 1
	return m, err
}

const momentsName = "cosines"

func readMoments(r smile.Reader) (m scoring.Moments) {
	number := func() float64 {
		n, err := strconv.ParseFloat(r.Value(), 64)
		if err != nil {
			r.Fail(err.Error())
		}
		return n
	}
	for r.Object(); r.More(); {
		switch r.Name() {
		case "avg":
			m.Mean = number()
		case "std_deviation":
			m.Deviation = number()
		default:
			r.Skip()
		}
	}
	return m
}

// Centroids implements engine.Searcher.
func (e *Engine) Centroids(ctx context.Context, req *engine.CentroidsRequest) (*engine.Centroids, error) {
	t, err := e.target(ctx, &req.KB)
	if err != nil {
		return nil, err
	}
	field, ok := t.Names.Vectors[req.VectorField]
	if !ok {
		return nil, t.NoField("vector_field", req.VectorField)
	}
	s, err := e.sampleOf(ctx, t, field)
	if err != nil {
		return nil, err
	}
	return &s.centroids, nil
}

// remembered returns the cached sample of a field, nil if none is usable. An answer based
// on an outdated sample must not be cached.
func (e *Engine) remembered(ctx context.Context, t *target, field mappings.VectorField) *sample {
	s, ok := recall(e.memory.samples, t.sampleKey(field), sampleLife)
	writes := e.Writes(t.KB.Ref)
	if !ok || !s.usable(writes) {
		return nil
	}
	if s.writes != writes {
		engine.KeepingOf(ctx).Outdate()
	}
	return s
}

// sampleOf draws the sample of a field unless it is cached.
func (e *Engine) sampleOf(ctx context.Context, t *target, field mappings.VectorField) (*sample, error) {
	if s := e.remembered(ctx, t, field); s != nil {
		return s, nil
	}
	s, err := e.drawSample(ctx, t, field)
	if err == nil {
		remember(e.memory.samples, t.sampleKey(field), s)
	}
	return s, err
}

func (t *target) sampleKey(field mappings.VectorField) sampleKey {
	return sampleKey{t.KB.Ref, t.Index, field.Name}
}

// drawSample reads vectors of a field.
func (e *Engine) drawSample(ctx context.Context, t *target, field mappings.VectorField) (*sample, error) {
	s := &sample{writes: e.Writes(t.KB.Ref), since: time.Now()}
	a, err := e.client.Search(ctx, t.sampleRequest(field))
	if err != nil {
		return nil, err
	}
	var ids, languages []string
	for i := range a.Hits {
		var source map[string][]float32
		if err := json.Unmarshal([]byte(a.Hits[i].Source), &source); err != nil {
			return nil, fault.Wrap(fault.Unavailable, err, "a stored vector cannot be read")
		}
		if row, err := storage.UnitVector(source[field.Name], field.Dims); err == nil && row != nil {
			s.rows = append(s.rows, row...)
			s.size++
			id, language := t.idAndLanguage(&a.Hits[i])
			ids, languages = append(ids, id), append(languages, language)
		}
	}
	s.centroids = engine.Centroids{
		Chunks: a.Total, ByLanguage: engine.NewCentroids(ids, languages, s.rows), Sample: ids,
	}
	if field.Dims < 2*s.size {
		s.covariance, s.rows = vector.NewCovariance(s.rows, field.Dims), nil
	}
	return s, nil
}

func (t *target) sampleRequest(field mappings.VectorField) rest.Request {
	by := t.Names.ID
	if by == "" {
		by = "_seq_no"
	}
	among := esquery.Bool{Filter: append(slices.Clone(t.Own), esquery.Exists{Field: field.Name})}
	return rest.Post(t.Path("_search"), esquery.Search{
		Query: esquery.RandomScore{Query: among, Seed: sampleSeed, Field: by},
		Size:  sampleSize, Source: []string{field.Name}, DocValueFields: t.sampleFields(), TrackTotal: true,
	})
}

// sampleFields are the doc values that idAndLanguage reads.
func (t *target) sampleFields() []string {
	var fields []string
	if t.Names.ID != "" {
		fields = append(fields, t.Names.ID)
	}
	if c := t.column(engine.MetadataLanguage); c.kind != absent {
		fields = append(fields, c.field)
	}
	return fields
}

func (t *target) idAndLanguage(hit *rest.Hit) (id, language string) {
	id = hit.ID
	c := t.column(engine.MetadataLanguage)
	for _, f := range hit.Fields {
		switch f.Field {
		case t.Names.ID:
			id = f.Value
		case c.field:
			language = c.decode(f.Value)
		}
	}
	return id, language
}
