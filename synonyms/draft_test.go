package synonyms

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/versions"
)

func TestEveryBadLineIsNamed(t *testing.T) {
	s := openStore(t, t.TempDir())
	f := func(text string, rules int, want string) {
		t.Helper()
		got, problems, err := s.Check(text)
		var said []string
		for _, p := range problems {
			said = append(said, fmt.Sprintf("%d %s", p.Line, p.Detail))
		}
		if all := strings.Join(said, "; "); got != rules || err != nil || all != want {
			t.Errorf("%.80q: %d rules, %v, %s; want %d, %s", text, got, err, all, rules, want)
		}
	}
	f("", 0, "")
	f("# only a comment\n\na, b\n", 1, "")
	f("alone\na, b\n\n, c\na => b => c", 1,
		"1 has one entry; a list needs two; 4 has an empty entry; 5 has more than one =>")
	f("a, b^7\n…, ！\nok, fine", 1,
		`1 has the weight "7"; it must be a number over 0 and up to 1; 2 has "…", of which no token is left`)
	f("a, b\n"+strings.Repeat("x", maxLineBytes+1), 1, "2 is longer than 1048576 bytes")
	if _, problems, err := s.Check(strings.Repeat("alone\n", 1000)); len(problems) != MaxProblems || err != nil {
		t.Errorf("%d problems, %v; want MaxProblems problems and no error", len(problems), err)
	}
}

// TestADraftIsAsIfItWereSaved for the set and the tenant that it is of.
func TestADraftIsAsIfItWereSaved(t *testing.T) {
	s := openStore(t, t.TempDir())
	for set, text := range map[string]string{"manuals": "car, auto", Global: "car => vehicle"} {
		if _, err := s.Save(t.Context(), versions.Edit{Tenant: "acme", Set: set, Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	f := func(set, text, tenant, kb, want string) {
		t.Helper()
		d, err := s.Draft("acme", set, text)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, e := range d.For(tenant, kb).Expand([]string{"car"}).All {
			all = append(all, strings.Join(e.Terms, " "))
		}
		if got := strings.Join(all, " "); got != want {
			t.Errorf("%s of %s by a draft of %s: %q, want %q", kb, tenant, set, got, want)
		}
	}
	f("manuals", "car, coupe", "acme", "manuals", "coup vehicl")
	f("manuals", "car, coupe", "acme", "other", "vehicl")
	f("manuals", "car, coupe", "rival", "manuals", "")
	f(Global, "", "acme", "manuals", "auto")
	if _, err := s.Draft("acme", "manuals", "=> b"); !fault.Is(err, fault.InvalidArgument) {
		t.Errorf("a bad draft: %v; want an error of kind InvalidArgument", err)
	}
}
