package events

import (
	"context"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// settle makes all that was recorded and accepted before it readable.
func (l *Log) settle(ctx context.Context) error {
	l.spoolRecorded(ctx)
	return l.store(ctx)
}

// store moves what is in the spool at this moment to the records. What was moved and not yet taken out when the
// process ended is moved again, to the same keys.
func (l *Log) store(ctx context.Context) error {
	select {
	case l.moving <- struct{}{}:
	case <-ctx.Done():
		return fault.Wrap(fault.Timeout, ctx.Err(), "storing events took too long")
	}
	defer func() { <-l.moving }()
	upTo, err := l.spool.last(ctx)
	for err == nil {
		var oldest []*batch
		if oldest, err = l.spool.oldest(ctx, upTo); err != nil || len(oldest) == 0 {
			return err
		}
		if err = l.keepAll(ctx, oldest); err == nil {
			err = l.spool.drop(ctx, oldest)
		}
	}
	return err
}

// keepAll stores batches, those of a day together.
func (l *Log) keepAll(ctx context.Context, all []*batch) error {
	var refs []engine.RecordRef
	days := map[engine.RecordRef][]engine.RecordItem{}
	for _, b := range all {
		ref := dayRef(b.tenant, b.day)
		items, err := b.appendItems(days[ref])
		if err != nil {
			l.log.Error("a batch of the spool of events is left out", "tenant", b.tenant, "day", b.day, "error", err)
		}
		if days[ref] == nil {
			refs = append(refs, ref)
		}
		days[ref] = items
	}
	for _, ref := range refs {
		if err := l.keep(ctx, ref, days[ref]); err != nil {
			return err
		}
	}
	return nil
}

// keep stores items of a day. Refused items are skipped, so that one does not hold up all others.
func (l *Log) keep(ctx context.Context, ref engine.RecordRef, items []engine.RecordItem) error {
	err := l.put(ctx, ref, items)
	if !isRefused(err) {
		return err
	}
	for i := range items {
		err := l.put(ctx, ref, items[i:i+1])
		if isRefused(err) {
			l.metrics.dropped.WithLabelValues(kindOf(items[i].Key), droppedRefused).Inc()
			l.log.Error("an event cannot be stored and is left out", "tenant", ref.Tenant, "day", ref.ID, "error", err)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// put stores items of a day, which is made where there is none.
func (l *Log) put(ctx context.Context, ref engine.RecordRef, items []engine.RecordItem) error {
	err := engine.PutAllItems(ctx, l.options.Keeper, ref, items)
	if fault.Is(err, fault.NotFound) {
		if err = l.makeDay(ctx, ref); err == nil {
			err = engine.PutAllItems(ctx, l.options.Keeper, ref, items)
		}
	}
	if err == nil {
		for i := range items {
			l.metrics.stored.WithLabelValues(kindOf(items[i].Key)).Inc()
		}
	}
	return err
}

// isRefused reports whether it is the items that cannot be stored, today or ever.
func isRefused(err error) bool {
	return fault.Is(err, fault.InvalidArgument) || fault.Is(err, fault.TooLarge)
}

func kindOf(key string) string {
	if _, isEvent := readKey(key); isEvent {
		return ofEvents
	}
	return ofQueries
}

// makeDay makes the collection of a day, and notes that the tenant has a log. That others do the same is no error.
func (l *Log) makeDay(ctx context.Context, ref engine.RecordRef) error {
	tenants := engine.RecordRef{Tenant: ofTenants, Kind: recordsKind, ID: "tenants"}
	keeper := l.options.Keeper
	for _, of := range []engine.RecordRef{tenants, ref} {
		_, err := keeper.SaveRecords(ctx, engine.Records{RecordRef: of, Head: []byte("{}")})
		if err != nil && !fault.Is(err, fault.Conflict) {
			return err
		}
	}
	return keeper.PutItems(ctx, tenants, []engine.RecordItem{{Key: ref.Tenant, Body: []byte("{}")}})
}

// expireLogged deletes what is older than the retention, of all tenants.
func (l *Log) expireLogged(ctx context.Context) {
	days, err := l.expire(ctx)
	if err != nil && ctx.Err() == nil {
		l.log.Warn("old events could not be deleted; that is tried again in an hour", "error", err)
	}
	if days > 0 {
		l.log.Info("old searches and events were deleted", "days", days)
	}
}

func (l *Log) expire(ctx context.Context) (deleted int, err error) {
	tenants := engine.RecordRef{Tenant: ofTenants, Kind: recordsKind, ID: "tenants"}
	for tenant, err := range engine.AllItems(ctx, l.options.Keeper, tenants, "") {
		if fault.Is(err, fault.NotFound) { // there is no log yet
			return deleted, nil
		}
		if err != nil {
			return deleted, err
		}
		days, err := l.options.Keeper.ListRecords(ctx, tenant.Key, recordsKind)
		if err != nil {
			return deleted, err
		}
		for i := range days {
			if days[i].ID >= dayOf(l.oldest()) {
				continue
			}
			err := l.options.Keeper.DeleteRecords(ctx, days[i].RecordRef)
			if err != nil && !fault.Is(err, fault.NotFound) { // by another gateway
				return deleted, err
			}
			deleted++
		}
	}
	return deleted, nil
}
