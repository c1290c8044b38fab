package synonyms

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/versions"
)

func openStore(t *testing.T, folder string) *Store {
	t.Helper()
	s, err := OpenStore(t.Context(), StoreOptions{Path: folder, Tokenizer: shared})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// expansions are "target^weight" of what a tenant's knowledge base has for words.
func expansions(s *Store, tenant, kb string, words ...string) string {
	var all []string
	for _, e := range s.For(tenant, kb).Expand(words).All {
		all = append(all, fmt.Sprintf("%s^%v", strings.Join(e.Terms, " "), e.Weight))
	}
	return strings.Join(all, " ")
}

func TestEditsAreInUseAtOnceAndStay(t *testing.T) {
	folder := t.TempDir()
	s := openStore(t, folder)
	save := func(s *Store, tenant, set, text string) *versions.Version {
		t.Helper()
		v, err := s.Save(t.Context(), versions.Edit{Tenant: tenant, Set: set, Text: text, Author: "editor"})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	save(s, "acme", "manuals", "car, auto^0.5")
	save(s, "acme", Global, "car => vehicle")
	if v := save(s, "acme", "manuals", "car, auto^0.5\nrefund => moneyback^0.7"); v.Version != 2 || v.Rules != 2 {
		t.Errorf("saved %+v", v)
	}
	again := openStore(t, folder)
	for _, s := range []*Store{s, again} {
		for _, c := range [][2]string{
			{expansions(s, "acme", "manuals", "car"), "auto^0.5 vehicl^1"},
			{expansions(s, "acme", "manuals", "refund"), "moneyback^0.7"},
			{expansions(s, "acme", "other", "car"), "vehicl^1"},
			{expansions(s, "rival", "manuals", "car"), ""},
		} {
			if c[0] != c[1] {
				t.Errorf("got %q, want %q", c[0], c[1])
			}
		}
	}
	if before := s.Fingerprint("acme", "manuals"); before != again.Fingerprint("acme", "manuals") {
		t.Error("the same versions have different fingerprints")
	} else if save(s, "acme", Global, ""); s.Fingerprint("acme", "manuals") == before {
		t.Error("an edit leaves the fingerprint as it was")
	}
}

// TestTextsAreBounded: 4 MiB in all, a line of 1 MiB.
func TestTextsAreBounded(t *testing.T) {
	s := openStore(t, t.TempDir())
	f := func(text string, fits bool) {
		t.Helper()
		_, err := s.Save(t.Context(), versions.Edit{Tenant: "acme", Set: "kb", Text: text})
		if fits != (err == nil) || !fits && !fault.Is(err, fault.InvalidArgument) {
			t.Errorf("%d bytes: %v", len(text), err)
		}
	}
	comment := strings.Repeat("#", 1<<10-1) + "\n"
	f(strings.Repeat(comment, 4<<10), true)
	f(strings.Repeat(comment, 4<<10)+"#", false)
	f(strings.Repeat("#", 1<<20-1)+"\n", true)
	f(strings.Repeat("#", 1<<20)+"\n", false)
}

func TestVersions(t *testing.T) {
	s := openStore(t, t.TempDir())
	save := func(text string, base int) error {
		_, err := s.Save(t.Context(), versions.Edit{Tenant: "acme", Set: "kb", Text: text, Base: &base, Author: "a", Comment: text})
		return err
	}
	if v, err := s.Get(t.Context(), "acme", "kb", 0); err != nil || v.Version != 0 || v.Text != "" {
		t.Errorf("before the first edit: %+v, %v", v, err)
	}
	for i, text := range []string{"one, two", "three, four"} {
		if err := save(text, i); err != nil {
			t.Fatal(err)
		}
	}
	if err := save("lost, update", 1); !fault.Is(err, fault.Conflict) {
		t.Errorf("an edit of an old version: %v, want conflict", err)
	}
	err := save("good, line\n=> bad", 2)
	if !fault.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), "2") {
		t.Errorf("a bad line: %v, want invalid_argument with its number", err)
	}
	v, err := s.Rollback(t.Context(), versions.Edit{Tenant: "acme", Set: "kb"}, 1)
	if err != nil || v.Version != 3 || v.Text != "one, two" || !strings.Contains(v.Comment, "version 1") {
		t.Errorf("rolled back to %+v, %v", v, err)
	}
	if _, err := s.Rollback(t.Context(), versions.Edit{Tenant: "acme", Set: "kb"}, 9); !fault.Is(err, fault.NotFound) {
		t.Errorf("back to what never was: %v, want not_found", err)
	}
	history, err := s.History(t.Context(), "acme", "kb", 2)
	if err != nil || len(history) != 2 || history[0].Version != 3 || history[1].Author != "a" || history[0].Text != "" {
		t.Errorf("history %+v, %v", history, err)
	}
	list, err := s.List(t.Context(), "acme")
	if err != nil || len(list) != 1 || list[0].Version != 3 || list[0].Rules != 1 {
		t.Errorf("list %+v, %v", list, err)
	}
	if old, err := s.Get(t.Context(), "acme", "kb", 2); err != nil || old.Text != "three, four" {
		t.Errorf("version 2 is %+v, %v", old, err)
	}
}

func TestTry(t *testing.T) {
	s := openStore(t, t.TempDir())
	applied, cut, err := s.Try("draft", "退款 => 退钱^0.9\ncar => auto", "如何申请退款")
	if err != nil || cut != 0 || len(applied) != 1 || strings.Join(applied[0].Source, "") != "退款" || applied[0].Weight != 0.9 ||
		!strings.HasPrefix(applied[0].Rule, "draft:1") {
		t.Errorf("applied %+v, %v", applied, err)
	}
	if _, _, err := s.Try("draft", "=>", "x"); !fault.Is(err, fault.InvalidArgument) {
		t.Errorf("a bad draft: %v, want invalid_argument", err)
	}
	if expansions(s, "acme", "draft", "car") != "" {
		t.Error("a draft came into use")
	}
}

// Of editors of the same version one wins.
func TestOneOfManyEditorsWins(t *testing.T) {
	s := openStore(t, t.TempDir())
	base, won := 0, 0
	var mu sync.Mutex
	var editors sync.WaitGroup
	for i := range 8 {
		editors.Go(func() {
			_, err := s.Save(t.Context(), versions.Edit{Tenant: "acme", Set: "kb", Text: fmt.Sprintf("a, b%d", i), Base: &base})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won++
			} else if !fault.Is(err, fault.Conflict) {
				t.Error(err)
			}
		})
	}
	editors.Wait()
	if won != 1 {
		t.Errorf("%d editors won, want 1", won)
	}
}

// The newest versions stay, and a deleted set has none: the next of its name begins anew.
func TestVersionsEnd(t *testing.T) {
	folder := t.TempDir()
	s, err := OpenStore(t.Context(), StoreOptions{Path: folder, Tokenizer: shared, Versions: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // a test's file
	save := func(set, text string) {
		t.Helper()
		if _, err := s.Save(t.Context(), versions.Edit{Tenant: "acme", Set: set, Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 5 {
		save("manuals", fmt.Sprintf("car, auto%d", i))
	}
	save("other", "car, lorry")
	history, err := s.History(t.Context(), "acme", "manuals", 10)
	if err != nil || len(history) != 3 || history[0].Version != 5 || history[2].Version != 3 {
		t.Errorf("kept: %+v, %v", history, err)
	}
	if _, err := s.Rollback(t.Context(), versions.Edit{Tenant: "acme", Set: "manuals"}, 2); !fault.Is(err, fault.NotFound) {
		t.Errorf("back to what was dropped: %v", err)
	}
	for range 2 {
		if err := s.Delete(t.Context(), "acme", "manuals"); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range []*Store{s, openStore(t, folder)} {
		history, err := s.History(t.Context(), "acme", "manuals", 10)
		used, other := expansions(s, "acme", "manuals", "car"), expansions(s, "acme", "other", "car")
		if err != nil || len(history) != 0 || used != "" || other == "" {
			t.Errorf("after the delete %+v, %v, %q, %q", history, err, used, other)
		}
	}
}
