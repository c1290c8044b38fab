package embedded

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/hybridge-search/hybridge/bm25"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/sqlite"
	"github.com/hybridge-search/hybridge/lib/vector"
	"github.com/hybridge-search/hybridge/scoring"
)

// Statistics implements engine.Searcher.
func (e *Engine) Statistics(ctx context.Context, req *engine.StatisticsRequest) (*engine.Statistics, error) {
	b, s, err := e.snapshot(ctx, &req.KB)
	if err != nil {
		return nil, err
	}
	out := &engine.Statistics{DF: make([]int, len(req.Terms))}
	if req.Field != "" || len(req.Terms) > 0 {
		i := slices.Index(b.texts, req.Field)
		if i < 0 {
			return nil, fault.Invalid("field", req.Field, engine.OneOf("a text field", b.texts))
		}
		out.Docs, out.AverageLength, out.DF = s.texts[i].Stats(req.Terms)
	}
	if req.Vector == nil || req.KB.CheckCurrent(&b.kb) != nil {
		return out, nil
	}
	field := slices.Index(b.table.vectors, req.VectorField)
	if field < 0 {
		return nil, fault.Invalid("vector_field", req.VectorField, engine.OneOf("a vector field", b.table.vectors))
	}
	if err := engine.CheckVector("vector", req.Vector, b.kb.Dimensions); err != nil {
		return nil, err
	}
	out.Vectors = int(s.vectors[field].present.GetCardinality())
	unit := vector.Unit(req.Vector)
	if out.Cosine = s.cosineMoments(field, unit); req.Exact && unit != nil {
		out.Cosine, err = s.exactMoments(ctx, field, unit)
	}
	return out, err
}

// Centroids implements engine.Searcher.
func (e *Engine) Centroids(ctx context.Context, req *engine.CentroidsRequest) (*engine.Centroids, error) {
	b, s, err := e.snapshot(ctx, &req.KB)
	if err != nil {
		return nil, err
	}
	field := slices.Index(b.table.vectors, req.VectorField)
	if field < 0 {
		return nil, fault.Invalid("vector_field", req.VectorField, engine.OneOf("a vector field", b.table.vectors))
	}
	drawn := s.samples[field]()
	return &engine.Centroids{
		Chunks:     int(s.vectors[field].present.GetCardinality()),
		ByLanguage: drawn.centroids, Sample: drawn.ids,
	}, nil
}

// sampleSize is the number of vectors for the moments of the cosines.
const sampleSize = 500

// sample is the rows with the smallest hashes: a stable random sample, in which a write
// affects only the written rows. The vectors are copied next to each other, since reading
// scattered rows would take most of the time.
type sample struct {
	vectors   []float32 // [n*dim]
	centroids []engine.Centroid
	ids       []string
}

func (s *snapshot) sample(field int) *sample {
	v := &s.vectors[field]
	rows := roaring.And(v.present, s.live).ToArray()
	if len(rows) > sampleSize {
		slices.SortFunc(rows, func(a, b uint32) int { return cmp.Compare(scramble(a), scramble(b)) })
		rows = rows[:sampleSize]
	}
	vectors := make([]float32, 0, len(rows)*v.dims)
	ids, languages := make([]string, len(rows)), make([]string, len(rows))
	for i, row := range rows {
		vectors = append(vectors, v.at(row)...)
		r := s.records.at(row)
		ids[i] = r.id
		if said := r.facet(engine.MetadataLanguage); len(said) > 0 {
			languages[i] = said[0]
		}
	}
	return &sample{vectors: vectors, centroids: engine.NewCentroids(ids, languages, vectors), ids: ids}
}

// scramble is the finaliser of splitmix64.
func scramble(row uint32) uint64 {
	x := uint64(row) + 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// cosineMoments computes the moments over the sample; empty for a zero vector.
func (s *snapshot) cosineMoments(field int, unit []float32) scoring.Moments {
	if unit == nil {
		return scoring.Moments{}
	}
	mean, deviation := vector.Moments(unit, s.samples[field]().vectors)
	return scoring.Moments{Mean: mean, Deviation: deviation}
}

// exactMoments computes the moments over every vector of the field.
func (s *snapshot) exactMoments(ctx context.Context, field int, unit []float32) (scoring.Moments, error) {
	v := &s.vectors[field]
	rows := roaring.And(v.present, s.live).ToArray()
	var n, sum, square float64
	var room [blockRows]float32
	for block := range slices.Chunk(rows, blockRows) {
		if err := ctx.Err(); err != nil {
			return scoring.Moments{}, sqlite.Fault(err, "comparing vectors")
		}
		cosines := room[:len(block)]
		v.cosines(block, unit, cosines)
		for _, c := range cosines {
			n++
			sum += float64(c)
			square += float64(c) * float64(c)
		}
	}
	if n == 0 {
		return scoring.Moments{}, nil
	}
	mean := sum / n
	return scoring.Moments{Mean: mean, Deviation: math.Sqrt(max(0, square/n-mean*mean))}, nil
}

// Words implements engine.Lexicon.
func (e *Engine) Words(ctx context.Context, req *engine.WordsRequest) ([]engine.Word, error) {
	s, text, accept, err := e.lexicon(ctx, &req.KB, req.Field, &req.Filter)
	if err != nil {
		return nil, err
	}
	found := text.Words(ctx, &bm25.WordsQuery{
		Prefix: req.Prefix, Keep: req.Keep(), Words: req.Words, Accept: accept, Limit: req.Limit,
		Samples: req.Samples,
	})
	words := make([]engine.Word, len(found))
	for i, w := range found {
		words[i] = engine.Word{Text: w.Text, Chunks: w.Chunks}
		for _, row := range w.Keys {
			words[i].In = append(words[i].In, s.records.at(row).id)
		}
	}
	return words, sqlite.Fault(ctx.Err(), "reading words")
}

// Openings implements engine.Lexicon.
func (e *Engine) Openings(ctx context.Context, req *engine.OpeningsRequest) ([]string, error) {
	s, text, accept, err := e.lexicon(ctx, &req.KB, req.Field, &req.Filter)
	if err != nil {
		return nil, err
	}
	rows := text.Openings(ctx, req.Words, req.Within, engine.OpeningsExamined, accept)
	rows = engine.Spread(rows, req.Limit, req.PerDocument, func(row uint32) string { return s.records.at(row).documentID })
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = s.records.at(row).id
	}
	return ids, sqlite.Fault(ctx.Err(), "reading words")
}

// lexicon returns a text index and the rows of it that may be seen.
func (e *Engine) lexicon(
	ctx context.Context, kb *engine.KnowledgeBase, field string, filter *engine.Filter,
) (*snapshot, *bm25.Snapshot, func(uint32) bool, error) {
	b, s, err := e.snapshot(ctx, kb)
	if err != nil {
		return nil, nil, nil, err
	}
	i := slices.Index(b.texts, field)
	if i < 0 {
		return nil, nil, nil, fault.Invalid("field", field, engine.OneOf("a text field", b.texts))
	}
	f := filterer{snapshot: s, texts: b.texts}
	selected, err := f.run(ctx, filter)
	if err != nil {
		return nil, nil, nil, err
	}
	return s, s.texts[i], selected.accept(), nil
}
