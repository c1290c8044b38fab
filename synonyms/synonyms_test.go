package synonyms

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/analysis/tokens"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/brief"
	_ "github.com/hybridge-search/hybridge/internal/properties" // fewer cases in make test
	"github.com/hybridge-search/hybridge/internal/realtokens"
)

var shared *tokens.Analyzer

func TestMain(m *testing.M) {
	var err error
	if shared, err = realtokens.Analyzer(); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

func mustParse(t *testing.T, text string) *Set {
	t.Helper()
	s, err := Parse("test.txt", strings.NewReader(text), shared)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestExpand shows a file, a question and what is found: source → synonym.
func TestExpand(t *testing.T) {
	f := func(file, question, want string) {
		t.Helper()
		q := shared.Terms(question)
		var got []string
		for _, e := range mustParse(t, file).Expand(q).All {
			weight, err := json.Marshal(e.Weight)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, strings.Join(q[e.Start:e.End], " ")+"→"+strings.Join(e.Terms, " ")+"^"+string(weight))
		}
		if s := strings.Join(got, "; "); s != want {
			t.Errorf("%q in %q:\ngot  %s\nwant %s", question, file, s, want)
		}
	}
	f("# nothing\n\n", "anything", "")
	f("car, automobile, auto^0.5", "fast CARS", "car→automobil^1; car→auto^0.5")
	f("car, automobile, auto^0.5", "auto", "auto→car^1; auto→automobil^1")
	f("ml => machine learning, ai^0.7", "ML models", "ml→machin learn^1; ml→ai^0.7")
	f("ml => machine learning", "machine learning", "") // one way only
	f("machine learning => ML, AI", "what is machine learning", "machin learn→ml^1; machin learn→ai^1")
	f("machine learning => ML", "machine for learning", "")
	f("退款, 退钱, 退貨", "如何退款", "退款→退钱^1; 退款→退货^1")
	f("人工智能 => AI", "人工智慧與人工智能", "人工 智能 人工智能→ai^1")
	f("AI => 人工智能", "ai", "ai→人工智能^1") // one word: not its parts
	f(`a\,b, c\^2, d\=>e`, "c^2", "c 2→a b^1; c 2→d e^1")
	f("C#, csharp", "c#", "c#→csharp^1")
	f("a1, b1\nb1, c1", "a1", "a1→b1^1") // synonyms of synonyms are not followed
	f("x1 => x1, y1", "x1", "x1→y1^1")
	f("\ufeffone1, two2\r\n", "one1", "one1→two2^1")
}

// Promise: "names every bad line" (docs/guide/en/synonyms.md).
func TestBadLines(t *testing.T) {
	f := func(file string, want ...string) {
		t.Helper()
		_, err := Parse("bad.txt", strings.NewReader(file), shared)
		if !fault.Is(err, fault.InvalidArgument) {
			t.Fatalf("%.40q: error %v; want an error of kind InvalidArgument", file, err)
		}
		for _, w := range append(want, "bad.txt") {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%.40q: error %q lacks %q", file, err, w)
			}
		}
	}
	f("a, b\n\n# c\nalone\n", "line 4", "one entry")
	f("a => b => c", "line 1", "more than one =>")
	f("a, , b", "line 1", "empty entry")
	f("a =>", "line 1", "empty entry")
	f("=> a", "line 1", "empty entry")
	f("a, b^2", "line 1", `weight "2"`)
	f("a, b^0", "line 1", "weight")
	f("a, b^NaN", "line 1", "weight")
	f("a, b^x", "line 1", "weight")
	f("a^0.5 => b", "line 1", "left of =>")
	f("a, !!!", "line 1", "no token")
	f("!!! => a", "line 1", "no token")
	f("a, \xff", "line 1", "UTF-8")
	f("a, b\n"+strings.Repeat("x,", maxLineBytes), "line 2", "longer")
}

// TestParseNeverBreaks feeds anything: a set or a typed error comes back, and
// what a set finds lies within the question.
func TestParseNeverBreaks(t *testing.T) {
	pieces := rapid.SampledFrom([]string{
		"a", "退款", ",", "=>", "^", "0.5", "\\", "#", "\n", " ", "=", ">", "\xff", "机器学习", "\x00",
	})
	rapid.Check(t, func(rt *rapid.T) {
		file := strings.Join(rapid.SliceOfN(pieces, 0, 20).Draw(rt, "file"), "")
		s, err := Parse("any.txt", strings.NewReader(file), shared)
		if err != nil {
			if !fault.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), "line ") {
				rt.Fatalf(`%q: %v; want an error of kind InvalidArgument and "line " in it`, file, err)
			}
			return
		}
		question := shared.Terms(strings.Join(rapid.SliceOfN(pieces, 0, 10).Draw(rt, "question"), ""))
		for _, e := range s.Expand(question).All {
			if e.Start < 0 || e.End > len(question) || e.Start >= e.End || len(e.Terms) == 0 || !(e.Weight > 0 && e.Weight <= 1) {
				rt.Fatalf("%q: bad expansion %+v", file, e)
			}
		}
	})
}

// TestComposed: each term of the source gets the synonym, its weight shared.
func TestComposed(t *testing.T) {
	q := shared.Parse("machine learning")
	got, err := json.Marshal(analysis.Compose(q, analysis.Frequencies{},
		mustParse(t, "machine learning => ML, deep nets^0.5"), analysis.Rules{SynonymBoost: .8}))
	if err != nil {
		t.Fatal(err)
	}
	synonyms := `"synonyms":[{"terms":["ml"],"weight":0.4},{"terms":["deep","net"],"weight":0.2}]`
	want := `{"terms":[{"text":"machin","weight":1,` + synonyms + `},{"text":"learn","weight":1,` + synonyms +
		`}],"minimum_match":1}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", brief.Of(got), want)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// rig is a Library over a folder whose reloads can be waited for.
type rig struct {
	*Library
	dir     string
	reloads chan error
}

func open(t *testing.T, files map[string]string) rig {
	t.Helper()
	r := rig{dir: t.TempDir(), reloads: make(chan error, 100)}
	for name, content := range files {
		write(t, filepath.Join(r.dir, name), content)
	}
	var err error
	r.Library, err = Open(Options{Path: r.dir, Tokenizer: shared, OnReload: func(err error) { r.reloads <- err }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// until waits for a reload after which the condition holds.
func (r rig) until(t *testing.T, condition func(error) bool) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		select {
		case err := <-r.reloads:
			if condition(err) {
				return
			}
		case <-deadline:
			t.Fatal("no such reload")
		}
	}
}

// rules are those that expand the term a1.
func (r rig) rules(kb string) string {
	var all []string
	for _, e := range r.For(kb).Expand([]string{"a1"}).All {
		all = append(all, e.Rule)
	}
	return strings.Join(all, " | ")
}

func TestLibraryFollowsItsFolder(t *testing.T) {
	r := open(t, map[string]string{"global.txt": "a1, b1\n", "manuals.txt": "a1 => c1\n", "note.md": "not, one, => =>"})
	if got := r.rules("manuals"); got != "manuals.txt:1: a1 => c1 | global.txt:1: a1, b1" {
		t.Errorf(`both sets: %s; want got "manuals.txt:1: a1 => c1 | global.txt:1: a1, b1"`, got)
	}
	if got := r.rules("other"); got != "global.txt:1: a1, b1" {
		t.Errorf(`the global set: %s; want got "global.txt:1: a1, b1"`, got)
	}
	before, manuals, other := r.For("other"), r.Fingerprint("manuals"), r.Fingerprint("other")
	if manuals == other {
		t.Error("two knowledge bases with other synonyms have one fingerprint")
	}

	write(t, filepath.Join(r.dir, "global.txt"), "# new\na1, d1\n")
	r.until(t, func(err error) bool { return err == nil && r.rules("other") == "global.txt:2: a1, d1" })
	if r.Fingerprint("manuals") == manuals || r.Fingerprint("other") == other {
		t.Error("the global synonyms changed, the fingerprints did not")
	}
	if got := before.Expand([]string{"a1"}).All; len(got) != 1 || got[0].Terms[0] != "b1" {
		t.Errorf(`an expander changed while it was used: %+v; want 1 got and got[0].Terms[0] "b1"`, got)
	}

	write(t, filepath.Join(r.dir, "global.txt"), "a1, e1\nbad\n")
	r.until(t, func(err error) bool { return err != nil && strings.Contains(err.Error(), "global.txt line 2") })
	if got := r.rules("other"); got != "global.txt:2: a1, d1" {
		t.Errorf(`after a bad line: %s; want got "global.txt:2: a1, d1"`, got)
	}

	if err := os.Remove(filepath.Join(r.dir, "manuals.txt")); err != nil {
		t.Fatal(err)
	}
	r.until(t, func(error) bool { return r.rules("manuals") == "global.txt:2: a1, d1" })
	if got := r.Rules(); len(got) != 1 || got[Global] != 1 {
		t.Errorf("rules: %v; want 1 got and got[Global] 1", got)
	}
}

func TestLibraryOfOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "synonyms")
	write(t, path, "a1, b1\n")
	reloads := make(chan error, 100)
	l, err := Open(Options{Path: path, Tokenizer: shared, OnReload: func(err error) { reloads <- err }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	r := rig{Library: l, reloads: reloads}
	if got := r.rules("any"); got != "synonyms:1: a1, b1" {
		t.Errorf(`got %s; want got "synonyms:1: a1, b1"`, got)
	}
	// As editors do: a new file takes the old one's name.
	write(t, path+"~", "a1, c1\n")
	if err := os.Rename(path+"~", path); err != nil {
		t.Fatal(err)
	}
	r.until(t, func(err error) bool { return err == nil && r.rules("any") == "synonyms:1: a1, c1" })
}

func TestOpen(t *testing.T) {
	l, err := Open(Options{})
	if err != nil || l.For("kb").Expand([]string{"a"}).All != nil {
		t.Errorf(`no path: %v; want no error and no l.For("kb").Expand([]string{"a"}).All`, err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := Open(Options{Path: "/does/not/exist"}); !fault.Is(err, fault.InvalidArgument) {
		t.Errorf("a missing path: %v", err)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "global.txt"), "bad")
	if _, err := Open(Options{Path: dir, Tokenizer: shared}); !fault.Is(err, fault.InvalidArgument) {
		t.Errorf("a bad line at the start: %v; want an error of kind InvalidArgument", err)
	}
}

// What a question may cost is bounded, however wide the rules and however often it says a
// word; what is left out is counted.
func TestExpandIsBounded(t *testing.T) {
	f := func(name, file, question string, all, cut int) {
		t.Helper()
		got := mustParse(t, file).Expand(shared.Terms(question))
		if len(got.All) != all || got.Cut != cut {
			t.Errorf("%s: %d synonyms, %d left out; want %d and %d", name, len(got.All), got.Cut, all, cut)
		}
		for _, e := range got.All {
			if len(e.Rule) > 300 {
				t.Fatalf("%s: the rule is shown in %d bytes; want at most 300 e.Rule", name, len(e.Rule))
			}
		}
	}
	words := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf("w%d", i))
		}
		return strings.Join(all, ", ")
	}
	f("a word said often", "w0, w1", strings.Repeat("w0 ", 4000), 1, 0)
	f("a rule within the limit", words(MaxTargets+1), "w0", MaxTargets, 0)
	f("as many as may be", "x9 => "+words(MaxTargets), "x9", MaxTargets, 0)
	f("one more than the limit", "x9 => "+words(MaxTargets+1), "x9", MaxTargets, 1)
	f("a wide rule", words(4000), "w0", MaxTargets, 3999-MaxTargets)
	f("the heaviest stay", words(200)+"^0.5, best", "w0", MaxTargets, 200-MaxTargets)
	light := strings.ReplaceAll(words(200), ",", "^0.5,") + "^0.5"
	if got := mustParse(t, "x9 => "+light+", best").Expand([]string{"x9"}).All; len(got) != MaxTargets || got[0].Terms[0] != "best" {
		t.Errorf(`of a wide rule %d synonyms stay, first %v; want MaxTargets got and got[0].Terms[0] "best"`, len(got), got[:1])
	}
	f("many rules of one word", strings.Repeat("w0 => x1\n", 5000), "w0", MaxExpansions, 5000-MaxExpansions)
	f("a phrase without end", "w0 => "+strings.Repeat("x1 ", maxWords+1), "w0", 0, 1)
	if got := mustParse(t, words(200)+"\nw0 => a^0.5").Expand([]string{"w7"}).All; slices.ContainsFunc(got,
		func(e analysis.Expansion) bool { return slices.Equal(e.Terms, []string{"w7"}) }) {
		t.Error("a word is its own synonym")
	}
}
