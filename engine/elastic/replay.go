package elastic

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
)

// fit gives chunks the vectors that another shape needs: their own where those can
// stay, new ones where the model or what is embedded changes.
func (e *Engine) fit(
	ctx context.Context, from, to *engine.KnowledgeBase, chunks []*engine.Chunk,
) ([]*engine.Chunk, error) {
	refit := engine.NewRefit(from, to)
	if refit.Same() {
		return chunks, nil
	}
	fitted := make([]*engine.Chunk, len(chunks))
	for i, c := range chunks {
		bare := *c
		bare.Vectors = refit.Keep(c.Vectors)
		fitted[i] = &bare
	}
	if len(refit.Made) == 0 || len(chunks) == 0 {
		return fitted, nil
	}
	if e.embed == nil {
		return nil, fault.New(fault.Unsupported, "embedding model %q is not configured at this gateway", to.EmbeddingModel)
	}
	for _, field := range refit.Made {
		if err := e.embedField(ctx, to, field, fitted); err != nil {
			return nil, err
		}
	}
	return fitted, nil
}

// embedField sets the vectors of one field where there is a text.
func (e *Engine) embedField(
	ctx context.Context, to *engine.KnowledgeBase, field engine.Field, chunks []*engine.Chunk,
) error {
	var texts []string
	var of []*engine.Chunk
	for _, c := range chunks {
		if text := c.FieldText(field.Source); text != "" {
			texts, of = append(texts, text), append(of, c)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	vectors, err := e.embed(ctx, to.EmbeddingModel, texts)
	if err != nil {
		return err
	}
	if len(vectors) != len(texts) {
		return fault.New(fault.Unavailable, "the embedding service gave %d vectors for %d texts", len(vectors), len(texts))
	}
	for i, c := range of {
		c.Vectors[field.Name] = vectors[i]
	}
	return nil
}

// stored is a document as an index has it.
type stored struct {
	ID      string          `json:"_id"`
	Version int64           `json:"_version"`
	SeqNo   int64           `json:"_seq_no"`
	Found   bool            `json:"found"` // of _mget
	Source  json.RawMessage `json:"_source"`
	Sort    []any           `json:"sort"`
	Error   *rest.Refusal   `json:"error"`
}

// page is a search for whole documents.
type page struct {
	esquery.Search
	shard *int // nil: all of the index
}

// ascending sorts by a field.
func ascending(field string) []esquery.Sort {
	return []esquery.Sort{{Field: field, Order: esquery.Ascending}}
}

// read runs a page. It takes the time of a write: documents are large.
func (e *Engine) read(ctx context.Context, index string, p page) ([]stored, error) {
	p.Versions = true
	endpoint := "_search"
	if p.shard != nil {
		endpoint += fmt.Sprintf("?preference=_shards:%d", *p.shard)
	}
	s := rest.Post(indexPath(index, endpoint), p.Search)
	var answer struct {
		TimedOut bool `json:"timed_out"`
		Shards   struct {
			Failed int `json:"failed"`
		} `json:"_shards"`
		Hits struct {
			Hits []stored `json:"hits"`
		} `json:"hits"`
	}
	err := e.client.Change(ctx, s, &answer)
	if err == nil && (answer.TimedOut || answer.Shards.Failed > 0) {
		err = fault.New(fault.Unavailable, "Elasticsearch has a part of the answer only")
	}
	return answer.Hits.Hits, err
}

// fetch reads documents by _id as they are at this moment, searchable or not;
// in the order of the ids.
func (e *Engine) fetch(ctx context.Context, index string, ids []string) ([]stored, error) {
	s := rest.PostJSON(indexPath(index, "_mget"), struct {
		IDs []string `json:"ids"`
	}{ids})
	var answer struct {
		Docs []stored `json:"docs"`
	}
	if err := e.client.Change(ctx, s, &answer); err != nil {
		return nil, err
	}
	if len(answer.Docs) != len(ids) {
		return nil, fault.New(fault.Unavailable, "Elasticsearch gave %d documents for %d ids", len(answer.Docs), len(ids))
	}
	for i := range answer.Docs {
		if why := answer.Docs[i].Error; why != nil {
			return nil, why.Fault(http.StatusNotFound)
		}
	}
	return answer.Docs, nil
}

// transform makes documents for another shape. Where the server could copy them
// as they are, they stay as they are.
func (e *Engine) transform(ctx context.Context, m *engine.Migration, from, to *target, docs []stored) ([]any, error) {
	made := make([]any, len(docs))
	if m.Plan.Diff.Copy == engine.CopyReindex {
		for i := range docs {
			made[i] = docs[i].Source
		}
		return made, nil
	}
	chunks := make([]*engine.Chunk, len(docs))
	for i := range docs {
		var err error
		if chunks[i], err = from.wholeChunk(&docs[i]); err != nil {
			return nil, err
		}
	}
	fitted, err := e.fit(ctx, &from.kb, &to.kb, chunks)
	if err != nil {
		return nil, err
	}
	for i, c := range fitted {
		d, err := e.document(to, c)
		if err != nil {
			return nil, fault.Wrap(fault.Conflict, err, "chunk %q cannot be written in the new shape", c.ID)
		}
		made[i] = d
	}
	return made, nil
}

// wholeChunk reads a chunk with its vectors.
func (t *target) wholeChunk(d *stored) (*engine.Chunk, error) {
	var source struct {
		Chunk engine.Chunk `json:"chunk"`
	}
	if err := json.Unmarshal(d.Source, &source); err != nil {
		return nil, fault.Wrap(fault.Corrupt, err, "a stored chunk cannot be read")
	}
	if source.Chunk.ID == "" {
		return nil, fault.New(fault.Conflict,
			"document %q of index %s was not written by this gateway; delete it and resume, or cancel", d.ID, t.index)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(d.Source, &fields); err != nil {
		return nil, fault.Wrap(fault.Corrupt, err, "a stored chunk cannot be read")
	}
	source.Chunk.Vectors = map[string][]float32{}
	for name, field := range t.names.Vectors {
		if fields[field.Name] == nil {
			continue
		}
		var vector []float32
		if err := json.Unmarshal(fields[field.Name], &vector); err != nil {
			return nil, fault.Wrap(fault.Corrupt, err, "a stored vector cannot be read")
		}
		source.Chunk.Vectors[name] = vector
	}
	return &source.Chunk, nil
}

// replayPage is how many entries of the log are replayed by one request.
const replayPage = 200

// replay makes the other index agree with the true one on every document that
// the change log names after m.Replayed.
func (e *Engine) replay(ctx context.Context, m *engine.Migration, save func(context.Context) error) error {
	j := e.journalOf(m)
	if err := e.refreshIndex(ctx, j.log); err != nil {
		return err
	}
	for {
		entries, err := e.read(ctx, j.log, page{Search: esquery.Search{
			Query: esquery.Range{Field: "_seq_no", GT: m.Replayed}, Size: replayPage, Sort: ascending("_seq_no"),
			WholeSource: true,
		}})
		if err != nil || len(entries) == 0 {
			return err
		}
		if err := e.agree(ctx, m, j, entries); err != nil {
			return err
		}
		m.Replayed = entries[len(entries)-1].SeqNo
		m.Progress.Replayed += len(entries)
		if err := save(ctx); err != nil {
			return err
		}
	}
}

// agree brings the documents of log entries from the true index to the other.
// What the true index does not have is deleted there, below the version of a
// write that may be on its way.
func (e *Engine) agree(ctx context.Context, m *engine.Migration, j *journal, entries []stored) error {
	ids := make([]string, len(entries))
	for i := range entries {
		ids[i] = entries[i].ID
	}
	docs, err := e.fetch(ctx, j.truth.index, ids)
	if err != nil {
		return err
	}
	var ops operations
	var there []stored
	for i := range docs {
		if docs[i].Found {
			there = append(there, docs[i])
			continue
		}
		var entry logged
		if err := json.Unmarshal(entries[i].Source, &entry); err != nil {
			return fault.Wrap(fault.Corrupt, err, "an entry of the change log cannot be read")
		}
		version := j.base + entries[i].SeqNo
		if entry.Op == opIndex {
			version--
		}
		ops = append(ops, operation{target: versioned(j.other.index, ids[i], version)})
	}
	made, err := e.transform(ctx, m, j.truth, j.other, there)
	if err != nil {
		return err
	}
	for i := range there {
		ops = append(ops, operation{target: versioned(j.other.index, there[i].ID, there[i].Version), document: made[i]})
	}
	return e.applyAll(ctx, ops)
}

func versioned(index, id string, version int64) esquery.BulkTarget {
	return esquery.BulkTarget{Index: index, ID: id, Version: version, VersionType: external}
}

// applyAll wants every operation to be applied, or to have been overtaken.
func (e *Engine) applyAll(ctx context.Context, ops operations) error {
	results, err := e.operate(ctx, ops)
	if err != nil {
		return err
	}
	for i := range results {
		if f := results[i].fate(); f.err != nil {
			return f.err
		}
	}
	return nil
}
