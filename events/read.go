package events

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// Read gives the searches of [from, to) with what users did with their answers, in the order of the searches' ids,
// which is that of time; whatever was recorded or accepted by this gateway before is among it. It holds one entry and
// a page of the store at a time, and ends after an error.
func (l *Log) Read(ctx context.Context, tenant string, from, to time.Time) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for e, err := range l.read(ctx, tenant, from, to) {
			if !yield(e.Entry, err) {
				return
			}
		}
	}
}

// dated is an entry with the time of its search.
type dated struct {
	Entry
	at time.Time
}

func (l *Log) read(ctx context.Context, tenant string, from, to time.Time) iter.Seq2[dated, error] {
	return func(yield func(dated, error) bool) {
		days, err := l.days(ctx, tenant)
		if err != nil {
			yield(dated{}, err)
			return
		}
		for _, ref := range days {
			if ref.ID < dayOf(from) || ref.ID > dayOf(to) {
				continue
			}
			for e, err := range l.readDay(ctx, ref) {
				if err == nil && (e.at.Before(from) || !e.at.Before(to)) {
					continue
				}
				if !yield(e, err) || err != nil {
					return
				}
			}
		}
	}
}

// days are the collections of a tenant, when all that was taken is in them.
func (l *Log) days(ctx context.Context, tenant string) ([]engine.RecordRef, error) {
	if err := l.settle(ctx); err != nil {
		return nil, err
	}
	all, err := l.options.Keeper.ListRecords(ctx, tenant, recordsKind)
	refs := make([]engine.RecordRef, len(all))
	for i := range all {
		refs[i] = all[i].RecordRef
	}
	return refs, err
}

// readDay gives all entries of a day.
func (l *Log) readDay(ctx context.Context, ref engine.RecordRef) iter.Seq2[dated, error] {
	return func(yield func(dated, error) bool) {
		var next dated
		for item, err := range engine.AllItems(ctx, l.options.Keeper, ref, "") {
			if fault.Is(err, fault.NotFound) { // it got too old
				return
			}
			if err != nil {
				yield(dated{}, err)
				return
			}
			queryID, isEvent := readKey(item.Key)
			if queryID != next.QueryID {
				if next.QueryID != "" && !yield(next.timed(ref.ID), nil) {
					return
				}
				next = dated{Entry: Entry{QueryID: queryID}}
			}
			if err := next.take(item.Body, isEvent); err != nil {
				yield(dated{}, fault.Wrap(fault.Corrupt, err, "an event of %s cannot be read", ref.ID))
				return
			}
		}
		if next.QueryID != "" {
			yield(next.timed(ref.ID), nil)
		}
	}
}

// take adds an item of the entry's query.
func (e *Entry) take(body []byte, isEvent bool) error {
	if !isEvent {
		e.Query = &Query{}
		return json.Unmarshal(body, e.Query)
	}
	if len(e.Events) == maxEntryEvents {
		e.MoreEvents++
		return nil
	}
	var event Event
	err := json.Unmarshal(body, &event)
	e.Events = append(e.Events, event)
	return err
}

// timed adds the time of an entry that is kept under a day: that of the id, where it decided about the day.
func (d dated) timed(day string) dated {
	made, ok := madeAt(d.QueryID)
	switch {
	case ok && dayOf(made) == day:
		d.at = made
	case d.Query != nil:
		d.at = d.Query.Timestamp
	case len(d.Events) > 0:
		d.at = d.Events[0].Timestamp
	}
	return d
}

// Deleted counts what was deleted.
type Deleted struct {
	Queries int `json:"queries" minimum:"0" doc:"Searches of the client."`
	Events  int `json:"events" minimum:"0" doc:"Events of the client, and events on its searches."`
}

// DeleteClient deletes the searches of a client with all events on them, and its events on searches of others. What
// another gateway has taken and not yet stored is not among it.
func (l *Log) DeleteClient(ctx context.Context, tenant, client string) (Deleted, error) {
	if err := checkText("client_id", client, 1, maxName, true); err != nil {
		return Deleted{}, err
	}
	days, err := l.days(ctx, tenant)
	if err != nil {
		return Deleted{}, err
	}
	var deleted Deleted
	for _, ref := range days {
		if err := l.deleteClient(ctx, ref, client, &deleted); err != nil && !fault.Is(err, fault.NotFound) {
			return deleted, err
		}
	}
	return deleted, nil
}

func (l *Log) deleteClient(ctx context.Context, ref engine.RecordRef, client string, deleted *Deleted) error {
	var keys []string
	flush := func() error {
		_, err := l.options.Keeper.DeleteItems(ctx, ref, keys)
		keys = keys[:0]
		return err
	}
	for found, err := range l.itemsOf(ctx, ref, client) {
		if err != nil {
			return err
		}
		if keys = append(keys, found); kindOf(found) == ofEvents {
			deleted.Events++
		} else {
			deleted.Queries++
		}
		if len(keys) == engine.MaxRecordBatch {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if len(keys) == 0 {
		return nil
	}
	return flush()
}

// itemsOf gives the keys of what is of a client. Events come before their query, so those of a query wait for it.
func (l *Log) itemsOf(ctx context.Context, ref engine.RecordRef, client string) iter.Seq2[string, error] {
	type ofClient struct {
		ClientID string `json:"client_id"`
	}
	return func(yield func(string, error) bool) {
		var query string
		var others []string // events of other clients on the query
		for item, err := range engine.AllItems(ctx, l.options.Keeper, ref, "") {
			var of ofClient
			if err == nil {
				err = json.Unmarshal(item.Body, &of)
			}
			if err != nil {
				yield("", err)
				return
			}
			queryID, isEvent := readKey(item.Key)
			if queryID != query {
				query, others = queryID, others[:0]
			}
			switch {
			case of.ClientID != client && isEvent:
				others = append(others, item.Key)
			case of.ClientID == client:
				if !isEvent {
					for _, key := range others {
						if !yield(key, nil) {
							return
						}
					}
				}
				if !yield(item.Key, nil) {
					return
				}
			}
		}
	}
}
