package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/evaluation"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/offline"
)

// misleadingSet writes a retrieval set whose words answer every question, and whose vectors prefer the opposite passage.
func misleadingSet(t *testing.T, name string, size int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
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
	writeFiles(t, dir, map[string]*bytes.Buffer{
		"corpus.jsonl": &corpus, "queries.jsonl": &queries, "qrels.tsv": &judged,
		"corpus.e5.f32": &vectors, "queries.e5.f32": &asked,
	})
	return dir
}

// tuned runs tune and gives its exit code and what it printed.
func tuned(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, complaints strings.Builder
	p := &cli.Program{Groups: groups, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &complaints}
	code = p.Run(t.Context(), append([]string{"tune"}, args...))
	return code, out.String(), complaints.String()
}

// TestTuneRecommendsAPreset: what is recommended is a preset that the configuration takes, and eval measures it as tune did.
func TestTuneRecommendsAPreset(t *testing.T) {
	t.Parallel()
	sets := []string{"--data", misleadingSet(t, "one", 40), "--data", misleadingSet(t, "two", 30)}
	settings := filepath.Join(t.TempDir(), "own.yaml")
	if err := os.WriteFile(settings, []byte("presets: {mine: {base: rrf, top_k: 7, rrf_k: 30}}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, from := range [][]string{
		{"--preset", "linear"}, {"--preset", "mine", "--config", settings, "--retrieval", "candidates=20,40"},
	} {
		page := filepath.Join(t.TempDir(), "tuning.md")
		args := append(append(from, sets...), "--method", "grid", "--trials", "40", "--json", "--report", page)
		code, out, complaints := tuned(t, args...)
		if code != cli.ExitOK {
			t.Fatalf("%v: exit code %d: %s; want code exitOK", from, code, complaints)
		}
		var report offline.TuneReport
		if err := json.Unmarshal([]byte(out), &report); err != nil {
			t.Fatal(err)
		}
		if !report.Recommended || report.Unseen < 0.99 || math.Abs(report.Searched.Best-report.Seen) > 1e-9 ||
			math.Abs(report.Searched.Start-report.Start) > 1e-9 {
			t.Errorf("%v: %s", from, brief.Of(out))
		}
		written, err := os.ReadFile(page)
		if err != nil || !strings.Contains(string(written), report.Preset) || !strings.Contains(report.Preset, "sha256") {
			t.Errorf("the report is %q (%v), with the preset %q", brief.Of(written), err, report.Preset)
		}
		file := filepath.Join(t.TempDir(), "tuned.yaml")
		if err := os.WriteFile(file, []byte(report.Preset), 0o644); err != nil {
			t.Fatal(err)
		}
		code, out, complaints = evaluated(t, append(sets, "--presets", "tuned", "--config", file, "--json")...)
		var measured evaluation.Report
		if err := json.Unmarshal([]byte(out), &measured); code != cli.ExitOK || err != nil {
			t.Fatalf("exit code %d, %s, %v; want code exitOK and no error", code, complaints, err)
		}
		if got := measured.Means[0].NDCG10; math.Abs(got-report.Seen) > 1e-9 {
			t.Errorf("%v: eval measures %v, tune %v; want math.Abs(got - report.Seen) at most 1e-9", from, got, report.Seen)
		}
	}
}

// What is tried in memory drops the query's own document as the search does, so that both have the same figures.
func TestTuneDropsTheQueryItself(t *testing.T) {
	t.Parallel()
	dir := misleadingSet(t, "own", 30)
	for to, from := range map[string]string{"corpus.jsonl": "queries.jsonl", "corpus.e5.f32": "queries.e5.f32"} {
		added, err := os.ReadFile(filepath.Join(dir, from))
		if err != nil {
			t.Fatal(err)
		}
		file, err := os.OpenFile(filepath.Join(dir, to), os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.Write(added); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	code, out, told := tuned(t, "--data", dir, "--preset", "linear", "--metric", "ndcg@5", "--method", "grid", "--trials", "20", "--json")
	var report offline.TuneReport
	if err := json.Unmarshal([]byte(out), &report); err != nil || code != cli.ExitOK {
		t.Fatalf("exit code %d, %v: %s; want no error and code exitOK", code, err, told)
	}
	if report.Seen < 0.99 || math.Abs(report.Searched.Best-report.Seen) > 1e-9 || math.Abs(report.Searched.Start-report.Start) > 1e-9 {
		t.Errorf("tune has %v and %v, the search %+v", report.Start, report.Seen, report.Searched)
	}
	if !strings.Contains(told, "own/queries.jsonl: queries that are documents of the corpus, under their own id (30): that hit is dropped") ||
		report.Files["own"] == nil || report.Files["own"].Oddities[0].Count != 30 {
		t.Errorf("%+v\n%s", report.Files, told)
	}
}

// TestTuneByFamily: each family of sets is measured by what the others choose, with one variant or weights per query,
// and the page has it.
//
// Promise: "every family of sets" (docs/guide/en/tuning.md).
func TestTuneByFamily(t *testing.T) {
	t.Parallel()
	page := filepath.Join(t.TempDir(), "page.md")
	args := []string{"--by-family", "--method", "grid", "--trials", "20", "--report", page}
	for _, name := range []string{"one_en", "one_zh", "two", "three"} {
		args = append(args, "--data", misleadingSet(t, name, 20))
	}
	for _, way := range [][]string{{"--preset", "linear"}, {"--per-query"}} {
		code, out, complaints := tuned(t, append(way, args...)...)
		if code != cli.ExitOK {
			t.Fatalf("%v: exit code %d: %s; want code exitOK", way, code, complaints)
		}
		for _, want := range []string{"| one | 40 |", "| three | 20 |", "| two | 20 |", "| one_zh | 20 |"} {
			if !strings.Contains(out, want) {
				t.Errorf("%v: no %s in %s", way, want, brief.Of(out))
			}
		}
		written, err := os.ReadFile(page)
		if err != nil || !strings.Contains(string(written), strings.TrimSpace(out)) {
			t.Errorf("%v: the page is %s, %v", way, brief.Of(written), err)
		}
	}
}

func TestTuneRefuses(t *testing.T) {
	t.Parallel()
	set := misleadingSet(t, "one", 12)
	f := func(want string, args ...string) {
		t.Helper()
		code, _, complaints := tuned(t, args...)
		if code != cli.ExitUsage || !strings.Contains(complaints, want) {
			t.Errorf("%v: exit code %d, %q; want %d and %q", args, code, complaints, cli.ExitUsage, want)
		}
	}
	f("--data is missing; it must be the folder")
	f("different names", "--data", set, "--data", misleadingSet(t, "one", 12))
	f("did you mean rrf?", "--data", set, "--preset", "rff")
	f("did you mean random?", "--data", set, "--method", "ramdom")
	f("ndcg_exp", "--data", set, "--metric", "ndcg")
	f("NAME=LOW..HIGH", "--data", set, "--space", "weight=0..1")
	f("one of candidates", "--data", set, "--retrieval", "rrf_k=1..9")
	f("one of normalizer", "--data", set, "--space", "candidates=50,100")
	f("changes something of preset balanced", "--data", set, "--space", "rrf_k=1..9")
	f("at least one parameter", "--data", set, "--preset", "vector")
	f("left out", "--data", set, "--preset", "ragflow")
	f("3 to 10", "--data", set, "--folds", "1")
	f("7 folds need 14", "--data", set, "--folds", "7", "--trials", "5")
	f("of 1 families (one)", "--data", set, "--by-family", "--trials", "5")
	f("ends in .md", "--data", set, "--report", "tuning.html")
	f("one of balanced", "--data", set, "--preset", "reference_rrf")
	f("without --space", "--data", set, "--per-query", "--space", "weights.text=0..1")
	f("fuses z-scores", "--data", set, "--per-query", "--preset", "rrf")
}

// TestTunePerQuery: half of the questions have a number that their words know, half do not and are known by their
// vectors; the model that tells them apart is a preset that eval measures as the fit did.
func TestTunePerQuery(t *testing.T) {
	t.Parallel()
	set := twofoldSet(t, 120)
	code, out, complaints := tuned(t, "--data", set, "--per-query", "--json")
	if code != cli.ExitOK {
		t.Fatalf("exit code %d: %s; want code exitOK", code, complaints)
	}
	var report offline.PerQueryReport
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err)
	}
	if !report.Recommended || report.Unseen < report.Start+0.05 || !(report.Model.Coefficients["digits"] > 0) {
		t.Fatalf("%s", brief.Of(out))
	}
	file := filepath.Join(t.TempDir(), "tuned.yaml")
	if err := os.WriteFile(file, []byte(report.Preset), 0o644); err != nil {
		t.Fatal(err)
	}
	code, out, complaints = evaluated(t, "--data", set, "--presets", "tuned", "--config", file, "--json")
	var measured evaluation.Report
	if err := json.Unmarshal([]byte(out), &measured); code != cli.ExitOK || err != nil {
		t.Fatalf("exit code %d, %s, %v; want code exitOK and no error", code, complaints, err)
	}
	if got := measured.Means[0].NDCG10; math.Abs(got-*report.Searched) > 1e-9 || math.Abs(got-report.Seen) > 0.02 {
		t.Errorf("eval measures %v, the search itself %v, the fit %v; want math.Abs(got - *report.Searched) at most 1e-9 and math.Abs(got - report.Seen) at most 0.02", got, *report.Searched, report.Seen)
	}
}

// twofoldSet has questions for parts by their number, with misleading vectors, and questions by vectors alone, whose
// words are those of others.
func twofoldSet(t *testing.T, size int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "twofold")
	var corpus, queries, judged, vectors, asked bytes.Buffer
	judged.WriteString("query-id\tcorpus-id\tscore\n")
	at := func(b *bytes.Buffer, i int) {
		angle := 2 * math.Pi * float64(i) / float64(size)
		for _, x := range []float64{math.Cos(angle), math.Sin(angle)} {
			_ = binary.Write(b, binary.LittleEndian, float32(x)) // memory takes everything
		}
	}
	words := []string{"rain", "boots", "coat", "umbrella", "wool", "scarf", "glove", "hat"}
	for i := range size {
		word := words[i%len(words)]
		fmt.Fprintf(&corpus, `{"_id":"p%d","title":"%s %d","text":"Where it is and what it costs."}`+"\n", i, word, 1000+i)
		question, near := fmt.Sprintf("costs of %d", 1000+i), i+size/2
		if i%2 == 1 {
			question, near = "what costs "+words[(i+3)%len(words)], i
		}
		fmt.Fprintf(&queries, `{"_id":"q%d","text":"%s"}`+"\n", i, question)
		fmt.Fprintf(&judged, "q%d\tp%d\t1\n", i, i)
		at(&vectors, i)
		at(&asked, near)
	}
	writeFiles(t, dir, map[string]*bytes.Buffer{
		"corpus.jsonl": &corpus, "queries.jsonl": &queries, "qrels.tsv": &judged,
		"corpus.e5.f32": &vectors, "queries.e5.f32": &asked,
	})
	return dir
}

// writeFiles makes a folder of files.
func writeFiles(t *testing.T, dir string, files map[string]*bytes.Buffer) {
	t.Helper()
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for file, content := range files {
		if err := os.WriteFile(filepath.Join(dir, file), content.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
