package storage

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"math"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/mappings"
)

// A collection of records is a document, changed only by who has seen its latest revision, and
// one for each of its items. Items belong to a life of the collection: whoever makes it again
// under the same name gets another, so what a cut off deletion or a late write leaves is never
// seen.

// recordsHead is the document of a collection.
type recordsHead struct {
	Tenant    string    `json:"tenant"`
	Kind      string    `json:"kind"`
	ID        string    `json:"id"`
	Life      string    `json:"life"`
	Version   int64     `json:"version"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	Head      string    `json:"head"`
	Deleting  bool      `json:"deleting,omitempty"` // as good as gone; its items may be there
}

// recordsItem is the document of an item.
type recordsItem struct {
	Tenant string `json:"tenant"`
	Of     string `json:"of"` // the collection's life
	Key    string `json:"key"`
	Body   string `json:"body"`
}

// storedHead is a collection's document as Elasticsearch returns it.
type storedHead struct {
	SeqNo       int64       `json:"_seq_no"`
	PrimaryTerm int64       `json:"_primary_term"`
	Source      recordsHead `json:"_source"`
}

func (h *recordsHead) records() engine.Records {
	return engine.Records{
		RecordRef: engine.RecordRef{Tenant: h.Tenant, Kind: h.Kind, ID: h.ID}, Version: h.Version,
		CreatedAt: h.CreatedAt, UpdatedAt: h.UpdatedAt, Head: json.RawMessage(h.Head),
	}
}

// itemID is the _id of an item.
func (h *recordsHead) itemID(key string) string { return digest(h.Tenant, h.Kind, h.ID, h.Life, key) }

// items matches the items of a collection.
func (h *recordsHead) items() []esquery.Query {
	return []esquery.Query{esquery.Term{Field: "tenant", Value: h.Tenant}, esquery.Term{Field: "of", Value: h.Life}}
}

func (s *Store) headPath(endpoint string, ref engine.RecordRef) string {
	return rest.IndexPath(s.keptIndex(), endpoint+"/"+digest(ref.Tenant, ref.Kind, ref.ID))
}

// readHead reads a collection as it is at this moment, also one that is being deleted.
func (s *Store) readHead(ctx context.Context, ref engine.RecordRef) (*storedHead, error) {
	err := ref.Check()
	if err == nil {
		err = s.readable(ctx)
	}
	if err != nil {
		return nil, err
	}
	var found storedHead
	err = s.client.Read(ctx, rest.Get(s.headPath("_doc", ref)), &found)
	if fault.Is(err, fault.NotFound) {
		return nil, engine.NoRecords(ref)
	}
	return &found, err
}

// collection reads a collection that there is.
func (s *Store) collection(ctx context.Context, ref engine.RecordRef) (*storedHead, error) {
	found, err := s.readHead(ctx, ref)
	if err == nil && found.Source.Deleting {
		err = engine.NoRecords(ref)
	}
	return found, err
}

// replaceHead stores what found has become unless somebody else has changed it, which is a
// fault.Conflict.
func (s *Store) replaceHead(ctx context.Context, ref engine.RecordRef, found *storedHead) error {
	path := s.headPath("_doc", ref) + "?refresh=true&" + ifUnchanged([2]int64{found.SeqNo, found.PrimaryTerm})
	var answer saved
	err := s.client.Change(ctx, rest.Put(path, found.Source), &answer)
	if err == nil {
		found.SeqNo, found.PrimaryTerm = answer.SeqNo, answer.PrimaryTerm
	}
	return err
}

// Records implements engine.RecordKeeper.
func (s *Store) Records(ctx context.Context, ref engine.RecordRef) (engine.Records, error) {
	found, err := s.collection(ctx, ref)
	if err != nil {
		return engine.Records{}, err
	}
	return found.Source.records(), nil
}

// ListRecords implements engine.RecordKeeper.
func (s *Store) ListRecords(ctx context.Context, tenant, kind string) ([]engine.Records, error) {
	err := engine.CheckRecordList(tenant, kind)
	if err == nil {
		err = s.readable(ctx)
	}
	if err != nil {
		return nil, err
	}
	search := esquery.Search{
		Query: esquery.Bool{
			Filter: []esquery.Query{
				esquery.Term{Field: "tenant", Value: tenant},
				esquery.Term{Field: "kind", Value: kind},
				esquery.Exists{Field: "life"},
			},
			MustNot: []esquery.Query{esquery.Term{Field: "deleting", Value: true}},
		},
		Sort: []esquery.Sort{{Field: "id", Order: esquery.Ascending}}, WholeSource: true,
	}
	var all []engine.Records
	err = s.eachKept(ctx, search, math.MaxInt, func(source []byte) (string, error) {
		var head recordsHead
		err := json.Unmarshal(source, &head)
		all = append(all, head.records())
		return head.ID, err
	})
	return all, err
}

const (
	firstKept = 100     // documents of the first request, whose size nobody knows yet
	mostKept  = 5000    // documents of a further request,
	keptBytes = 8 << 20 // which is to have about so many bytes
)

// eachKept reads at most limit documents that a search finds. take gets each, and returns what it
// is sorted by.
func (s *Store) eachKept(
	ctx context.Context, search esquery.Search, limit int, take func(source []byte) (string, error),
) error {
	path := rest.IndexPath(s.keptIndex(), "_search?ignore_unavailable=true&allow_partial_search_results=false")
	size := firstKept
	for limit > 0 {
		search.Size = min(size, limit)
		a, err := s.client.Search(ctx, rest.Post(path, search))
		if err != nil {
			return err
		}
		bytes := 0
		for i := range a.Hits {
			last, err := take([]byte(a.Hits[i].Source))
			if err != nil {
				return fault.Wrap(fault.Corrupt, err, "a stored record cannot be read")
			}
			search.SearchAfter = []any{last}
			bytes += len(a.Hits[i].Source)
		}
		if len(a.Hits) < search.Size {
			return nil
		}
		limit -= len(a.Hits)
		size = min(max(keptBytes*len(a.Hits)/bytes, 1), 4*len(a.Hits), mostKept)
	}
	return nil
}

// SaveRecords implements engine.RecordKeeper.
func (s *Store) SaveRecords(ctx context.Context, r engine.Records) (engine.Records, error) {
	if err := r.Check(); err != nil {
		return engine.Records{}, err
	}
	next := r.Stamped(time.Now())
	if r.Version == 0 {
		if err := s.createRecords(ctx, &next); err != nil {
			return engine.Records{}, err
		}
		return next, nil
	}
	found, err := s.collection(ctx, r.RecordRef)
	if err != nil {
		return engine.Records{}, err
	}
	head := &found.Source
	if head.Version != r.Version {
		return engine.Records{}, engine.RecordsChanged(r.RecordRef)
	}
	head.Version, head.UpdatedAt, head.Head = next.Version, next.UpdatedAt, string(next.Head)
	err = s.replaceHead(ctx, r.RecordRef, found)
	if fault.Is(err, fault.Conflict) {
		err = engine.RecordsChanged(r.RecordRef)
	}
	if err != nil {
		return engine.Records{}, err
	}
	return head.records(), nil
}

// createRecords makes a collection; it goes on with the deletion of one that was there, where that
// was cut off.
func (s *Store) createRecords(ctx context.Context, r *engine.Records) error {
	err := s.prepare(ctx)
	if err == nil {
		err = s.EnsureIndex(ctx, s.keptIndex(), mappings.Records())
	}
	if err != nil {
		return err
	}
	head := recordsHead{
		Tenant: r.Tenant, Kind: r.Kind, ID: r.ID, Life: rand.Text(), Version: r.Version,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Head: string(r.Head),
	}
	for {
		err := s.client.Change(ctx, rest.Put(s.headPath("_create", r.RecordRef)+"?refresh=true", head), nil)
		if !fault.Is(err, fault.Conflict) {
			return err
		}
		switch found, err := s.readHead(ctx, r.RecordRef); {
		case fault.Is(err, fault.NotFound): // deleted a moment ago
		case err != nil:
			return err
		case !found.Source.Deleting:
			return engine.RecordsExist(r.RecordRef)
		default:
			if err := s.removeRecords(ctx, r.RecordRef, found); err != nil {
				return err
			}
		}
	}
}

// DeleteRecords implements engine.RecordKeeper. The collection is marked first and goes last, so an
// interrupted deletion can be repeated, and nobody sees what it has left.
func (s *Store) DeleteRecords(ctx context.Context, ref engine.RecordRef) error {
	for {
		found, err := s.readHead(ctx, ref)
		if err != nil {
			return err
		}
		if !found.Source.Deleting {
			found.Source.Deleting = true
			err = s.replaceHead(ctx, ref, found)
		}
		if fault.Is(err, fault.Conflict) {
			continue // saved, or deleted, at the same time
		}
		if err != nil {
			return err
		}
		return s.removeRecords(ctx, ref, found)
	}
}

// removeRecords removes what a marked collection has, and then its document.
func (s *Store) removeRecords(ctx context.Context, ref engine.RecordRef, found *storedHead) error {
	if err := s.client.Change(ctx, rest.Post(rest.IndexPath(s.keptIndex(), "_refresh"), nil), nil); err != nil {
		return err
	}
	request := rest.Post(rest.IndexPath(s.keptIndex(), "_delete_by_query?conflicts=proceed&refresh=true"),
		esquery.DeleteByQuery{Query: esquery.Bool{Filter: found.Source.items()}})
	for left := 1; left > 0; {
		var answer struct {
			Conflicts int `json:"version_conflicts"` // items that were written again meanwhile
		}
		if err := s.client.Change(ctx, request, &answer); err != nil {
			return err
		}
		left = answer.Conflicts
	}
	path := s.headPath("_doc", ref) + "?refresh=true&" + ifUnchanged([2]int64{found.SeqNo, found.PrimaryTerm})
	err := s.client.Change(ctx, rest.Delete(path), nil)
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Conflict) { // somebody else has done it
		return nil
	}
	return err
}
