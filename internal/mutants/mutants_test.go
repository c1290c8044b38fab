package main

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/skips"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// least is how many mutants are kept.
const least = 150

func root(t *testing.T) string {
	t.Helper()
	folder, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

func list(t *testing.T) []Mutant {
	t.Helper()
	all, err := read("testdata")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestListIsSound: each row changes a text that is there once, and names tests that exist.
func TestListIsSound(t *testing.T) {
	all := list(t)
	for _, complaint := range complaints(root(t), all) {
		t.Error(complaint)
	}
	if len(all) < least {
		t.Errorf("%d mutants are kept, at least %d should be", len(all), least)
	}
	reasons := 0
	for i := range all {
		if all[i].Survives != "" {
			reasons++
		}
	}
	if float64(len(all)-reasons) < leastKilled*float64(len(all)) {
		t.Errorf("%d of %d are said to survive, which are too many", reasons, len(all))
	}
}

// TestListComplaints: what a list must not have is told.
func TestListComplaints(t *testing.T) {
	sound := Mutant{
		Name: "a-name", File: "scoring/rrf.go", Before: "package scoring", After: "package", Why: "because", Kind: "scoring",
		Tests: []string{"./scoring -run ^TestFuse"},
	}
	told := func(want string, rows ...Mutant) {
		t.Helper()
		if got := strings.Join(complaints(root(t), rows), "\n"); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("the complaints are %q, they should tell of %q", got, want)
		}
	}
	told("", sound)
	f := func(change func(*Mutant), want string) {
		t.Helper()
		m := sound
		change(&m)
		told(want, m)
	}
	f(func(m *Mutant) { m.Name = "A name" }, "small letters")
	f(func(m *Mutant) { m.Why = "" }, "why")
	f(func(m *Mutant) { m.After = m.Before }, "the same")
	f(func(m *Mutant) { m.Before = "return" }, "must have it once")
	f(func(m *Mutant) { m.Before = "" }, "must have it once")
	f(func(m *Mutant) { m.File = "scoring/none.go" }, "no such file")
	f(func(m *Mutant) { m.File = "scoring/rrf_test.go" }, "no test")
	f(func(m *Mutant) { m.File = "web/package.json" }, "TypeScript")
	f(func(m *Mutant) { m.Tests = nil }, "names no tests")
	f(func(m *Mutant) { m.Tests = []string{"./scoring -run ^TestNobody$"} }, `no test is called "^TestNobody$"`)
	f(func(m *Mutant) { m.Tests = []string{"./nobody"} }, "has no tests")
	f(func(m *Mutant) { m.Tests = []string{"./scoring -race"} }, "neither a package")
	told("two of this name", sound, sound)
}

// TestFaults: what becomes of mutants decides whether the list holds.
func TestFaults(t *testing.T) {
	f := func(said verdict, reason string, whole bool, want string) {
		t.Helper()
		row := &Mutant{Name: "m", Survives: reason}
		got := strings.Join(faults([]result{{mutant: row, verdict: said, output: "ended so"}}, whole), "\n")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("the faults are %q, they should tell of %q", got, want)
		}
	}
	f(killed, "", true, "")
	f(survived, "equivalent", false, "")
	f(survived, "equivalent", true, "at least 95 %")
	f(survived, "", false, "no reason")
	f(killed, "equivalent", false, "none any more")
	f(hung, "", false, "deadline")
	f(broken, "", false, "ended so")
}

func TestTogether(t *testing.T) {
	one := func(command string) trial {
		parsed, err := parseTrial(false, command)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	got := together([]trial{
		one("./a -run ^TestA$"), one("./b"), one("./a -run ^TestB$"), one("./a -run ^TestA$"), one("./a -skip Slow"), one("./b -run ^TestC$"),
	})
	want := []trial{one("./a -run ^TestA$|^TestB$"), one("./b"), one("./a -skip Slow")}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("together they are %v, they should be %v", got, want)
	}
}

// tried are mutants of packages that need no server and compile quickly.
var tried = []string{
	"rrf-normalized-off-by-one", "threshold-lowest-cuts", "columns-stop-at-tie", "z-score-absent-is-highest", "bm25-idf",
	"minimum-rounded-up", "idf-without-half", "rules-pin-and-hide", "admission-no-turns", "quota-bytes-between-lost",
}

// TestMutantsAreKilled tries a few of the list, and how a change that breaks nothing or does not compile is told.
func TestMutantsAreKilled(t *testing.T) {
	if testing.Short() {
		skips.ByDesign(t, "compiles a dozen programs")
	}
	all, r := list(t), &runner{root: root(t)}
	f := func(m Mutant, want verdict) {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			said, output, err := r.try(t.Context(), &m)
			if err != nil || said != want {
				t.Errorf("%s %v, it should be %s:\n%s", said, err, want, brief.Of(output))
			}
		})
	}
	for _, name := range tried {
		at := slices.IndexFunc(all, func(m Mutant) bool { return m.Name == name })
		if at < 0 {
			t.Fatalf("no mutant is called %q; want one", name)
		}
		f(all[at], killed)
	}
	harmless := all[slices.IndexFunc(all, func(m Mutant) bool { return m.Name == tried[0] })]
	harmless.Name, harmless.After = "harmless", harmless.Before+" // as it was"
	f(harmless, survived)
	harmless.Name, harmless.After = "senseless", "return nothing"
	f(harmless, broken)
}
