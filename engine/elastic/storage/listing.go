package storage

import (
	"context"
	"maps"
	"math"
	"slices"

	jsonv1 "github.com/go-json-experiment/json/v1" // reads as encoding/json does, in half the time

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/mappings"
)

// Documents implements engine.Store. Elasticsearch sums up the chunks of each document and name; what
// belongs to one document is put together here, which takes a quarter of the time of asking for the first
// chunk of each.
func (s *Store) Documents(
	ctx context.Context, kb engine.KnowledgeBase, after string, limit int,
) ([]engine.Document, error) {
	return OnIndex(ctx, s, &kb, func(loc *Location) ([]engine.Document, error) {
		switch {
		case loc.Names.DocumentID == "":
			return nil, fault.New(fault.Unsupported,
				"knowledge base %q names no field for document_id, so its documents cannot be listed", loc.KB.ID)
		case loc.Names.Ordinal == "":
			return s.attachedDocuments(ctx, loc, after, limit)
		default:
			return s.documents(ctx, loc, after, limit)
		}
	})
}

// documentBucket aggregates the chunks of a document that have one name and were written in one second.
type documentBucket struct {
	Key   map[string]*string `json:"key"`
	Count int                `json:"doc_count"`
	Bare  struct {
		Count int `json:"doc_count"`
	} `json:"bare"`
	First struct {
		Value *float64 `json:"value"`
	} `json:"first"`
	Bytes struct {
		Value float64 `json:"value"`
	} `json:"bytes"`
	Sized struct {
		Value int `json:"value"`
	} `json:"sized"`
	Hit struct {
		Hits struct {
			Hits []struct {
				Fields map[string][]any `json:"fields"`
			} `json:"hits"`
		} `json:"hits"`
	} `json:"hit"`
}

func (s *Store) documents(ctx context.Context, loc *Location, after string, limit int) ([]engine.Document, error) {
	l := documentList{loc: loc, limit: limit}
	page := loc.documentsPage(limit)
	for {
		buckets, err := s.documentBuckets(ctx, loc, loc.documentsAfter(after), page)
		if err != nil {
			return nil, err
		}
		whole := len(buckets) < page.Size
		for i := range buckets {
			whole = !l.add(&buckets[i]) || whole
		}
		if whole {
			return l.documents, s.nameTied(ctx, loc, &l)
		}
		page.After = make([]any, len(page.Sources))
		for i, source := range page.Sources {
			if value := buckets[len(buckets)-1].Key[source.Field]; value != nil {
				page.After[i] = *value
			}
		}
	}
}

// maxBuckets bounds the buckets of a response: Elasticsearch allows 65,535.
const maxBuckets = 50_000

// documentsPage asks for one document more than wanted, so that the last one is known to be whole.
func (loc *Location) documentsPage(limit int) esquery.CompositeAggregation {
	size := loc.Names.Metadata + "." + mappings.KeyBytes
	aggs := esquery.Aggregations{
		"first": esquery.MinAggregation{Field: loc.Names.Ordinal},
		"bytes": esquery.SumAggregation{Script: esquery.NumberScript(size)},
		"sized": esquery.ValueCountAggregation{Field: size},
	}
	loc.countBare(aggs)
	return esquery.CompositeAggregation{
		Size: min(limit+1, maxBuckets), Aggs: aggs,
		Sources: []esquery.CompositeSource{
			{Field: loc.Names.DocumentID},
			{Field: loc.Names.DocumentName, Missing: true},
			{Field: loc.writtenField(), Missing: true},
		},
	}
}

func (loc *Location) writtenField() string { return loc.Names.Metadata + "." + mappings.KeyWritten }

// countBare counts the chunks without a vector, where there are vectors.
func (loc *Location) countBare(aggs esquery.Aggregations) {
	if len(loc.Names.Vectors) > 0 {
		aggs["bare"] = esquery.FilterAggregation{Filter: esquery.Bool{MustNot: loc.someVector()}}
	}
}

// someVector is a clause for each vector that a chunk may have.
func (loc *Location) someVector() []esquery.Query {
	var some []esquery.Query
	for _, name := range slices.Sorted(maps.Keys(loc.Names.Vectors)) {
		some = append(some, esquery.Exists{Field: loc.Names.Vectors[name].Name})
	}
	return some
}

// documentsAfter are the chunks of the documents behind one.
func (loc *Location) documentsAfter(after string) esquery.Bool {
	filters := loc.Own
	if after != "" {
		filters = append(slices.Clone(filters), esquery.Range{Field: loc.Names.DocumentID, GT: after})
	}
	return esquery.Bool{Filter: filters}
}

func (s *Store) documentBuckets(
	ctx context.Context, loc *Location, query esquery.Query, page esquery.CompositeAggregation,
) ([]documentBucket, error) {
	a, err := s.client.Search(ctx, rest.Post(loc.Path("_search"), esquery.Search{
		Query: query, Aggs: esquery.Aggregations{"documents": page},
	}))
	if err != nil {
		return nil, err
	}
	var aggs struct {
		Documents struct {
			Buckets []documentBucket `json:"buckets"`
		} `json:"documents"`
	}
	if err := jsonv1.Unmarshal([]byte(a.Aggregations), &aggs); err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "Elasticsearch's answer cannot be read")
	}
	return aggs.Documents.Buckets, nil
}

// documentList puts documents together, of buckets in the order of their ids.
type documentList struct {
	loc       *Location
	limit     int
	documents []engine.Document
	first     float64        // the smallest ordinal of the last document
	sized     int            // its chunks of which the size is known,
	bytes     int64          // and their sizes together
	tied      map[string]int // documents of which several names have the first chunk, by id
}

// add is false for a document beyond the limit.
func (l *documentList) add(b *documentBucket) bool {
	id, name := *b.Key[l.loc.Names.DocumentID], textOf(b.Key[l.loc.Names.DocumentName])
	first := math.Inf(1)
	if b.First.Value != nil {
		first = *b.First.Value
	}
	if last := len(l.documents) - 1; last < 0 || l.documents[last].ID != id {
		if len(l.documents) == l.limit {
			return false
		}
		l.documents = append(l.documents, engine.Document{ID: id, Name: name})
		l.first, l.sized, l.bytes = first, 0, 0
	}
	d := &l.documents[len(l.documents)-1]
	d.Chunks += b.Count
	d.WithoutVectors += b.Bare.Count
	l.sized, l.bytes = l.sized+b.Sized.Value, l.bytes+int64(b.Bytes.Value)
	if d.Bytes = l.bytes; l.sized < d.Chunks {
		d.Bytes = 0
	}
	d.WrittenAt = max(d.WrittenAt, textOf(b.Key[l.loc.writtenField()]))
	switch {
	case first < l.first:
		d.Name, l.first = name, first
		delete(l.tied, id)
	case first == l.first && name != d.Name:
		if l.tied == nil {
			l.tied = map[string]int{}
		}
		l.tied[id] = len(l.documents) - 1
	}
	return true
}

func textOf(value *string) string {
	if value == nil {
		return ""
	}
	return *value
}

// nameTied names the documents of which several chunks with different names have the first ordinal: of
// these the first id counts, for which their chunks are looked at.
func (s *Store) nameTied(ctx context.Context, loc *Location, l *documentList) error {
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(l.tied)), chunksPerPage) {
		values := make([]any, len(ids))
		for i, id := range ids {
			values[i] = id
		}
		these := esquery.Terms{Field: loc.Names.DocumentID, Values: values}
		query := esquery.Bool{Filter: append(slices.Clone(loc.Own), these)}
		buckets, err := s.documentBuckets(ctx, loc, query, loc.firstChunks(len(ids)))
		if err != nil {
			return err
		}
		for i := range buckets {
			b := &buckets[i]
			l.documents[l.tied[*b.Key[loc.Names.DocumentID]]].Name = loc.nameOf(b)
		}
	}
	return nil
}

// firstChunks asks for the first chunk of each document.
func (loc *Location) firstChunks(limit int) esquery.CompositeAggregation {
	page := esquery.CompositeAggregation{
		Size: limit, Sources: []esquery.CompositeSource{{Field: loc.Names.DocumentID}}, Aggs: esquery.Aggregations{},
	}
	if loc.Names.DocumentName != "" {
		first := esquery.TopHitsAggregation{Size: 1, DocValueFields: []string{loc.Names.DocumentName}}
		if loc.Names.Ordinal != "" {
			first.Sort = loc.readingOrder()
		}
		page.Aggs["hit"] = first
	}
	return page
}

// nameOf is the document name of the first chunk.
func (loc *Location) nameOf(b *documentBucket) string {
	for _, first := range b.Hit.Hits.Hits {
		if name := first.Fields[loc.Names.DocumentName]; len(name) > 0 {
			return asText(name[0])
		}
	}
	return ""
}

// attachedDocuments lists the documents of an attached index: a chunk may have several names there, or none
// that can be counted by, so one chunk is read per document.
func (s *Store) attachedDocuments(
	ctx context.Context, loc *Location, after string, limit int,
) ([]engine.Document, error) {
	page := loc.firstChunks(limit)
	loc.countBare(page.Aggs)
	if after != "" {
		page.After = []any{after}
	}
	buckets, err := s.documentBuckets(ctx, loc, esquery.Bool{Filter: loc.Own}, page)
	if err != nil {
		return nil, err
	}
	documents := make([]engine.Document, len(buckets))
	for i := range buckets {
		b := &buckets[i]
		documents[i] = engine.Document{
			ID: *b.Key[loc.Names.DocumentID], Name: loc.nameOf(b), Chunks: b.Count, WithoutVectors: b.Bare.Count,
		}
	}
	return documents, nil
}
