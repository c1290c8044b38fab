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

// fieldFigures are what a text and a vector field hold.
type fieldFigures struct {
	docs    int
	length  float64 // tokens of all of them
	vectors int
}

// Statistics implements engine.Searcher. Frequencies count the knowledge base's
// own chunks, hidden ones included; they are remembered for 30 s and, while the figures
// of the field stay the same after that, for up to 10 minutes.
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
	var cosines *cosines
	if req.Vector != nil {
		if cosines, err = e.cosines(t, req); err != nil {
			return nil, err
		}
	}
	asked := &termsAsked{text: field, vector: req.VectorField, terms: req.Terms}
	figures, err := e.frequencies(ctx, t, asked, stats.DF)
	if err != nil {
		return nil, err
	}
	stats.Docs, stats.Vectors = figures.docs, figures.vectors
	if figures.docs > 0 {
		stats.AverageLength = figures.length / float64(figures.docs)
	}
	if cosines != nil && figures.vectors > 0 {
		stats.Cosine, err = cosines.moments(ctx)
	}
	return stats, err
}

// frequencies fills df and gives the field's figures, asking only for what is
// not remembered.
func (e *Engine) frequencies(ctx context.Context, t *target, asked *termsAsked, df []int) (fieldFigures, error) {
	of := fieldKey{t.KB.Ref, e.Writes(t.KB.Ref), asked.text.Name, asked.vector}
	field, known := e.memory.field(of)
	life := figuresLife
	if asked.text.Length != "" { // without the lengths of texts, figures tell little
		life = termsLife
	}
	missing := e.memory.terms.recall(field.terms, asked.terms, life, df)
	if known && len(missing) == 0 {
		return field.fieldFigures, nil
	}
	counted, err := e.countTerms(ctx, t, &termsAsked{
		text: asked.text, vector: asked.vector, terms: missing, figures: !known,
	})
	if err != nil {
		return fieldFigures{}, err
	}
	before := field.terms
	if !known {
		field = e.memory.rememberField(of, counted.figures)
	}
	e.memory.terms.remember(field.terms, missing, counted.terms)
	if field.terms != before && len(missing) < len(asked.terms) { // the others were those of other chunks
		return e.frequencies(ctx, t, asked, df)
	}
	for i, term := range asked.terms {
		if at := slices.Index(missing, term); at >= 0 {
			df[i] = counted.terms[at]
		}
	}
	return field.fieldFigures, nil
}

// termsAsked are terms of a text field and, where they are not known, the figures of the
// fields, for which Elasticsearch looks at every chunk.
type termsAsked struct {
	text    mappings.TextField
	vector  string // a field
	terms   []string
	figures bool
}

// countTerms counts in one request the chunks that have each term, and those that
// have a text and a vector.
func (e *Engine) countTerms(ctx context.Context, t *target, of *termsAsked) (counted termCounts, err error) {
	if err := e.client.SearchInto(ctx, t.termsRequest(of), &rest.Answer{Aggs: counted.read}); err != nil {
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
	c.terms = c.terms[:0] // a first try may have left some
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

func (t *target) termsRequest(of *termsAsked) rest.Request {
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
	return rest.Post(t.plain, esquery.Search{Query: esquery.Bool{Filter: t.Own}, Aggs: aggs})
}

func (t *target) askFigures(of *termsAsked, aggs esquery.Aggregations) {
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
