package storage

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
)

// strayNamed is how many documents that are no chunks are named and, with repair, deleted.
const strayNamed = 1000

// Verify implements engine.Verifier: it finds chunks that are searched by something else than
// they are. It makes every document again of the chunk in it and compares tokens, lengths and
// what is filtered by. It finds documents that are no chunk of the knowledge base, which
// repair deletes, and settings of the index that others changed, which repair undoes. Vectors are
// compared with nothing here. What changes meanwhile may be missed.
func (s *Store) Verify(ctx context.Context, kb engine.KnowledgeBase, repair bool) (*engine.Integrity, error) {
	found := &engine.Integrity{Engine: kb.Engine}
	if err := s.checkSettings(ctx, &kb, repair, found); err != nil {
		return nil, err
	}
	drift := found.Settings
	found, err := OnIndex(ctx, s, &kb, func(loc *Location) (*engine.Integrity, error) {
		if loc.Names.Source.Chunk == "" {
			return nil, fault.New(fault.Unsupported,
				"knowledge base %q is attached: it is not known what its documents should be", kb.ID)
		}
		found := &engine.Integrity{Engine: kb.Engine, Settings: drift}
		if err := s.verifyChunks(ctx, loc, found); err != nil {
			return nil, err
		}
		return found, s.verifyStrays(ctx, loc, repair, found)
	})
	return found, driftFault(err, drift)
}

func (s *Store) verifyChunks(ctx context.Context, loc *Location, found *engine.Integrity) error {
	search := esquery.Search{
		Query: esquery.Bool{Filter: append(slices.Clone(loc.Own), esquery.Exists{Field: loc.Names.ID})},
		Size:  chunksPerPage, WholeSource: true,
		Sort: []esquery.Sort{{Field: loc.Names.ID, Order: esquery.Ascending}},
	}
	for {
		a, err := s.client.Search(ctx, rest.Post(loc.Path("_search"), search))
		if err != nil {
			return err
		}
		last := ""
		for i := range a.Hits {
			id, sound, err := s.verifyOne(loc, &a.Hits[i])
			if err != nil {
				return fault.Wrap(fault.Unavailable, err, "a stored chunk cannot be read")
			}
			if last = id; sound {
				found.Chunks++
				continue
			}
			found.Damaged.Add(id)
			found.All = append(found.All, id)
		}
		if len(a.Hits) < chunksPerPage {
			return nil
		}
		search.SearchAfter = []any{last}
	}
}

// verifyOne compares a document with that of its chunk, and gives the id that it is sorted by.
func (s *Store) verifyOne(loc *Location, h *rest.Hit) (id string, sound bool, err error) {
	var got map[string]any
	if err := json.Unmarshal([]byte(h.Source), &got); err != nil {
		return "", false, err
	}
	id, _ = got[loc.Names.ID].(string)
	var c engine.Chunk
	if err := loc.chunk(h, &c); err != nil {
		return id, false, nil //nolint:nilerr // no chunk can be read of it
	}
	d, err := s.Document(loc, &c)
	if err != nil {
		return id, false, nil //nolint:nilerr // no chunk as it may be
	}
	text, err := json.Marshal(d)
	if err != nil {
		return "", false, err
	}
	var want map[string]any
	if err := json.Unmarshal(text, &want); err != nil {
		return "", false, err
	}
	for _, document := range []map[string]any{got, want} {
		delete(document, loc.Names.Source.Chunk)
		ForgetSize(document)
		if !loc.Moments {
			ForgetMoments(document)
		}
		for _, v := range loc.Names.Vectors {
			delete(document, v.Name)
		}
		if loc.stale { // of another tokenizer, which is told elsewhere
			for _, f := range loc.Names.Text {
				delete(document, f.Name)
				delete(document, f.Length)
			}
		}
	}
	return id, h.ID == documentID(&loc.KB, c.ID) && reflect.DeepEqual(got, want), nil
}

// verifyStrays looks for documents without an id and, where the index is the knowledge base's
// alone, for those of others.
func (s *Store) verifyStrays(ctx context.Context, loc *Location, repair bool, found *engine.Integrity) error {
	whole := esquery.Exists{Field: loc.Names.ID}
	stray := esquery.Bool{Filter: loc.Own, MustNot: []esquery.Query{whole}}
	if !loc.KB.Shared {
		stray = esquery.Bool{MustNot: []esquery.Query{
			esquery.Bool{Filter: append(slices.Clone(loc.Own), whole)},
		}}
	}
	a, err := s.client.Search(ctx, rest.Post(loc.Path("_search"), esquery.Search{Query: stray, Size: strayNamed}))
	if err != nil || len(a.Hits) == 0 {
		return err
	}
	ids := make([]string, len(a.Hits))
	for i := range a.Hits {
		ids[i] = a.Hits[i].ID
	}
	if repair {
		// They are looked for once more: one that has become a chunk meanwhile stays.
		stray.Filter = append(slices.Clone(stray.Filter), esquery.IDs{Values: ids})
		request := rest.Post(loc.Path("_delete_by_query", "conflicts", "proceed", "refresh", "true"),
			esquery.DeleteByQuery{Query: stray})
		return s.client.Change(ctx, request, nil)
	}
	for _, id := range ids {
		found.Damaged.Add("document " + id + ", which is no chunk")
	}
	return nil
}
