package synonyms

import (
	"fmt"
	"strings"
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
		t.Errorf("saved %+v; want v.Version 2 and v.Rules 2", v)
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
