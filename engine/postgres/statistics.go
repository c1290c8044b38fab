package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/pgvector/pgvector-go"

	"github.com/hybridge-search/hybridge/bm25/tiered"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/vector"
)

// Statistics implements engine.Searcher.
func (e *Engine) Statistics(ctx context.Context, req *engine.StatisticsRequest) (*engine.Statistics, error) {
	out := &engine.Statistics{DF: make([]int, len(req.Terms))}
	err := e.withShape(ctx, &req.KB, func(b *base) error {
		return e.reading(ctx, func(ctx context.Context) error {
			s, err := b.state(ctx, e.pool)
			if err != nil {
				return wrapUnlessReplaced(err, "reading the statistics of knowledge base %q", b.kb.ID)
			}
			if req.Field != "" || len(req.Terms) > 0 {
				if err := e.textStatistics(ctx, b, s, req, out); err != nil {
					return err
				}
			}
			if req.Vector == nil || req.KB.CheckCurrent(&b.kb) != nil {
				return nil
			}
			return e.vectorStatistics(ctx, b, s, req, out)
		})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (e *Engine) textStatistics(
	ctx context.Context, b *base, s *state, req *engine.StatisticsRequest, out *engine.Statistics,
) error {
	if !slices.Contains(b.texts, req.Field) {
		return fault.Invalid("field", req.Field, engine.OneOf("a text field", b.texts))
	}
	waiting, stop := context.WithTimeout(ctx, e.keywordWait(req.Alone))
	defer stop()
	for {
		index, err := e.keywords.At(waiting, b.index(e, req.Field, s.epoch), s.generation)
		var moved *tiered.MovedError
		switch {
		case err == nil:
			out.Docs, out.AverageLength, out.DF = index.Stats(req.Terms)
			return nil
		case ctx.Err() != nil || isStale(err):
			return b.keywordFault(err)
		case !errors.As(err, &moved) || waiting.Err() != nil:
			out.TextErr = b.keywordFault(err)
			return nil
		}
		if s, err = b.state(ctx, e.pool); err != nil {
			return wrapUnlessReplaced(err, "reading the statistics of knowledge base %q", b.kb.ID)
		}
	}
}

func (e *Engine) vectorStatistics(
	ctx context.Context, b *base, s *state, req *engine.StatisticsRequest, out *engine.Statistics,
) error {
	field := slices.Index(b.table.vectors, req.VectorField)
	if field < 0 {
		return fault.Invalid("vector_field", req.VectorField, engine.OneOf("a vector field", b.table.vectors))
	}
	if err := engine.CheckVector("vector", req.Vector, b.kb.Dimensions); err != nil {
		return err
	}
	out.Vectors = int(s.vectors[field])
	unit := vector.Unit(req.Vector)
	if out.Vectors == 0 || unit == nil {
		return nil
	}
	if req.Exact {
		err := e.pool.QueryRow(ctx, b.table.moments(req.VectorField), pgvector.NewVector(unit)).
			Scan(&out.Cosine.Mean, &out.Cosine.Deviation)
		return wrapUnlessReplaced(err, "comparing the vectors of knowledge base %q", b.kb.ID)
	}
	sample, err := e.samples.get(ctx, e, b, s.generation, req.VectorField)
	if err != nil {
		return wrapUnlessReplaced(err, "reading a sample of the vectors of knowledge base %q", b.kb.ID)
	}
	out.Cosine.Mean, out.Cosine.Deviation = vector.Moments(unit, sample.vectors)
	return nil
}

// moments computes the moments of the cosines between a column's vectors and the first parameter.
func (t *table) moments(column string) string {
	return fmt.Sprintf("SELECT COALESCE(avg(cosine), 0), COALESCE(stddev_pop(cosine), 0) "+
		"FROM (SELECT 1 - (%[1]s <=> $1) AS cosine FROM %[2]s WHERE %[3]s IS NOT NULL) AS compared",
		t.read(column), t.name, column)
}

// Centroids implements engine.Searcher.
func (e *Engine) Centroids(ctx context.Context, req *engine.CentroidsRequest) (*engine.Centroids, error) {
	out := &engine.Centroids{}
	err := e.withShape(ctx, &req.KB, func(b *base) error {
		return e.reading(ctx, func(ctx context.Context) error {
			if req.KB.CheckCurrent(&b.kb) != nil {
				return nil
			}
			field := slices.Index(b.table.vectors, req.VectorField)
			if field < 0 {
				return fault.Invalid("vector_field", req.VectorField, engine.OneOf("a vector field", b.table.vectors))
			}
			s, err := b.state(ctx, e.pool)
			if err != nil {
				return wrapUnlessReplaced(err, "reading the statistics of knowledge base %q", b.kb.ID)
			}
			sample, err := e.samples.get(ctx, e, b, s.generation, req.VectorField)
			if err != nil {
				return wrapUnlessReplaced(err, "reading a sample of the vectors of knowledge base %q", b.kb.ID)
			}
			out.Chunks, out.ByLanguage, out.Sample = int(s.vectors[field]), sample.centroids, sample.ids
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// sampleSize is the number of vectors for the moments of the cosines.
const sampleSize = 500

// sampleCache caches the sample of each vector field until its knowledge base changes.
// Chunks are drawn by the hash of their id, so every gateway has the same sample, and a
// write affects only the written chunks.
type sampleCache struct {
	mu  sync.Mutex
	all map[sampleKey]*sample
}

type sampleKey struct {
	number int64
	field  string
}

type sample struct {
	generation int64
	vectors    []float32 // [n * dims]
	centroids  []engine.Centroid
	ids        []string
}

func (c *sampleCache) get(
	ctx context.Context, e *Engine, b *base, generation int64, field string,
) (*sample, error) {
	key := sampleKey{b.table.number, field}
	c.mu.Lock()
	cached, there := c.all[key]
	c.mu.Unlock()
	if there && cached.generation == generation {
		return cached, nil
	}
	rows, err := e.pool.Query(ctx, "SELECT id, COALESCE(metadata->'"+engine.MetadataLanguage+"'->>0, ''), "+
		b.table.read(field)+" FROM "+b.table.name+" WHERE "+field+" IS NOT NULL ORDER BY lot LIMIT $1", sampleSize)
	if err != nil {
		return nil, err
	}
	drawn := &sample{generation: generation}
	var ids, languages []string
	var id, language string
	var v pgvector.Vector
	if _, err := pgx.ForEachRow(rows, []any{&id, &language, &v}, func() error {
		ids, languages = append(ids, id), append(languages, language)
		drawn.vectors = append(drawn.vectors, v.Slice()...)
		return nil
	}); err != nil {
		return nil, err
	}
	drawn.ids = ids
	drawn.centroids = engine.NewCentroids(ids, languages, drawn.vectors)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil || len(c.all) >= maxSamples {
		c.all = map[sampleKey]*sample{}
	}
	c.all[key] = drawn
	return drawn, nil
}

// maxSamples bounds the memory of the samples: 64 of 384 dimensions are 49 MB.
const maxSamples = 64

// Render shows the SQL of a request's vector legs, as they run when few chunks pass the
// filter and when many do, without asking the database. $1 and so on are the caller's
// values; text legs run on the gateway's own index.
func (e *Engine) Render(req *engine.Request) ([]engine.Statement, error) {
	e.mu.Lock()
	b := e.bases[req.KB.Ref]
	e.mu.Unlock()
	if b == nil {
		b = newBase(0, req.KB)
	}
	q := &search{engine: e, base: b, request: req}
	if err := q.open(); err != nil {
		return nil, err
	}
	q.where = whereOf(&req.Filter)
	var all []engine.Statement
	for i := range q.legs {
		l := &q.legs[i]
		if l.Err != nil || l.isText() {
			continue
		}
		all = append(all, shown(l, "few chunks pass the filter", q.compare(l, q.where.clone())))
		if b.table.indexable() {
			all = append(all, shown(l, "many do", q.walk(l, q.where.clone())))
		}
	}
	return all, nil
}

func shown(l *leg, when, statement string) engine.Statement {
	return engine.Statement{SQL: fmt.Sprintf("-- leg %q where %s\n%s", l.Name, when, statement)}
}
