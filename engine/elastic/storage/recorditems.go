package storage

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
)

// PutItems implements engine.RecordKeeper. Elasticsearch has no transactions: a deletion that began
// after the collection was read has not seen these items, so they are taken back.
func (s *Store) PutItems(ctx context.Context, ref engine.RecordRef, items []engine.RecordItem) error {
	items, err := engine.PrepareItems(items)
	if err != nil {
		return err
	}
	found, err := s.collection(ctx, ref)
	if err != nil || len(items) == 0 {
		return err
	}
	head := &found.Source
	batch := &bulk{refresh: true}
	for i := range items {
		lines, err := esquery.BulkIndex{BulkTarget: s.keptTarget(head, items[i].Key), Document: recordsItem{
			Tenant: head.Tenant, Of: head.Life, Key: items[i].Key, Body: string(items[i].Body),
		}}.NDJSON()
		if err != nil {
			return fault.Wrap(fault.Internal, err, "write an item")
		}
		batch.add(head.itemID(items[i].Key), lines)
	}
	if err := s.send(ctx, batch); err != nil {
		return err
	}
	switch now, err := s.collection(ctx, ref); {
	case fault.Is(err, fault.NotFound), err == nil && now.Source.Life != head.Life:
		return s.takeBack(ctx, ref, head, items)
	default:
		return err
	}
}

func (s *Store) takeBack(
	ctx context.Context, ref engine.RecordRef, head *recordsHead, items []engine.RecordItem,
) error {
	keys := make([]string, len(items))
	for i := range items {
		keys[i] = items[i].Key
	}
	if _, err := s.dropItems(ctx, head, keys); err != nil {
		return err
	}
	return engine.NoRecords(ref)
}

func (s *Store) keptTarget(head *recordsHead, key string) esquery.BulkTarget {
	return esquery.BulkTarget{Index: s.keptIndex(), ID: head.itemID(key)}
}

// Items implements engine.RecordKeeper.
func (s *Store) Items(ctx context.Context, ref engine.RecordRef, page engine.ItemPage) ([]engine.RecordItem, error) {
	if err := page.Check(); err != nil {
		return nil, err
	}
	found, err := s.collection(ctx, ref)
	if err != nil {
		return nil, err
	}
	filter := found.Source.items()
	if page.Prefix != "" {
		filter = append(filter, esquery.Prefix{Field: "key", Value: page.Prefix})
	}
	search := esquery.Search{
		Query: esquery.Bool{Filter: filter}, Source: []string{"key", "body"},
		Sort: []esquery.Sort{{Field: "key", Order: esquery.Ascending}},
	}
	if page.After != "" {
		search.SearchAfter = []any{page.After}
	}
	var items []engine.RecordItem
	err = s.eachKept(ctx, search, page.Limit, func(source []byte) (string, error) {
		var item recordsItem
		err := json.Unmarshal(source, &item)
		items = append(items, engine.RecordItem{Key: item.Key, Body: json.RawMessage(item.Body)})
		return item.Key, err
	})
	return items, err
}

// DeleteItems implements engine.RecordKeeper.
func (s *Store) DeleteItems(ctx context.Context, ref engine.RecordRef, keys []string) (int, error) {
	keys, err := engine.PrepareKeys(keys)
	if err != nil {
		return 0, err
	}
	found, err := s.collection(ctx, ref)
	if err != nil || len(keys) == 0 {
		return 0, err
	}
	return s.dropItems(ctx, &found.Source, keys)
}

// dropItems deletes items by their keys, and returns how many there were.
func (s *Store) dropItems(ctx context.Context, head *recordsHead, keys []string) (int, error) {
	batch := &bulk{refresh: true}
	for _, key := range keys {
		line, err := esquery.BulkDelete{BulkTarget: s.keptTarget(head, key)}.NDJSON()
		if err != nil {
			return 0, fault.Wrap(fault.Internal, err, "delete an item")
		}
		batch.add(head.itemID(key), line)
	}
	results, err := s.bulk(ctx, batch)
	if err != nil {
		return 0, err
	}
	existed := 0
	for i := range results {
		a := results[i].outcome()
		if a.err != nil {
			return existed, a.err
		}
		if a.existed {
			existed++
		}
	}
	return existed, nil
}

// CountItems implements engine.RecordKeeper.
func (s *Store) CountItems(ctx context.Context, ref engine.RecordRef) (int, error) {
	found, err := s.collection(ctx, ref)
	if err != nil {
		return 0, err
	}
	a, err := s.client.Search(ctx, rest.Post(rest.IndexPath(s.keptIndex(), "_search"), esquery.Search{
		Query: esquery.Bool{Filter: found.Source.items()}, TrackTotal: true,
	}))
	if err != nil {
		return 0, err
	}
	return a.Total, nil
}

// storedItem is an item's document as it is at this moment.
type storedItem struct {
	Found       bool          `json:"found"`
	SeqNo       int64         `json:"_seq_no"`
	PrimaryTerm int64         `json:"_primary_term"`
	Source      recordsItem   `json:"_source"`
	Error       *rest.Refusal `json:"error"`
}

// ChangeItems implements engine.RecordKeeper. Each document is changed only as the revision whose
// body was compared.
func (s *Store) ChangeItems(
	ctx context.Context, ref engine.RecordRef, changes []engine.ItemChange,
) ([]bool, error) {
	if err := engine.CheckChanges(changes); err != nil {
		return nil, err
	}
	found, err := s.collection(ctx, ref)
	if err != nil || len(changes) == 0 {
		return nil, err
	}
	head := &found.Source
	stored, err := s.storedItems(ctx, head, changes)
	if err != nil {
		return nil, err
	}
	batch := &bulk{refresh: true}
	var places []int // in changes
	for i := range changes {
		if !isAsRead(&changes[i], &stored[i]) {
			continue
		}
		lines, err := s.changeLines(head, &changes[i], &stored[i])
		if err != nil {
			return nil, fault.Wrap(fault.Internal, err, "change an item")
		}
		batch.add(head.itemID(changes[i].Key), lines)
		places = append(places, i)
	}
	made, put, err := s.sendChanges(ctx, batch, changes, places)
	if err != nil {
		return nil, err
	}
	switch now, err := s.collection(ctx, ref); {
	case fault.Is(err, fault.NotFound), err == nil && now.Source.Life != head.Life:
		return nil, s.takeBack(ctx, ref, head, put)
	default:
		return made, err
	}
}

func (s *Store) storedItems(
	ctx context.Context, head *recordsHead, changes []engine.ItemChange,
) ([]storedItem, error) {
	ids := make([]string, len(changes))
	for i := range changes {
		ids[i] = head.itemID(changes[i].Key)
	}
	var answer struct {
		Docs []storedItem `json:"docs"`
	}
	err := s.client.Change(ctx, rest.PostJSON(rest.IndexPath(s.keptIndex(), "_mget"), struct {
		IDs []string `json:"ids"`
	}{ids}), &answer)
	if err == nil && len(answer.Docs) != len(ids) {
		err = fault.New(fault.Unavailable, "Elasticsearch gave %d documents for %d ids", len(answer.Docs), len(ids))
	}
	if err != nil {
		return nil, err
	}
	for i := range answer.Docs {
		if why := answer.Docs[i].Error; why != nil {
			return nil, why.Fault(http.StatusServiceUnavailable)
		}
	}
	return answer.Docs, nil
}

func isAsRead(c *engine.ItemChange, now *storedItem) bool {
	if c.From == nil || !now.Found {
		return c.From == nil && !now.Found
	}
	return now.Source.Body == string(c.From)
}

func (s *Store) changeLines(head *recordsHead, c *engine.ItemChange, now *storedItem) ([]byte, error) {
	target := s.keptTarget(head, c.Key)
	if now.Found {
		target.Unchanged = &esquery.Revision{SeqNo: now.SeqNo, PrimaryTerm: now.PrimaryTerm}
	}
	if c.To == nil {
		return esquery.BulkDelete{BulkTarget: target}.NDJSON()
	}
	return esquery.BulkIndex{BulkTarget: target, Create: !now.Found, Document: recordsItem{
		Tenant: head.Tenant, Of: head.Life, Key: c.Key, Body: string(c.To),
	}}.NDJSON()
}

// sendChanges says which changes were made, and which items stored.
func (s *Store) sendChanges(
	ctx context.Context, batch *bulk, changes []engine.ItemChange, places []int,
) (made []bool, put []engine.RecordItem, err error) {
	made = make([]bool, len(changes))
	if len(batch.items) == 0 {
		return made, nil, nil
	}
	results, err := s.bulk(ctx, batch)
	if err != nil {
		return nil, nil, err
	}
	for n, at := range places {
		r := &results[n]
		if r.Status == http.StatusConflict || r.Result == "not_found" {
			continue // somebody was faster
		}
		if a := r.outcome(); a.err != nil {
			return nil, nil, a.err
		}
		made[at] = true
		if c := &changes[at]; c.To != nil {
			put = append(put, engine.RecordItem{Key: c.Key, Body: c.To})
		}
	}
	return made, put, nil
}
