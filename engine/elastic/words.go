package elastic

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/mappings"
)

// sampledChunks is how many chunks words are taken from. Elasticsearch lists terms of a text
// field by prefix, but not those of some documents: a random sample of the chunks with such
// terms has the frequent ones, and all of them where chunks are few.
const sampledChunks = 48

// Words implements engine.Lexicon: one search for a sample of the chunks, and one that counts
// the chunks with each of its words.
func (e *Engine) Words(ctx context.Context, req *engine.WordsRequest) ([]engine.Word, error) {
	t, field, filters, err := e.lexicon(ctx, &req.KB, req.Field, &req.Filter)
	if err != nil {
		return nil, err
	}
	sample, err := e.Page(ctx, t.Location, t.wordsRequest(field, filters, req))
	if err != nil {
		return nil, err
	}
	chunks, err := sample.Chunks()
	if err != nil {
		return nil, err
	}
	words := e.wordsOf(chunks, field, req)
	if len(words) == 0 {
		return nil, nil
	}
	var counted termCounts
	request := t.countRequest(field, filters, words)
	if err := e.client.SearchInto(ctx, request, &rest.SearchResponse{ReadAggs: counted.read}); err != nil {
		return nil, err
	}
	for i := range words {
		words[i].Chunks = 0
		if i < len(counted.terms) {
			words[i].Chunks = counted.terms[i]
		}
	}
	words = slices.DeleteFunc(words, func(w engine.Word) bool { return w.Chunks == 0 })
	sortWords(words)
	return words[:min(len(words), req.Limit)], nil
}

func sortWords(words []engine.Word) {
	slices.SortFunc(words, func(a, b engine.Word) int {
		return cmp.Or(cmp.Compare(b.Chunks, a.Chunks), cmp.Compare(a.Text, b.Text))
	})
}

func (e *Engine) lexicon(
	ctx context.Context, kb *engine.KnowledgeBase, name string, filter *engine.Filter,
) (*target, mappings.TextField, []esquery.Query, error) {
	t, err := e.target(ctx, kb)
	if err != nil {
		return nil, mappings.TextField{}, nil, err
	}
	field, ok := t.Names.Text[name]
	if !ok {
		return nil, field, nil, t.NoField("field", name)
	}
	if len(filter.Fields) == 0 {
		with := *filter
		for text := range t.Names.Text {
			with.Fields = append(with.Fields, text)
		}
		slices.Sort(with.Fields)
		filter = &with
	}
	filters, err := t.filters(filter)
	return t, field, filters, err
}

// wordsRequest draws chunks with words that are wanted, always the same ones of an index that
// does not change.
func (t *target) wordsRequest(
	field mappings.TextField, filters []esquery.Query, req *engine.WordsRequest,
) rest.Request {
	wanted := esquery.Bool{MinimumShouldMatch: 1}
	if len(req.Near) == 0 {
		wanted.Should = append(wanted.Should, esquery.Prefix{Field: field.Name, Value: req.Prefix})
	}
	for _, near := range req.Near {
		wanted.Should = append(wanted.Should, esquery.Fuzzy{
			Field: field.Name, Value: near, Distance: min(req.Distance, 2), PrefixLength: utf8.RuneCountInString(req.Prefix),
		})
	}
	if len(req.Words) > 0 {
		wanted.Should = append(wanted.Should, esquery.Terms{Field: field.Name, Texts: req.Words})
	}
	return rest.Post(t.searchPath, esquery.Search{
		Query: esquery.RandomScore{Query: esquery.Bool{Filter: and(filters, wanted)}, Seed: 1, Field: "_seq_no"},
		Size:  sampledChunks, Source: t.sources,
	})
}

func (t *target) countRequest(field mappings.TextField, filters []esquery.Query, words []engine.Word) rest.Request {
	c := newClauseBuilder(&field, len(words))
	each := esquery.FiltersAggregation{Filters: make([]esquery.Query, len(words))}
	for i := range words {
		each.Filters[i] = c.word(words[i].Text, esquery.Common{})
	}
	return rest.Post(t.searchPath, esquery.Search{
		Query: esquery.Bool{Filter: filters}, Aggs: esquery.Aggregations{"terms": each},
	})
}

// wordsOf takes the words out of chunks, those in most of them first; twice as many as wanted,
// since their order among all chunks is another.
func (e *Engine) wordsOf(chunks []engine.Chunk, field mappings.TextField, req *engine.WordsRequest) []engine.Word {
	places := map[string]int{}
	var words []engine.Word
	for i := range chunks {
		text := chunks[i].FieldText(req.Field)
		terms := e.tokenizer.Terms(text)
		if !field.Tokens { // words are not stemmed there
			terms = append(terms, strings.FieldsFunc(e.tokenizer.Fold(text), separates)...)
		}
		slices.Sort(terms)
		for _, term := range slices.Compact(terms) {
			if !req.Matches(term) {
				continue
			}
			at, known := places[term]
			if !known {
				at = len(words)
				places[term] = at
				words = append(words, engine.Word{Text: term})
			}
			if words[at].Chunks++; len(words[at].In) < req.Samples {
				words[at].In = append(words[at].In, chunks[i].ID)
			}
		}
	}
	sortWords(words)
	return words[:min(len(words), 2*req.Limit)]
}

func separates(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// Openings implements engine.Lexicon. Elasticsearch knows whether a term is among the first
// tokens, not where: three bands are told apart.
func (e *Engine) Openings(ctx context.Context, req *engine.OpeningsRequest) ([]string, error) {
	t, field, filters, err := e.lexicon(ctx, &req.KB, req.Field, &req.Filter)
	if err != nil || len(req.Words) == 0 {
		return nil, err
	}
	var bands []esquery.Query
	for _, end := range []int{1, 4, req.Within} {
		if end > req.Within {
			continue
		}
		bands = append(bands, esquery.ConstantScore{Filter: esquery.SpanFirst{Field: field.Name, Terms: req.Words, End: end}})
	}
	var found rest.SearchResponse
	if err := e.client.SearchInto(ctx, t.openingsRequest(filters, bands), &found); err != nil {
		return nil, err
	}
	type opening struct{ id, document string }
	all := make([]opening, len(found.Hits))
	for i := range found.Hits {
		hit := &found.Hits[i]
		all[i].id = hit.ID
		for _, value := range hit.Fields {
			switch value.Field {
			case t.Names.ID:
				all[i].id = value.Value
			case t.Names.DocumentID:
				all[i].document = value.Value
			}
		}
		if t.Names.DocumentID == "" {
			all[i].document = all[i].id
		}
	}
	all = engine.Spread(all, req.Limit, req.PerDocument, func(o opening) string { return o.document })
	ids := make([]string, len(all))
	for i := range all {
		ids[i] = all[i].id
	}
	return ids, nil
}

func (t *target) openingsRequest(filters, bands []esquery.Query) rest.Request {
	search := esquery.Search{
		Query: esquery.Bool{Filter: filters, Should: bands, MinimumShouldMatch: 1},
		Size:  engine.OpeningsExamined, Sort: t.order,
	}
	for _, field := range []string{t.Names.ID, t.Names.DocumentID} {
		if field != "" {
			search.DocValueFields = append(search.DocValueFields, field)
		}
	}
	search.NoStored = t.Names.ID != ""
	return rest.Post(t.searchPath, search)
}
