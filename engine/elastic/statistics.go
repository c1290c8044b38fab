package elastic

import (
	"context"
	"fmt"
	"slices"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/lib/smile"
	"github.com/hybridge-search/hybridge/mappings"
)

// fieldFigures count what a text field and a vector field hold.
type fieldFigures struct {
	docs    int
	length  float64 // tokens of all of them
	vectors int
}

// Statistics implements engine.Searcher. Frequencies count the knowledge base's
// own chunks, hidden ones included; they are remembered until this process writes or
// Generation sees that another has, but for 30 s at most, and for up to 10 minutes while
// the figures of the field stay the same.
func (e *Engine) Statistics(ctx context.Context, req *engine.StatisticsRequest) (*engine.Statistics, error) {
	t, err := e.target(ctx, &req.KB)
	if err != nil {
		return nil, err
	}
	field, ok := t.Names.Text[req.Field]
	if !ok && (req.Field != "" || len(req.Terms) > 0) {
		return nil, t.NoField("field", req.Field)
	}
	stats := &engine.Statistics{DF: make([]int, len(req.Terms))}
	var moments *cosineMoments
	if req.Vector != nil {
		if moments, err = e.cosineMoments(ctx, t, req); err != nil {
			return nil, err
		}
	}
	query := &termsQuery{text: field, vector: req.VectorField, terms: req.Terms}
	figures, err := e.frequencies(ctx, t, query, stats.DF)
	if err != nil {
		return nil, err
	}
	stats.Docs, stats.Vectors = figures.docs, figures.vectors
	if figures.docs > 0 {
		stats.AverageLength = figures.length / float64(figures.docs)
	}
	if moments != nil && figures.vectors > 0 {
		stats.Cosine, err = moments.compute(ctx)
	}
	return stats, err
}

// frequencies fills df and returns the field's figures. It reads only what is not
// remembered.
func (e *Engine) frequencies(ctx context.Context, t *target, query *termsQuery, df []int) (fieldFigures, error) {
	of := fieldKey{t.KB.Ref, e.Writes(t.KB.Ref), query.text.Name, query.vector}
	field, known := e.memory.field(of)
	life := figuresLife
	if query.text.Length != "" { // without the lengths of texts, figures tell little
		life = termsLife
	}
	missing := e.memory.terms.recall(field.terms, query.terms, life, df)
	if known && len(missing) == 0 {
		return field.fieldFigures, nil
	}
	counted, err := e.countTerms(ctx, t, &termsQuery{
		text: query.text, vector: query.vector, terms: missing, figures: !known,
	})
	if err != nil {
		return fieldFigures{}, err
	}
	before := field.terms
	if !known {
		field = e.memory.rememberField(of, counted.figures)
	}
	e.memory.terms.remember(field.terms, missing, counted.terms)
	if field.terms != before && len(missing) < len(query.terms) { // the remembered ones were of other chunks
		return e.frequencies(ctx, t, query, df)
	}
	for i, term := range query.terms {
		if at := slices.Index(missing, term); at >= 0 {
			df[i] = counted.terms[at]
		}
	}
	return field.fieldFigures, nil
}

// termsQuery counts the chunks that have each term of a text field.
type termsQuery struct {
	text    mappings.TextField
	vector  string // a field
	terms   []string
	figures bool // the figures of both fields too, for which Elasticsearch looks at every chunk
}

// countTerms runs a termsQuery, in one request.
func (e *Engine) countTerms(ctx context.Context, t *target, of *termsQuery) (counted termCounts, err error) {
	if err := e.client.SearchInto(ctx, t.termsRequest(of), &rest.SearchResponse{ReadAggs: counted.read}); err != nil {
		return counted, err
	}
	if len(counted.terms) != len(of.terms) {
		return counted, rest.Unreadable(fmt.Errorf("%d terms are counted of %d", len(counted.terms), len(of.terms)))
	}
	return counted, nil
}

// termCounts are the aggregations of termsRequest.
type termCounts struct {
	terms   []int
	figures fieldFigures
}

func (c *termCounts) read(r smile.Reader) {
	c.terms = c.terms[:0] // of a failed attempt
	for r.Object(); r.More(); {
		switch r.Name() {
		case "terms":
			c.readTerms(r)
		case "text":
			c.figures.docs = int(smile.Member(r, "doc_count"))
		case "vectors":
			c.figures.vectors = int(smile.Member(r, "doc_count"))
		case "length":
			c.figures.length = smile.Member(r, "value")
		default:
			r.Raw()
		}
	}
}

func (c *termCounts) readTerms(r smile.Reader) {
	for r.Object(); r.More(); {
		if r.Name() != "buckets" {
			r.Raw()
			continue
		}
		for r.Array(); r.More(); {
			c.terms = append(c.terms, int(smile.Member(r, "doc_count")))
		}
	}
}

func (t *target) termsRequest(of *termsQuery) rest.Request {
	aggs := esquery.Aggregations{}
	if of.figures {
		t.addFigures(of, aggs)
	}
	if len(of.terms) > 0 {
		c := newClauseBuilder(&of.text, len(of.terms))
		each := esquery.FiltersAggregation{Filters: make([]esquery.Query, len(of.terms))}
		for i, term := range of.terms {
			each.Filters[i] = c.word(term, esquery.Common{})
		}
		aggs["terms"] = each
	}
	return rest.Post(t.searchPath, esquery.Search{Query: esquery.Bool{Filter: t.Own}, Aggs: aggs})
}

func (t *target) addFigures(of *termsQuery, aggs esquery.Aggregations) {
	if of.text.Name != "" {
		aggs["text"] = esquery.FilterAggregation{Filter: esquery.Exists{Field: of.text.Name}}
	}
	if of.text.Length != "" {
		aggs["length"] = esquery.SumAggregation{Field: of.text.Length}
	}
	if vector, ok := t.Names.Vectors[of.vector]; ok {
		aggs["vectors"] = esquery.FilterAggregation{Filter: esquery.Exists{Field: vector.Name}}
	}
}
