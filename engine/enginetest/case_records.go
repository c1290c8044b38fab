package enginetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

func recordsCases() []testCase {
	return []testCase{
		{"records/made, read, listed, deleted", recordsLife},
		{"records/versions", recordsVersions},
		{"records/many save at the same time", recordsRace},
		{"records/tenants and kinds apart", recordsApart},
		{"records/items in order", itemsInOrder},
		{"records/items by prefix", itemsByPrefix},
		{"records/items replaced and deleted", itemsChanged},
		{"records/items changed as they were read", itemsChangedAsRead},
		{"records/many change an item at the same time", itemsRace},
		{"records/bodies byte for byte", itemBodies},
		{"records/limits", recordsLimits},
		{"records/large batches", largeBatches},
		{"records/many items deleted", manyItemsDeleted},
		{"records/written while they are deleted", recordsDeletedWhileWritten},
		{"records/of nothing", recordsOfNothing},
		{"records/a context that ends", recordsOfEndedContexts},
	}
}

// kept is a collection of a case.
type kept struct {
	engine.RecordKeeper
	t   *testing.T
	ref engine.RecordRef
}

// records makes a collection that is deleted when the case ends.
func (s *suite) records(t *testing.T) *kept {
	t.Helper()
	k := s.unmade(t)
	k.save(0, `{}`)
	return k
}

// unmade is the name of a collection that there is not; one that is made goes when the case ends.
func (s *suite) unmade(t *testing.T) *kept {
	t.Helper()
	k := keeperOf(t, s.engine)
	t.Cleanup(func() {
		if err := k.DeleteRecords(context.Background(), k.ref); err != nil && !fault.Is(err, fault.NotFound) {
			t.Errorf("deleting the records: %v", err)
		}
	})
	return k
}

// keeperOf is the engine as a keeper, with a name that no collection has.
func keeperOf(t *testing.T, e engine.Engine) *kept {
	t.Helper()
	keeper, ok := e.(engine.RecordKeeper)
	if !ok {
		t.Fatalf("%s keeps no records", e.Name())
	}
	return &kept{
		RecordKeeper: keeper, t: t,
		ref: engine.RecordRef{Tenant: unique("tenant"), Kind: "query-set", ID: unique("set")},
	}
}

func (k *kept) save(version int64, head string) engine.Records {
	k.t.Helper()
	saved, err := k.SaveRecords(k.t.Context(), engine.Records{RecordRef: k.ref, Version: version, Head: []byte(head)})
	if err != nil {
		k.t.Fatalf("saving after version %d: %v", version, err)
	}
	return saved
}

func (k *kept) put(items ...engine.RecordItem) {
	k.t.Helper()
	if err := k.PutItems(k.t.Context(), k.ref, items); err != nil {
		k.t.Fatalf("writing %d items: %v", len(items), err)
	}
}

// putKeys stores items whose body is their key.
func (k *kept) putKeys(keys ...string) {
	k.t.Helper()
	items := make([]engine.RecordItem, len(keys))
	for i, key := range keys {
		items[i] = item(key, quoted(key))
	}
	k.put(items...)
}

// page gives "key=body" of a page.
func (k *kept) page(page engine.ItemPage) []string {
	k.t.Helper()
	items, err := k.Items(k.t.Context(), k.ref, page)
	if err != nil {
		k.t.Fatalf("reading %+v: %v", page, err)
	}
	list := []string{}
	for i := range items {
		list = append(list, items[i].Key+"="+string(items[i].Body))
	}
	return list
}

// holds reads all items and counts them.
func (k *kept) holds(want ...string) {
	k.t.Helper()
	if got := k.page(engine.ItemPage{Limit: 100}); !slices.Equal(got, want) {
		k.t.Errorf("the items are %q, want %q", got, want)
	}
	k.counts(len(want))
}

func (k *kept) counts(want int) {
	k.t.Helper()
	if n, err := k.CountItems(k.t.Context(), k.ref); n != want || err != nil {
		k.t.Errorf("%d items, %v; want %d", n, err, want)
	}
}

func (k *kept) ids(tenant, kind string) []string {
	k.t.Helper()
	all, err := k.ListRecords(k.t.Context(), tenant, kind)
	if err != nil {
		k.t.Fatalf("listing: %v", err)
	}
	var ids []string
	for i := range all {
		if all[i].Tenant != tenant || all[i].Kind != kind {
			k.t.Errorf("the list of %s and %s has %+v", tenant, kind, all[i])
		}
		ids = append(ids, all[i].ID)
	}
	return ids
}

func item(key, body string) engine.RecordItem {
	return engine.RecordItem{Key: key, Body: json.RawMessage(body)}
}

func quoted(text string) string {
	body, _ := json.Marshal(text) // a text can be
	return string(body)
}

func wantKind(t *testing.T, what string, err error, kind fault.Kind) {
	t.Helper()
	if !fault.Is(err, kind) {
		t.Errorf("%s: %v, want %s", what, err, kind)
	}
}

func recordsLife(t *testing.T, s *suite) {
	k := s.unmade(t)
	const head = `{"name": "退款 \u0000 <b>", "n": 1.10, "big": 12345678901234567890}`
	before := time.Now().Add(-time.Second)
	saved := k.save(0, head)
	found, err := k.Records(t.Context(), k.ref)
	if err != nil || !sameRecords(&found, &saved) || string(found.Head) != head {
		t.Errorf("read %+v, %v; saved %+v", found, err, saved)
	}
	if found.Version < 1 || found.Version > 1<<53 || found.CreatedAt.Before(before) ||
		!found.CreatedAt.Equal(found.UpdatedAt) || found.CreatedAt.Location() != time.UTC {
		t.Errorf("version and times of %+v", found)
	}
	if ids := k.ids(k.ref.Tenant, k.ref.Kind); !slices.Equal(ids, []string{k.ref.ID}) {
		t.Errorf("listed %q", ids)
	}
	k.putKeys("a")
	if err := k.DeleteRecords(t.Context(), k.ref); err != nil {
		t.Fatal(err)
	}
	_, err = k.Records(t.Context(), k.ref)
	wantKind(t, "what was deleted", err, fault.NotFound)
	wantKind(t, "deleting it twice", k.DeleteRecords(t.Context(), k.ref), fault.NotFound)
	if ids := k.ids(k.ref.Tenant, k.ref.Kind); len(ids) != 0 {
		t.Errorf("listed %q", ids)
	}
	k.save(0, head)
	k.holds() // nothing of what the one before had
}

func sameRecords(a, b *engine.Records) bool {
	return a.RecordRef == b.RecordRef && a.Version == b.Version && a.CreatedAt.Equal(b.CreatedAt) &&
		a.UpdatedAt.Equal(b.UpdatedAt) && bytes.Equal(a.Head, b.Head)
}

func recordsVersions(t *testing.T, s *suite) {
	k := s.unmade(t)
	conflict := func(version int64) {
		t.Helper()
		_, err := k.SaveRecords(t.Context(), engine.Records{RecordRef: k.ref, Version: version, Head: []byte(`"lost"`)})
		wantKind(t, fmt.Sprintf("saving after version %d", version), err, fault.Conflict)
	}
	first := k.save(0, `1`)
	conflict(0)
	conflict(first.Version + 1)
	k.putKeys("a")
	second := k.save(first.Version, `2`)
	if second.Version <= first.Version || !second.CreatedAt.Equal(first.CreatedAt) ||
		second.UpdatedAt.Before(first.UpdatedAt) {
		t.Errorf("%+v after %+v", second, first)
	}
	conflict(first.Version)
	found, err := k.Records(t.Context(), k.ref)
	if err != nil || !sameRecords(&found, &second) || string(found.Head) != `2` {
		t.Errorf("read %+v, %v; saved %+v", found, err, second)
	}
	k.holds(`a="a"`)
	if err := k.DeleteRecords(t.Context(), k.ref); err != nil {
		t.Fatal(err)
	}
	if again := k.save(0, `3`); again.Version <= second.Version {
		t.Errorf("version %d of one that was made after version %d was deleted", again.Version, second.Version)
	}
	conflict(second.Version)
}

// recordsRace: of all who save after the same version one succeeds, whoever they are.
func recordsRace(t *testing.T, s *suite) {
	k := s.unmade(t)
	version := int64(0)
	for round := range 4 {
		const writers = 20
		saved, errs := make([]engine.Records, writers), make([]error, writers)
		var all sync.WaitGroup
		for w := range writers {
			all.Go(func() {
				saved[w], errs[w] = k.SaveRecords(t.Context(), engine.Records{
					RecordRef: k.ref, Version: version, Head: fmt.Appendf(nil, "%d", w),
				})
			})
		}
		all.Wait()
		winner := -1
		for w := range writers {
			switch {
			case errs[w] == nil && winner >= 0:
				t.Fatalf("round %d: %d and %d have saved after version %d", round, winner, w, version)
			case errs[w] == nil:
				winner = w
			default:
				wantKind(t, "one who came later", errs[w], fault.Conflict)
			}
		}
		if winner < 0 {
			t.Fatalf("round %d: nobody has saved", round)
		}
		found, err := k.Records(t.Context(), k.ref)
		if err != nil || !sameRecords(&found, &saved[winner]) {
			t.Errorf("round %d: read %+v, %v; saved %+v", round, found, err, saved[winner])
		}
		version = found.Version
	}
}

func recordsApart(t *testing.T, s *suite) {
	mine := s.records(t)
	other := func(change func(*engine.RecordRef)) *kept {
		k := s.unmade(t)
		k.ref = mine.ref
		change(&k.ref)
		k.save(0, `{}`)
		return k
	}
	all := []*kept{
		mine,
		other(func(r *engine.RecordRef) { r.Tenant += "-2" }),
		other(func(r *engine.RecordRef) { r.Kind = "run" }),
		other(func(r *engine.RecordRef) { r.ID += "-𝄞" }),
		other(func(r *engine.RecordRef) { r.ID += "-\uffee" }), // before it by bytes, after it in UTF-16
		other(func(r *engine.RecordRef) { r.ID += "-集" }),
	}
	for i, k := range all {
		k.put(item("same", fmt.Sprint(i)))
	}
	for i, k := range all {
		k.holds(fmt.Sprintf("same=%d", i))
	}
	f := func(tenant, kind string, want ...*kept) {
		t.Helper()
		var ids []string
		for _, k := range want {
			ids = append(ids, k.ref.ID)
		}
		if got := mine.ids(tenant, kind); !slices.Equal(got, ids) {
			t.Errorf("%s, %s: %q, want %q", tenant, kind, got, ids)
		}
	}
	f(mine.ref.Tenant, mine.ref.Kind, mine, all[5], all[4], all[3])
	f(mine.ref.Tenant, "run", all[2])
	f(mine.ref.Tenant+"-2", mine.ref.Kind, all[1])
	f(mine.ref.Tenant+"-2", "run")
	if err := mine.DeleteRecords(t.Context(), mine.ref); err != nil {
		t.Fatal(err)
	}
	for i, k := range all[1:] {
		k.holds(fmt.Sprintf("same=%d", i+1))
	}
	f(mine.ref.Tenant, mine.ref.Kind, all[5], all[4], all[3])
}

func recordsLimits(t *testing.T, s *suite) {
	k := s.records(t)
	refused := func(field string, kind fault.Kind, err error) {
		t.Helper()
		f, ok := err.(*fault.Error) //nolint:errorlint // as it is returned
		if !ok || f.Kind != kind || f.Field != field || !strings.HasPrefix(f.Detail, field+" ") {
			t.Errorf("%#v, want %s of %s", err, kind, field)
		}
	}
	put := func(field string, kind fault.Kind, items ...engine.RecordItem) {
		t.Helper()
		refused(field, kind, k.PutItems(t.Context(), k.ref, append([]engine.RecordItem{item("fine", `1`)}, items...)))
	}
	const bad, big = fault.InvalidArgument, fault.TooLarge
	long := strings.Repeat("k", engine.MaxRecordKey)
	for _, key := range []string{"", long + "k", "a\x00", "a\n", "\x7f", "\u0085", "\xff", "a\xed\xa0\x80"} {
		put("items[1].key", bad, item(key, `1`))
		_, err := k.DeleteItems(t.Context(), k.ref, []string{"fine", key})
		refused("keys[1]", bad, err)
		if key != "" {
			_, err = k.Items(t.Context(), k.ref, engine.ItemPage{Prefix: key, Limit: 1})
			refused("prefix", bad, err)
			_, err = k.Items(t.Context(), k.ref, engine.ItemPage{After: key, Limit: 1})
			refused("after", bad, err)
		}
	}
	for _, body := range []string{"", "{", "1 2", "\"\xff\"", "NaN"} {
		put("items[1].body", bad, item("a", body))
		_, err := k.SaveRecords(t.Context(), engine.Records{RecordRef: k.ref, Head: []byte(body)})
		refused("head", bad, err)
	}
	largest := `"` + strings.Repeat("x", engine.MaxRecordBody-2) + `"`
	put("items[1].body", big, item("a", largest+" "))
	_, err := k.SaveRecords(t.Context(), engine.Records{RecordRef: k.ref, Head: []byte(largest + " ")})
	refused("head", big, err)
	_, err = k.SaveRecords(t.Context(), engine.Records{RecordRef: k.ref, Version: -1, Head: []byte(`1`)})
	refused("version", bad, err)
	for _, limit := range []int{0, -1, engine.MaxRecordPage + 1} {
		_, err = k.Items(t.Context(), k.ref, engine.ItemPage{Limit: limit})
		refused("limit", bad, err)
	}
	refused("items", bad, k.PutItems(t.Context(), k.ref, make([]engine.RecordItem, engine.MaxRecordBatch+1)))
	_, err = k.DeleteItems(t.Context(), k.ref, make([]string, engine.MaxRecordBatch+1))
	refused("keys", bad, err)
	var eight []engine.RecordItem
	for i := range 8 {
		eight = append(eight, item(fmt.Sprint(i), largest))
	}
	refused("items", big, k.PutItems(t.Context(), k.ref, eight))
	k.holds()
	for field, ref := range map[string]engine.RecordRef{
		"tenant": {Kind: "k", ID: "i"}, "kind": {Tenant: "t", Kind: "\x1f", ID: "i"},
		"id": {Tenant: "t", Kind: "k", ID: strings.Repeat("i", engine.MaxRecordName+1)},
	} {
		for name, err := range everyCall(t.Context(), k, ref) {
			if field != "id" || name != "list" {
				refused(field, bad, err)
			}
		}
	}
	k.put(item(long, `1`), item("largest", largest))
	k.counts(2)
}

// everyCall makes every call for a collection.
func everyCall(ctx context.Context, k engine.RecordKeeper, ref engine.RecordRef) map[string]error {
	errs := map[string]error{}
	_, errs["read"] = k.Records(ctx, ref)
	_, errs["list"] = k.ListRecords(ctx, ref.Tenant, ref.Kind)
	_, errs["save"] = k.SaveRecords(ctx, engine.Records{RecordRef: ref, Version: 1, Head: []byte(`1`)})
	errs["put"] = k.PutItems(ctx, ref, []engine.RecordItem{item("a", `1`)})
	_, errs["change"] = k.ChangeItems(ctx, ref, []engine.ItemChange{{Key: "a", To: []byte(`1`)}})
	errs["put nothing"] = k.PutItems(ctx, ref, nil)
	_, errs["items"] = k.Items(ctx, ref, engine.ItemPage{Limit: 1})
	_, errs["delete items"] = k.DeleteItems(ctx, ref, []string{"a"})
	_, errs["delete no items"] = k.DeleteItems(ctx, ref, nil)
	_, errs["count"] = k.CountItems(ctx, ref)
	errs["delete"] = k.DeleteRecords(ctx, ref)
	return errs
}

func recordsOfNothing(t *testing.T, s *suite) {
	k := s.unmade(t)
	for name, err := range everyCall(t.Context(), k, k.ref) {
		if name != "list" {
			wantKind(t, name, err, fault.NotFound)
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, err := range engine.AllItems(t.Context(), k, k.ref, "") {
		wantKind(t, "all items", err, fault.NotFound)
	}
}

func recordsOfEndedContexts(t *testing.T, s *suite) {
	k := s.records(t)
	k.putKeys("a")
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	late, end := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer end()
	for ctx, kind := range map[context.Context]fault.Kind{canceled: fault.Canceled, late: fault.Timeout} {
		for name, err := range everyCall(ctx, k, k.ref) {
			wantKind(t, name, err, kind)
		}
	}
	k.holds(`a="a"`)
}

// recordsDeletedWhileWritten: whoever writes to a collection either has written before it was
// deleted or is told that there is none, and nothing of it is left.
func recordsDeletedWhileWritten(t *testing.T, s *suite) {
	k := s.records(t)
	begun := make(chan struct{}, 100)
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for i := 0; ; i++ {
				err := k.PutItems(t.Context(), k.ref, []engine.RecordItem{
					item("same", fmt.Sprint(w)), item(fmt.Sprint(w, "-", i), `1`),
				})
				if err != nil {
					wantKind(t, "writing", err, fault.NotFound)
					return
				}
				select {
				case begun <- struct{}{}:
				default:
				}
			}
		})
	}
	for range 4 {
		<-begun
	}
	var deleters sync.WaitGroup
	for range 2 {
		deleters.Go(func() {
			if err := k.DeleteRecords(t.Context(), k.ref); err != nil {
				wantKind(t, "deleting", err, fault.NotFound)
			}
		})
	}
	deleters.Wait()
	writers.Wait()
	_, err := k.Records(t.Context(), k.ref)
	wantKind(t, "what was deleted", err, fault.NotFound)
	k.save(0, `{}`)
	k.counts(0)
}

// SharedRecords holds engines of one data to each other: what is acknowledged by one is there at
// once for another. again gives an engine of the same data at each call; where only one may be
// open at a time it closes the one before.
func SharedRecords(t *testing.T, again func() engine.Engine) {
	t.Helper()
	k := keeperOf(t, again())
	saved := k.save(0, `{"name": "nightly"}`)
	k.put(numbered(0)...)
	k.putKeys(oddKeys()...)
	if _, err := k.DeleteItems(t.Context(), k.ref, []string{"a", "中"}); err != nil {
		t.Fatal(err)
	}
	k.RecordKeeper = keeperOf(t, again()).RecordKeeper
	found, err := k.Records(t.Context(), k.ref)
	if err != nil || !sameRecords(&found, &saved) {
		t.Errorf("read %+v, %v; saved %+v", found, err, saved)
	}
	k.counts(engine.MaxRecordBatch + len(oddKeys()) - 2)
	if got := k.page(engine.ItemPage{Prefix: "中", Limit: 2}); !slices.Equal(got, []string{`中文="中文"`, `中文字="中文字"`}) {
		t.Errorf("items %q", got)
	}
	k.save(found.Version, `{}`)
	if err := k.DeleteRecords(t.Context(), k.ref); err != nil {
		t.Fatal(err)
	}
	k.RecordKeeper = keeperOf(t, again()).RecordKeeper
	_, err = k.Records(t.Context(), k.ref)
	wantKind(t, "what another has deleted", err, fault.NotFound)
}
