package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/fault"
)

// RecordKeeper is an engine that keeps records beside its knowledge bases: what evaluations and experiments
// store. Records are collections, each of a tenant and a kind, with a head and items. Their JSON is opaque to
// the engine and returned byte for byte.
//
// An acknowledged change is durable and visible to every later read through any gateway of the same data. All
// methods are safe for concurrent use. Exceeding the limits below is fault.InvalidArgument or, in bytes,
// fault.TooLarge.
type RecordKeeper interface {
	// Records returns the collection; fault.NotFound if absent.
	Records(ctx context.Context, ref RecordRef) (Records, error)
	// ListRecords returns all collections of a tenant and a kind, in byte order of their ids.
	ListRecords(ctx context.Context, tenant, kind string) ([]Records, error)
	// SaveRecords stores the head of a collection and returns the stored collection. Version 0 creates it,
	// fault.Conflict if it exists. Any other version must equal the stored one, else fault.Conflict: one of
	// several concurrent saves succeeds. fault.NotFound if there is no such collection. The engine sets the
	// times.
	SaveRecords(ctx context.Context, r Records) (Records, error)
	// DeleteRecords deletes a collection with all its items; fault.NotFound. It can be repeated after a
	// failure, and a new collection of the same name is empty.
	DeleteRecords(ctx context.Context, ref RecordRef) error
	// PutItems inserts or replaces items by key; the last of several items with one key wins. fault.NotFound
	// if there is no such collection. After another failure some items may be stored on Elasticsearch, none
	// on the other engines; the call is idempotent.
	PutItems(ctx context.Context, ref RecordRef, items []RecordItem) error
	// Items returns a page of the items in byte order of their keys: fewer than the limit only at the end.
	// fault.NotFound if there is no such collection.
	Items(ctx context.Context, ref RecordRef, page ItemPage) ([]RecordItem, error)
	// DeleteItems deletes items and returns how many existed; fault.NotFound when there is no such
	// collection.
	DeleteItems(ctx context.Context, ref RecordRef, keys []string) (int, error)
	// ChangeItems replaces items whose body still equals From, each atomically, and reports for each change
	// whether it was made. After an error nothing is stored, or on Elasticsearch a part. fault.NotFound when
	// there is no such collection.
	ChangeItems(ctx context.Context, ref RecordRef, changes []ItemChange) (made []bool, err error)
	// CountItems counts the items; fault.NotFound when there is no such collection.
	CountItems(ctx context.Context, ref RecordRef) (int, error)
}

// RecordRef names a collection: 1 to 256 bytes of UTF-8 without control characters each.
type RecordRef struct{ Tenant, Kind, ID string }

// Records is a collection without its items.
type Records struct {
	RecordRef
	// Version grows with every save, and starts above the versions of a deleted collection of the same name,
	// as far as the clocks of gateways agree. It is > 0 and an integer that a float64 holds exactly,
	// otherwise opaque.
	Version              int64
	CreatedAt, UpdatedAt time.Time       // UTC, to the microsecond
	Head                 json.RawMessage // at most 1 MiB
}

// RecordItem is an item of a collection.
type RecordItem struct {
	// Key is 1 to 512 bytes of UTF-8 without control characters other than U+001F, which separates the parts
	// of a key (RecordKey).
	Key  string
	Body json.RawMessage // at most 1 MiB
}

// ItemChange is a compare-and-set of one item.
type ItemChange struct {
	Key  string
	From json.RawMessage // the expected body; nil: no item
	To   json.RawMessage // the new body; nil: delete it
}

// ItemPage asks for items whose key begins with Prefix and sorts after After: at most Limit, 1 to 10,000.
type ItemPage struct {
	Prefix, After string // empty: all, from the start
	Limit         int
}

// Limits of records, in bytes unless noted.
const (
	MaxRecordName  = 256     // of a tenant, a kind, an id
	MaxRecordKey   = 512     // of a key
	MaxRecordBody  = 1 << 20 // of a head, of the body of an item
	MaxRecordBatch = 1000    // items, or keys, of one call
	MaxRecordBytes = 8 << 20 // of all keys and bodies of one PutItems
	MaxRecordPage  = 10_000  // items of one page
)

// recordSeparator is the only control character allowed in keys: it sorts before everything else, so keys
// with the same first part are adjacent.
const recordSeparator = '\x1f'

// RecordKey joins parts without control characters into a key. RecordKey(parts..., "") is the prefix of all
// keys with these first parts.
func RecordKey(parts ...string) string { return strings.Join(parts, string(recordSeparator)) }

// AllItems iterates over all items whose key begins with a prefix, page by page, and ends after an error. It
// may include items written meanwhile.
func AllItems(ctx context.Context, keeper RecordKeeper, ref RecordRef, prefix string) iter.Seq2[RecordItem, error] {
	return func(yield func(RecordItem, error) bool) {
		page := ItemPage{Prefix: prefix, Limit: 1000}
		for {
			items, err := keeper.Items(ctx, ref, page)
			if err != nil {
				yield(RecordItem{}, err)
				return
			}
			for i := range items {
				if !yield(items[i], nil) {
					return
				}
			}
			if len(items) < page.Limit {
				return
			}
			page.After = items[len(items)-1].Key
		}
	}
}

// PutAllItems stores any number of items in batches within the limits. After an error the earlier batches are stored.
func PutAllItems(ctx context.Context, keeper RecordKeeper, ref RecordRef, items []RecordItem) error {
	for len(items) > 0 {
		n, bytes := 0, 0
		for n < len(items) && n < MaxRecordBatch {
			bytes += len(items[n].Key) + len(items[n].Body)
			if n > 0 && bytes > MaxRecordBytes {
				break
			}
			n++
		}
		if err := keeper.PutItems(ctx, ref, items[:n]); err != nil {
			return err
		}
		items = items[n:]
	}
	return nil
}

// Check refuses an invalid name.
func (r RecordRef) Check() error {
	for _, part := range []struct{ field, name string }{{"tenant", r.Tenant}, {"kind", r.Kind}, {"id", r.ID}} {
		if err := checkRecordName(part.field, part.name); err != nil {
			return err
		}
	}
	return nil
}

// CheckRecordList refuses an invalid tenant or kind.
func CheckRecordList(tenant, kind string) error {
	return RecordRef{Tenant: tenant, Kind: kind, ID: "any"}.Check()
}

func checkRecordName(field, name string) error {
	if name == "" || len(name) > MaxRecordName || !utf8.ValidString(name) ||
		strings.ContainsFunc(name, unicode.IsControl) {
		return fault.Invalid(field, name,
			fmt.Sprintf("1 to %d bytes of UTF-8 without control characters", MaxRecordName))
	}
	return nil
}

// Check refuses an invalid collection.
func (r *Records) Check() error {
	if err := r.RecordRef.Check(); err != nil {
		return err
	}
	if r.Version < 0 {
		return fault.Invalid("version", r.Version, "0 to make the collection, or the version that was read")
	}
	return checkRecordBody("head", r.Head)
}

func checkRecordBody(field string, body json.RawMessage) error {
	switch {
	case len(body) > MaxRecordBody:
		return tooManyBytes(field, len(body), MaxRecordBody)
	case !utf8.Valid(body) || !json.Valid(body):
		return fault.Invalid(field, string(body), "a JSON value in UTF-8")
	default:
		return nil
	}
}

func tooManyBytes(field string, have, most int) error {
	return &fault.Error{
		Kind: fault.TooLarge, Field: field,
		Detail: fmt.Sprintf("%s has %d bytes; it must have at most %d", field, have, most),
	}
}

func checkRecordKey(field, key string) error {
	forbidden := func(c rune) bool { return unicode.IsControl(c) && c != recordSeparator }
	if key == "" || len(key) > MaxRecordKey || !utf8.ValidString(key) || strings.ContainsFunc(key, forbidden) {
		return fault.Invalid(field, key,
			fmt.Sprintf("1 to %d bytes of UTF-8 without control characters other than U+001F", MaxRecordKey))
	}
	return nil
}

// PrepareItems refuses invalid items and returns them sorted by key, keeping the last one of each key. The
// order prevents deadlocks of concurrent writers.
func PrepareItems(items []RecordItem) ([]RecordItem, error) {
	if len(items) > MaxRecordBatch {
		return nil, fault.Invalid("items", fault.Length(len(items)),
			fmt.Sprintf("a list of at most %d items", MaxRecordBatch))
	}
	bytes := 0
	for i := range items {
		at := fmt.Sprintf("items[%d].", i)
		if err := checkRecordKey(at+"key", items[i].Key); err != nil {
			return nil, err
		}
		if err := checkRecordBody(at+"body", items[i].Body); err != nil {
			return nil, err
		}
		bytes += len(items[i].Key) + len(items[i].Body)
	}
	if bytes > MaxRecordBytes {
		return nil, tooManyBytes("items", bytes, MaxRecordBytes)
	}
	latest := slices.Clone(items)
	slices.Reverse(latest)
	slices.SortStableFunc(latest, func(a, b RecordItem) int { return strings.Compare(a.Key, b.Key) })
	return slices.CompactFunc(latest, func(a, b RecordItem) bool { return a.Key == b.Key }), nil
}

// CheckChanges refuses invalid changes.
func CheckChanges(changes []ItemChange) error {
	if len(changes) > MaxRecordBatch {
		return fault.Invalid("changes", fault.Length(len(changes)),
			fmt.Sprintf("a list of at most %d changes", MaxRecordBatch))
	}
	bytes, keys := 0, map[string]bool{}
	for i := range changes {
		c, at := &changes[i], fmt.Sprintf("changes[%d].", i)
		if err := checkRecordKey(at+"key", c.Key); err != nil {
			return err
		}
		if c.From == nil && c.To == nil || keys[c.Key] {
			return fault.Invalid(at+"key", c.Key, "named once, with a body before or after")
		}
		if c.To != nil {
			if err := checkRecordBody(at+"to", c.To); err != nil {
				return err
			}
		}
		keys[c.Key] = true
		bytes += len(c.Key) + len(c.From) + len(c.To)
	}
	if bytes > MaxRecordBytes {
		return tooManyBytes("changes", bytes, MaxRecordBytes)
	}
	return nil
}

// PrepareKeys refuses invalid keys and returns them sorted, without duplicates.
func PrepareKeys(keys []string) ([]string, error) {
	if len(keys) > MaxRecordBatch {
		return nil, fault.Invalid("keys", fault.Length(len(keys)),
			fmt.Sprintf("a list of at most %d keys", MaxRecordBatch))
	}
	for i, key := range keys {
		if err := checkRecordKey(fmt.Sprintf("keys[%d]", i), key); err != nil {
			return nil, err
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(keys))), nil
}

// Check refuses an invalid page.
func (p ItemPage) Check() error {
	if p.Limit < 1 || p.Limit > MaxRecordPage {
		return fault.Invalid("limit", p.Limit, fmt.Sprintf("1 to %d", MaxRecordPage))
	}
	if p.Prefix != "" {
		if err := checkRecordKey("prefix", p.Prefix); err != nil {
			return err
		}
	}
	if p.After != "" {
		return checkRecordKey("after", p.After)
	}
	return nil
}

// Bounds returns the range [from, below) of the page's keys, in byte order; After itself is excluded.
func (p ItemPage) Bounds() (from, below string) {
	return max(p.Prefix, p.After), above(p.Prefix)
}

// above returns the smallest text greater than all that begin with a prefix. UTF-8 sorts by bytes as by
// characters.
func above(prefix string) string {
	const beforeSurrogates, afterSurrogates = 0xd7ff, 0xe000
	runes := []rune(prefix)
	for i := len(runes) - 1; i >= 0; i-- {
		switch runes[i] {
		case utf8.MaxRune:
			continue
		case beforeSurrogates:
			runes[i] = afterSurrogates
		default:
			runes[i]++
		}
		return string(runes[:i+1])
	}
	return strings.Repeat(string(utf8.MaxRune), MaxRecordKey) // longer than any key
}

// Stamped returns the collection with a new version and times, to be stored if the stored version is still
// r.Version. Versions include the time, so that they exceed those of a deleted collection.
func (r Records) Stamped(now time.Time) Records {
	r.UpdatedAt = now.UTC().Truncate(time.Microsecond)
	if r.Version == 0 {
		r.CreatedAt = r.UpdatedAt
	}
	r.Version = max(r.Version+1, r.UpdatedAt.UnixMicro())
	return r
}

// NoRecords is the fault for a missing collection.
func NoRecords(ref RecordRef) error {
	return fault.New(fault.NotFound, "there are no records %q of kind %s", ref.ID, ref.Kind)
}

// RecordsExist is the fault for creating an existing collection.
func RecordsExist(ref RecordRef) error {
	return fault.New(fault.Conflict, "records %q of kind %s exist already", ref.ID, ref.Kind)
}

// RecordsChanged is the fault for saving an outdated version.
func RecordsChanged(ref RecordRef) error {
	return fault.New(fault.Conflict, "records %q of kind %s were changed meanwhile; read them again", ref.ID, ref.Kind)
}
