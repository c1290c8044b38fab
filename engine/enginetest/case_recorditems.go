package enginetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// oddKeys are in the order of their bytes, which is neither that of UTF-16 nor of any language.
func oddKeys() []string {
	return []string{
		" ", "%", "A", "Z", `\`, "_", "a", engine.RecordKey("a", ""), engine.RecordKey("a", "b"), "a b", `a"b\c`, "a%", "a_",
		"aa", "b", "é", "\u202e", "中", "中文", "中文字", "文", "\ue000", "\uffff", "😀", "😀a", "\U0010ffff", "\U0010ffffz",
	}
}

func itemsInOrder(t *testing.T, s *suite) {
	k := s.records(t)
	keys := oddKeys()
	shuffled := slices.Clone(keys)
	for i := range shuffled { // any order but theirs
		j := (i * 7) % len(shuffled)
		shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
	}
	k.putKeys(shuffled[:10]...)
	k.putKeys(shuffled[10:]...)
	k.counts(len(keys))
	var want []string
	for _, key := range keys {
		want = append(want, key+"="+quoted(key))
	}
	for _, size := range []int{1, 4, len(keys), engine.MaxRecordPage} {
		var got []string
		page := engine.ItemPage{Limit: size}
		for {
			some := k.page(page)
			if len(some) == 0 {
				break
			}
			got = append(got, some...)
			if len(some) > size || len(some) < size && len(got) < len(want) {
				t.Fatalf("a page of %d has %d items", size, len(some))
			}
			page.After = keys[min(len(got), len(keys))-1]
		}
		if !slices.Equal(got, want) {
			t.Errorf("pages of %d:\n%q, want\n%q", size, got, want)
		}
	}
	if got := k.page(engine.ItemPage{After: "a#", Limit: 1}); !slices.Equal(got, []string{`a%="a%"`}) {
		t.Errorf("after a key that there is not: %q", got)
	}
}

func itemsByPrefix(t *testing.T, s *suite) {
	k := s.records(t)
	k.putKeys(oddKeys()...)
	f := func(page engine.ItemPage, want ...string) {
		t.Helper()
		page.Limit = max(page.Limit, 1)
		var got []string
		for range len(want) + 1 {
			items, err := k.Items(t.Context(), k.ref, page)
			if err != nil {
				t.Fatalf("%+v: %v", page, err)
			}
			for i := range items {
				got = append(got, items[i].Key)
			}
			if len(items) > 0 {
				page.After = items[len(items)-1].Key
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v: %q, want %q", page, got, want)
		}
	}
	ofA := []string{"a", "a\x1f", "a\x1fb", "a b", `a"b\c`, "a%", "a_", "aa"}
	f(engine.ItemPage{Prefix: "a"}, ofA...)
	f(engine.ItemPage{Prefix: "a", Limit: 3}, ofA...)
	f(engine.ItemPage{Prefix: "a", Limit: 100}, ofA...)
	f(engine.ItemPage{Prefix: "a", After: "a b", Limit: 2}, `a"b\c`, "a%", "a_", "aa")
	f(engine.ItemPage{Prefix: "a", After: "A", Limit: 100}, ofA...)
	f(engine.ItemPage{Prefix: "a", After: "b", Limit: 100})
	f(engine.ItemPage{Prefix: engine.RecordKey("a", ""), Limit: 100}, "a\x1f", "a\x1fb")
	f(engine.ItemPage{Prefix: "a%", Limit: 100}, "a%")
	f(engine.ItemPage{Prefix: "_", Limit: 100}, "_")
	f(engine.ItemPage{Prefix: `\`, Limit: 100}, `\`)
	f(engine.ItemPage{Prefix: "中", Limit: 100}, "中", "中文", "中文字")
	f(engine.ItemPage{Prefix: "中文", Limit: 1}, "中文", "中文字")
	f(engine.ItemPage{Prefix: "😀", Limit: 100}, "😀", "😀a")
	f(engine.ItemPage{Prefix: "\U0010ffff", Limit: 100}, "\U0010ffff", "\U0010ffffz")
	f(engine.ItemPage{Prefix: "\ud7ff", Limit: 100})
	f(engine.ItemPage{Prefix: "nothing", Limit: 100})
	var all []string
	for found, err := range engine.AllItems(t.Context(), k, k.ref, "a") {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found.Key)
	}
	if !slices.Equal(all, ofA) {
		t.Errorf("all of the prefix: %q", all)
	}
}

func itemsChanged(t *testing.T, s *suite) {
	k := s.records(t)
	k.put()
	k.holds()
	k.put(item("a", `1`), item("b", `2`), item("c", `3`))
	k.put(item("a", `1`), item("b", `2`), item("c", `3`))
	k.holds("a=1", "b=2", "c=3")
	k.put(item("d", `4`), item("b", `{"x":[1,2]}`), item("b", `"last"`))
	k.holds("a=1", `b="last"`, "c=3", "d=4")
	f := func(want int, keys ...string) {
		t.Helper()
		if n, err := k.DeleteItems(t.Context(), k.ref, keys); n != want || err != nil {
			t.Errorf("deleting %q: %d, %v; want %d", keys, n, err, want)
		}
	}
	f(0)
	f(0, "nothing", "aa")
	f(2, "d", "a", "nothing", "a")
	f(0, "a")
	k.holds(`b="last"`, "c=3")
	k.put(item("a", `5`))
	k.holds("a=5", `b="last"`, "c=3")
}

// itemsChangedAsRead: a change is made only if the item is unchanged since it was read.
func itemsChangedAsRead(t *testing.T, s *suite) {
	k := s.records(t)
	k.put(item("a", `1`), item("b", `2`), item("c", ` 3`))
	f := func(key, from, to string, want bool) {
		body := func(text string) json.RawMessage {
			if text == "" {
				return nil
			}
			return json.RawMessage(text)
		}
		made, err := k.ChangeItems(t.Context(), k.ref, []engine.ItemChange{{Key: key, From: body(from), To: body(to)}})
		if err != nil || len(made) != 1 || made[0] != want {
			t.Errorf("%s from %q to %q: %t, %v; want %t", key, from, to, made, err, want)
		}
	}
	f("a", "", `9`, false)
	f("a", `2`, `9`, false)
	f("a", `1`, `4`, true)
	f("a", `1`, `5`, false)
	f("b", `1`, "", false)
	f("b", `2`, "", true)
	f("b", `2`, "", false)
	f("b", `2`, `3`, false)
	f("b", "", `7`, true)
	f("b", `7`, "", true)
	f("b", "", `8`, true)
	f("c", `3`, `9`, false) // byte for byte
	k.holds("a=4", "b=8", "c= 3")
	made, err := k.ChangeItems(t.Context(), k.ref, []engine.ItemChange{
		{Key: "z", To: []byte(`1`)}, {Key: "a", From: []byte(`1`), To: []byte(`2`)}, {Key: "b", From: []byte(`8`)},
	})
	if err != nil || !slices.Equal(made, []bool{true, false, true}) {
		t.Errorf("three at once: %t, %v", made, err)
	}
	k.holds("a=4", "c= 3", "z=1")
	for _, bad := range [][]engine.ItemChange{
		{{Key: "a"}},
		{{Key: "", To: []byte(`1`)}},
		{{Key: "a", To: []byte(`{`)}},
		{{Key: "x", To: []byte(`1`)}, {Key: "x", To: []byte(`2`)}},
		make([]engine.ItemChange, engine.MaxRecordBatch+1),
	} {
		_, err := k.ChangeItems(t.Context(), k.ref, bad)
		wantKind(t, "a bad change", err, fault.InvalidArgument)
	}
	if made, err := k.ChangeItems(t.Context(), k.ref, nil); err != nil || len(made) > 0 {
		t.Errorf("no change: %t, %v", made, err)
	}
}

// itemsRace: everybody adds one to some counts, again where somebody else was faster, and none is lost.
func itemsRace(t *testing.T, s *suite) {
	k := s.records(t)
	const writers, rounds = 6, 5
	keys := []string{"p", "q", "r"}
	add := func(w int) error {
		left := slices.Clone(keys)
		if w%2 == 0 {
			slices.Reverse(left)
		}
		for len(left) > 0 {
			var changes []engine.ItemChange
			for _, key := range left {
				found, err := k.Items(t.Context(), k.ref, engine.ItemPage{Prefix: key, Limit: 1})
				if err != nil {
					return err
				}
				change, n := engine.ItemChange{Key: key}, 0
				if len(found) > 0 {
					change.From = found[0].Body
					if n, err = strconv.Atoi(string(found[0].Body)); err != nil {
						return err
					}
				}
				change.To = []byte(strconv.Itoa(n + 1))
				changes = append(changes, change)
			}
			made, err := k.ChangeItems(t.Context(), k.ref, changes)
			if err != nil {
				return err
			}
			left = left[:0]
			for i := range changes {
				if !made[i] {
					left = append(left, changes[i].Key)
				}
			}
		}
		return nil
	}
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for range rounds {
				if err := add(w); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	k.holds("p=30", "q=30", "r=30")
}

func itemBodies(t *testing.T, s *suite) {
	k := s.records(t)
	bodies := []string{
		`null`, `true`, `"text"`, `[]`, `{}`, ` { "b" : 1 , "a" : 1.50 } `, `1e400`, `123456789012345678901234567890`, `-0.0`,
		`{"a":1,"a":2}`, `{"":1,".":2,"a..b":3," ":4}`, `"\u0000 \ud800 \u001f <&> 中文 😀"`, "[\n\t1\r\n]",
		`{"created_at":"never","tenant":"another","key":{"x":1}}`, strings.Repeat("[", 500) + strings.Repeat("]", 500),
		`"` + strings.Repeat("\U0001f600", 200_000) + `"`,
	}
	items := make([]engine.RecordItem, len(bodies))
	for i, body := range bodies {
		items[i] = item(fmt.Sprintf("%02d", i), body)
	}
	k.put(items...)
	found, err := k.Items(t.Context(), k.ref, engine.ItemPage{Limit: 100})
	if err != nil || len(found) != len(items) {
		t.Fatalf("%d items, %v; want %d", len(found), err, len(items))
	}
	for i := range items {
		if found[i].Key != items[i].Key || !bytes.Equal(found[i].Body, items[i].Body) {
			t.Errorf("item %s: %.200s, want %.200s", found[i].Key, found[i].Body, items[i].Body)
		}
	}
}

// numbered gives items that are as many as a batch may have.
func numbered(batch int) []engine.RecordItem {
	items := make([]engine.RecordItem, engine.MaxRecordBatch)
	for i := range items {
		key := engine.RecordKey(fmt.Sprintf("q%04d", batch), fmt.Sprintf("文档-%04d", i))
		items[i] = item(key, fmt.Sprintf(`{"rank": %d, "score": 0.5}`, i))
	}
	return items
}

func largeBatches(t *testing.T, s *suite) {
	k := s.records(t)
	k.put(numbered(0)...)
	k.counts(1000)
	for range 2 {
		var all sync.WaitGroup
		for batch := range 4 { // the same keys at the same time, in any order
			all.Go(func() {
				items := numbered(1)
				if batch%2 == 0 {
					slices.Reverse(items)
				}
				if err := k.PutItems(t.Context(), k.ref, items); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	k.counts(2000)
	var wide []engine.RecordItem
	for i := range 7 {
		wide = append(wide, item(fmt.Sprint("wide", i), `"`+strings.Repeat(`\n`, engine.MaxRecordBody/2-10)+`"`))
	}
	k.put(wide...)
	for i := range 5 { // together more than one call takes, in number and in bytes
		wide = append(wide, item(fmt.Sprint("wider", i), string(wide[0].Body)))
	}
	many := slices.Concat(numbered(2), numbered(3), wide)
	if err := engine.PutAllItems(t.Context(), k, k.ref, many); err != nil {
		t.Fatal(err)
	}
	want := slices.Concat(numbered(0), numbered(1), many)
	n := 0
	for found, err := range engine.AllItems(t.Context(), k, k.ref, "") {
		if err != nil {
			t.Fatal(err)
		}
		if n >= len(want) || found.Key != want[n].Key || !bytes.Equal(found.Body, want[n].Body) {
			t.Fatalf("item %d is %.100q", n, found.Key)
		}
		n++
	}
	if n != len(want) {
		t.Errorf("%d items, want %d", n, len(want))
	}
	if got := len(k.page(engine.ItemPage{Limit: 1500})); got != 1500 {
		t.Errorf("a page of 1500 has %d", got)
	}
}

func manyItemsDeleted(t *testing.T, s *suite) {
	k, other := s.records(t), s.records(t)
	other.put(numbered(0)...)
	for batch := range 5 {
		k.put(numbered(batch)...)
	}
	k.counts(5000)
	if err := k.DeleteRecords(t.Context(), k.ref); err != nil {
		t.Fatal(err)
	}
	k.save(0, `{}`)
	k.counts(0)
	other.counts(1000)
}
