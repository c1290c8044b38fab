package versions_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/versions"
)

// compile makes lines of a text and refuses bad ones.
func compile(name string, version int, text string) ([]string, int, error) {
	if strings.Contains(text, "bad") {
		return nil, 0, fault.New(fault.InvalidArgument, "%s (version %d) is bad", name, version)
	}
	lines := strings.Split(text, "\n")
	return lines, len(lines), nil
}

func open(t *testing.T, o versions.Options[[]string]) *versions.Store[[]string] {
	t.Helper()
	o.File = "sets.db"
	if o.Compile == nil {
		o.Compile = compile
	}
	s, err := versions.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func inFolder(t *testing.T) versions.Options[[]string] {
	t.Helper()
	return versions.Options[[]string]{Folder: t.TempDir()}
}

// Promise: "Every save is a version" (docs/guide/en/presets.md).
// Promise: "every edit is a version" (docs/guide/en/synonyms.md).
func TestVersions(t *testing.T) {
	s := open(t, inFolder(t))
	save := func(text string, base int) error {
		_, err := s.Save(t.Context(), versions.Edit{Tenant: "acme", Set: "kb", Text: text, Base: &base, Author: "a", Comment: text})
		return err
	}
	if v, err := s.Get(t.Context(), "acme", "kb", 0); err != nil || v.Version != 0 || v.Text != "" {
		t.Errorf(`before the first edit: %+v, %v; want no error and v.Version 0 and v.Text ""`, v, err)
	}
	for i, text := range []string{"one", "two\nthree"} {
		if err := save(text, i); err != nil {
			t.Fatal(err)
		}
	}
	if err := save("lost", 1); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "version 2 is in use, saved by a at 20") {
		t.Errorf("an edit of an old version: %v, want conflict", err)
	}
	var refused *fault.Error
	if err := save("bad", 2); !errors.As(err, &refused) || refused.Field != "text" || !strings.Contains(refused.Detail, "version 3") {
		t.Errorf("a bad text: %v, want invalid_argument at text", err)
	}
	if err := save(strings.Repeat("x", versions.MaxText), 2); err != nil {
		t.Errorf("the longest text: %v", err)
	}
	if err := save(strings.Repeat("x", versions.MaxText+1), 3); !fault.Is(err, fault.InvalidArgument) {
		t.Errorf("a longer text: %v; want an error of kind InvalidArgument", err)
	}
	v, err := s.Rollback(t.Context(), versions.Edit{Tenant: "acme", Set: "kb"}, 1)
	if err != nil || v.Version != 4 || v.Text != "one" || !strings.Contains(v.Comment, "version 1") {
		t.Errorf(`rolled back to %+v, %v; want no error and v.Version 4 and v.Text "one" and "version 1" in it`, v, err)
	}
	if _, err := s.Rollback(t.Context(), versions.Edit{Tenant: "acme", Set: "kb"}, 9); !fault.Is(err, fault.NotFound) {
		t.Errorf("back to what never was: %v, want not_found", err)
	}
	history, err := s.History(t.Context(), "acme", "kb", 2)
	if err != nil || len(history) != 2 || history[0].Version != 4 || history[1].Author != "a" || history[0].Text != "" {
		t.Errorf(`history %+v, %v; want no error and 2 history and history[0].Version 4 and history[1].Author "a" and history[0].Text ""`, history, err)
	}
	list, err := s.List(t.Context(), "acme")
	if err != nil || len(list) != 1 || list[0].Version != 4 || list[0].Rules != 1 {
		t.Errorf("list %+v, %v; want no error and 1 list and list[0].Version 4 and list[0].Rules 1", list, err)
	}
	if old, err := s.Get(t.Context(), "acme", "kb", 2); err != nil || old.Text != "two\nthree" || old.Rules != 2 {
		t.Errorf(`version 2 is %+v, %v; want no error and old.Text "two\nthree" and old.Rules 2`, old, err)
	}
}

// What is in use is there after a restart, unless it no longer compiles; its fingerprint is of the
// text.
func TestInUse(t *testing.T) {
	o := inFolder(t)
	s := open(t, o)
	save := func(set, text string) {
		t.Helper()
		if _, err := s.Save(t.Context(), versions.Edit{Tenant: "acme", Set: set, Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	save("kb", "one")
	first := s.Fingerprint("acme", "kb")
	save("kb", "two")
	save("other", "three")
	if first == "" || s.Fingerprint("acme", "kb") == first || s.Fingerprint("acme", "none") != "" || s.InUse("rival", "kb") != nil {
		t.Error("fingerprints do not change with what is in use")
	}
	again := open(t, o)
	if got := again.InUse("acme", "kb"); len(got) != 1 || got[0] != "two" || again.Fingerprint("acme", "kb") != s.Fingerprint("acme", "kb") {
		t.Errorf("after a restart %v", got)
	}
	o.Compile = func(name string, version int, text string) ([]string, int, error) {
		if text == "three" {
			return nil, 0, fault.New(fault.InvalidArgument, "no longer")
		}
		return compile(name, version, text)
	}
	stricter := open(t, o)
	if stricter.InUse("acme", "kb") == nil || stricter.InUse("acme", "other") != nil {
		t.Error("a set that no longer compiles is in use, or costs another")
	}
}

// Of editors of the same version one wins.
func TestOneOfManyEditorsWins(t *testing.T) {
	s := open(t, inFolder(t))
	base, won := 0, 0
	var mu sync.Mutex
	var editors sync.WaitGroup
	for i := range 8 {
		editors.Go(func() {
			_, err := s.Save(t.Context(), versions.Edit{Tenant: "acme", Set: "kb", Text: fmt.Sprint(i), Base: &base})
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

// TestEditsWaitForEachOther: while a text is compiled, between the look at the version in use and the new one, nobody
// else saves or deletes.
func TestEditsWaitForEachOther(t *testing.T) {
	f := func(what string, other func(s *versions.Store[[]string], base *int) error) {
		t.Helper()
		var within func() // what goes on while the next text is compiled
		o := inFolder(t)
		o.Compile = func(name string, version int, text string) ([]string, int, error) {
			if now := within; now != nil {
				within = nil
				now()
			}
			return compile(name, version, text)
		}
		s, first, base := open(t, o), 0, 1
		if _, err := s.Save(t.Context(), versions.Edit{Tenant: "acme", Set: "kb", Text: "first", Base: &first}); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		within = func() {
			go func() { ended <- other(s, &base) }()
			select {
			case err := <-ended:
				t.Errorf("%s: it ended in the middle of another edit: %v", what, err)
				ended <- err
			case <-time.After(30 * time.Millisecond):
			}
		}
		_, err := s.Save(t.Context(), versions.Edit{Tenant: "acme", Set: "kb", Text: "second", Base: &base})
		if late := <-ended; err != nil || !fault.Is(late, fault.Conflict) {
			t.Errorf("%s: the first edit %v, the other %v; want a conflict of the other", what, err, late)
		}
		if got := s.InUse("acme", "kb"); len(got) != 1 || got[0] != "second" {
			t.Errorf(`%s: %q is in use; want 1 got and got[0] "second"`, what, got)
		}
	}
	f("another edit", func(s *versions.Store[[]string], base *int) error {
		_, err := s.Save(t.Context(), versions.Edit{Tenant: "acme", Set: "kb", Text: "other", Base: base})
		return err
	})
	f("a deletion", func(s *versions.Store[[]string], base *int) error { return s.Delete(t.Context(), "acme", "kb", base) })
}

// TestSetsOfATenant: each tenant has as many sets as it may and no more, and sees its own.
func TestSetsOfATenant(t *testing.T) {
	o := inFolder(t)
	o.Sets = 2
	s := open(t, o)
	f := func(tenant, set string, refused bool) {
		t.Helper()
		_, err := s.Save(t.Context(), versions.Edit{Tenant: tenant, Set: set, Text: "x"})
		if fault.Is(err, fault.Conflict) != refused || !refused && err != nil {
			t.Errorf("%s of %s: %v, refused should be %v", set, tenant, err, refused)
		}
	}
	f("acme", "a", false)
	f("acme", "b", false)
	f("acme", "c", true)
	f("acme", "a", false) // another version
	f("rival", "c", false)
	if got := s.Names("acme"); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf(`acme has %v; want {"a", "b"}`, got)
	}
	if got := s.Names("rival"); !slices.Equal(got, []string{"c"}) {
		t.Errorf(`rival has %v; want {"c"}`, got)
	}
	if err := s.Delete(t.Context(), "acme", "b", nil); err != nil {
		t.Fatal(err)
	}
	f("acme", "c", false)
}

// Who deletes, or goes back, says what they saw too; what comes after a deletion is never taken for
// what was there before.
func TestWhatNobodySawStays(t *testing.T) {
	s := open(t, inFolder(t))
	version := func(n int) *int { return &n }
	edit := versions.Edit{Tenant: "acme", Set: "kb", Text: "one"}
	for range 2 {
		if _, err := s.Save(t.Context(), edit); err != nil {
			t.Fatal(err)
		}
	}
	conflict := func(what string, err error, part string) {
		t.Helper()
		if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v, want a conflict that says %q", what, err, part)
		}
	}
	conflict("deleting version 1", s.Delete(t.Context(), "acme", "kb", version(1)), "version 2 is in use, saved at 20")
	_, err := s.Rollback(t.Context(), versions.Edit{Tenant: "acme", Set: "kb", Base: version(1)}, 1)
	conflict("back from version 1", err, "version 2 is in use")
	if err := s.Delete(t.Context(), "acme", "kb", version(2)); err != nil {
		t.Fatal(err)
	}
	conflict("deleting it twice", s.Delete(t.Context(), "acme", "kb", version(2)), "no version any more")
	edit.Base = version(2)
	_, err = s.Save(t.Context(), edit)
	conflict("editing what was deleted", err, "no version any more")
	edit.Base = version(0)
	for want := 3; want <= 4; want++ {
		if v, err := s.Save(t.Context(), edit); err != nil || v.Version != want {
			t.Fatalf("%+v, %v, want version %d", v, err, want)
		}
		edit.Base = version(want)
	}
	edit.Base = version(2)
	_, err = s.Save(t.Context(), edit)
	conflict("editing what was deleted, with others there", err, "version 4 is in use")
}

// The newest versions stay, and a deleted set has none.
func TestVersionsEnd(t *testing.T) {
	o := inFolder(t)
	o.Versions = 3
	s := open(t, o)
	save := func(set, text string) {
		t.Helper()
		if _, err := s.Save(t.Context(), versions.Edit{Tenant: "acme", Set: set, Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 5 {
		save("manuals", fmt.Sprint(i))
	}
	save("other", "x")
	history, err := s.History(t.Context(), "acme", "manuals", 10)
	if err != nil || len(history) != 3 || history[0].Version != 5 || history[2].Version != 3 {
		t.Errorf("kept: %+v, %v; want no error and 3 history and history[0].Version 5 and history[2].Version 3", history, err)
	}
	if _, err := s.Rollback(t.Context(), versions.Edit{Tenant: "acme", Set: "manuals"}, 2); !fault.Is(err, fault.NotFound) {
		t.Errorf("back to what was dropped: %v; want an error of kind NotFound", err)
	}
	for range 2 {
		if err := s.Delete(t.Context(), "acme", "manuals", nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range []*versions.Store[[]string]{s, open(t, o)} {
		history, err := s.History(t.Context(), "acme", "manuals", 10)
		if err != nil || len(history) != 0 || s.InUse("acme", "manuals") != nil || s.InUse("acme", "other") == nil {
			t.Errorf(`after the delete %+v, %v; want no error and no history and no s.InUse("acme", "manuals") and a s.InUse("acme", "other")`, history, err)
		}
	}
}
