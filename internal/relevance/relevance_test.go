package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/evaluation/tune"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/app"
	"github.com/hybridge-search/hybridge/internal/brief"
)

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// smallSet writes a retrieval set of two passages and one question. The vector leg prefers the wrong passage.
func smallSet(t *testing.T, folder, name string) {
	t.Helper()
	writeFiles(t, filepath.Join(folder, name), map[string]string{
		"corpus.jsonl": `{"_id":"a","title":"Refunds","text":"Money comes back within a week."}
{"_id":"b","title":"Delivery","text":"Parcels leave on Mondays."}
`,
		"queries.jsonl":  `{"_id":"q","text":"when do parcels leave"}` + "\n",
		"qrels.tsv":      "query-id\tcorpus-id\tscore\nq\tb\t1\n",
		"corpus.e5.f32":  "\x00\x00\x80\x3f\x00\x00\x00\x00" + "\x00\x00\x00\x00\x00\x00\x80\x3f", // (1, 0), (0, 1)
		"queries.e5.f32": "\x00\x00\x80\x3f\x00\x00\x00\x00",                                      // (1, 0)
	})
}

// misleadingSet writes a retrieval set whose words answer every question, and whose vectors prefer the opposite passage.
func misleadingSet(t *testing.T, folder, name string, size int) {
	t.Helper()
	var corpus, queries, judged, vectors, asked bytes.Buffer
	judged.WriteString("query-id\tcorpus-id\tscore\n")
	at := func(b *bytes.Buffer, i int) {
		angle := 2 * math.Pi * float64(i) / float64(size)
		for _, x := range []float64{math.Cos(angle), math.Sin(angle)} {
			_ = binary.Write(b, binary.LittleEndian, float32(x)) // memory takes everything
		}
	}
	for i := range size {
		fmt.Fprintf(&corpus, `{"_id":"p%d","title":"Part number%d","text":"Where it is and what it costs."}`+"\n", i, i)
		fmt.Fprintf(&queries, `{"_id":"q%d","text":"what costs number%d"}`+"\n", i, i)
		fmt.Fprintf(&judged, "q%d\tp%d\t1\n", i, i)
		at(&vectors, i)
		at(&asked, i+size/2)
	}
	writeFiles(t, filepath.Join(folder, name), map[string]string{
		"corpus.jsonl": corpus.String(), "queries.jsonl": queries.String(), "qrels.tsv": judged.String(),
		"corpus.e5.f32": vectors.String(), "queries.e5.f32": asked.String(),
	})
}

func written(t *testing.T, entry *table) string {
	t.Helper()
	entry.Engine = app.EmbeddedName
	report, err := entry.measure(t.Context(), config.Default())
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := report.WriteTables(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestTablesAreThoseOfThePage: every section of the page has one entry of a known kind, and its requests are read.
func TestTablesAreThoseOfThePage(t *testing.T) {
	t.Parallel()
	tables, err := readTables("tables.yaml")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "relevance.md"))
	if err != nil {
		t.Fatal(err)
	}
	var listed, marked []string
	for i := range tables {
		listed = append(listed, tables[i].Section)
		if kinds[tables[i].Kind] == nil {
			t.Errorf("%s is of kind %q; want one of kinds", tables[i].Section, tables[i].Kind)
		}
	}
	for _, m := range regexp.MustCompile(`<!-- relevance ([^>]*?) -->`).FindAllStringSubmatch(string(page), -1) {
		marked = append(marked, m[1])
	}
	slices.Sort(listed)
	slices.Sort(marked)
	if !slices.Equal(listed, marked) {
		t.Errorf("the list has %q, the page %q; want the same", listed, marked)
	}
}

// TestSectionIsWritten runs the program over a list of its own.
func TestSectionIsWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	smallSet(t, dir, "small")
	list, page := filepath.Join(dir, "list.yaml"), filepath.Join(dir, "page.md")
	writeFiles(t, dir, map[string]string{
		"list.yaml": `
- kind: systems
  sections: {embedded: own}
  folder: ` + dir + `
  sets: [small]
  presets: [text, vector]
  systems:
    - {name: one, request: {preset: rrf, top_k: 1, weights: {text: 1, vector: 0}}}
- {kind: apart, sections: {embedded: other}, folder: ` + dir + `}
- {kind: guessed, sections: {embedded: guessed}, folder: ` + dir + `}
`,
		"page.md": "before\n<!-- relevance own -->\nold\n<!-- end of relevance own -->\nafter\n" +
			"<!-- relevance guessed -->\n<!-- end of relevance guessed -->\n",
	})
	if err := run(t.Context(), list, page, "own"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if s := string(text); !strings.HasPrefix(s, "before\n") || !strings.Contains(s, "-->\nafter\n") || strings.Contains(s, "old") {
		t.Errorf("only what is between the markers is replaced, got %s", brief.Of(text))
	}
	if !strings.Contains(string(text), "| small | 1.0000 | 0.6309 | 1.0000 |") {
		t.Errorf("no row of the set in %s", brief.Of(text))
	}
	if !regexp.MustCompile(`-->\n\nMeasured 20\d\d-\d\d-\d\dT\d\d:\d\dZ(, commit [0-9a-z-]+)?\.\n`).Match(text) {
		t.Errorf("the tables do not say when they were measured: %.200s", text)
	}
	for section, want := range map[string]string{"other": "has no lines", "guessed": "kind", "none": "no section"} {
		if err := run(t.Context(), list, page, section); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want an error with %q", section, err, want)
		}
	}
}

// TestAnswers runs the tables that are not about one set's ranking.
func TestAnswers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	smallSet(t, dir, "small")
	smallSet(t, dir, "other")
	f := func(want string, entry table) {
		t.Helper()
		entry.Folder, entry.Sets, entry.Presets = dir, []string{"small", "other"}, []string{"text", "balanced"}
		if got := written(t, &entry); !strings.Contains(got, want) {
			t.Errorf("%s: want %q in\n%s", entry.Kind, want, brief.Of(got))
		}
	}
	f("Passages of small, other; questions of small, other:", table{Kind: "together"})
	f("| text | 50.00 | 50.00 | +0.00 | +0.00 small |", table{Kind: "together", Passages: []string{"small"}})
	f("By preset text, 6 questions to 2 sets, nothing known of 0;", table{Kind: "answerability"})
	f("By preset balanced nothing is known of the answers to 6 questions.", table{Kind: "answerability"}) // two dimensions
	none := table{Kind: "together", Folder: dir, Engine: app.EmbeddedName, Passages: []string{"none"}}
	if _, err := none.measure(t.Context(), config.Default()); fault.KindOf(err) != fault.InvalidArgument {
		t.Errorf("passages of no set: %v; want an invalid argument", err)
	}
}

// TestApart: each set has a row of its own.
func TestApart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	misleadingSet(t, dir, "one", 40)
	misleadingSet(t, dir, "two", 30)
	for preset, fits := range map[string]bool{"linear": false, "balanced": true} {
		entry := table{
			Kind: "apart", Folder: dir, Engine: app.EmbeddedName, Preset: preset, Method: tune.Grid, Trials: 20,
		}
		measured, err := entry.measure(t.Context(), config.Default())
		if err != nil {
			t.Fatal(err)
		}
		report := measured.(*apartReport)
		for i, name := range []string{"one", "two"} {
			s := &report.Sets[i]
			if s.Set != name || s.Questions != 40-10*i || (s.PerQuery != nil) != fits {
				t.Errorf("%s: %+v", preset, s)
			}
			if preset == "linear" && (!s.Tuned.Recommended || s.Tuned.Unseen < 0.99) {
				t.Errorf("%+v; want a recommended variant, and at least 0.99", s.Tuned)
			}
		}
		var b strings.Builder
		if err := report.WriteTables(&b); err != nil || !strings.Contains(b.String(), "| one | 40 |") {
			t.Errorf("%s, %v; want no error and a row of the set", brief.Of(b.String()), err)
		}
	}
}

// TestFamilies: each family of sets has a row, with one variant or weights per query.
func TestFamilies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"one_en", "one_zh", "two", "three"} {
		misleadingSet(t, dir, name, 20)
	}
	for _, entry := range []table{{Preset: "linear"}, {Preset: "balanced", PerQuery: true}} {
		entry.Kind, entry.Folder, entry.Method, entry.Trials = "families", dir, tune.Grid, 20
		got := written(t, &entry)
		for _, want := range []string{"| one | 40 |", "| three | 20 |", "| two | 20 |", "| one_zh | 20 |"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %s in %s", entry.Preset, want, brief.Of(got))
			}
		}
	}
}

// TestServersThatAreMissing names the variable of a server that is not there.
func TestServersThatAreMissing(t *testing.T) {
	for _, name := range []string{"EMBEDDING_URL", "ELASTICSEARCH_URL", "POSTGRES_URL"} {
		t.Setenv(name, "")
	}
	f := func(want string, entry table) {
		t.Helper()
		if got := entry.missing(); got != want {
			t.Errorf("%s live %t needs %q, want %q", entry.Engine, entry.Live, got, want)
		}
	}
	f("", table{Engine: "embedded"})
	f("EMBEDDING_URL", table{Engine: "embedded", Live: true})
	f("ELASTICSEARCH_URL", table{Engine: "elasticsearch"})
	f("POSTGRES_URL", table{Engine: "postgres"})
}
