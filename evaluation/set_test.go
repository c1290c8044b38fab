package evaluation_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/evaluation"
)

// folder writes a set's files; the vectors are of two numbers.
func folder(t *testing.T, changed map[string]string) string {
	t.Helper()
	files := map[string]string{
		"corpus.jsonl":  `{"_id":"a","title":"T","text":"x"}` + "\n" + `{"_id":"b","text":"y"}` + "\n",
		"queries.jsonl": `{"_id":"q","text":"x?"}` + "\n",
		"qrels.tsv":     "query-id\tcorpus-id\tscore\r\nq\ta\t2\r\n",
		"corpus.v.f32":  strings.Repeat("\x00\x00\x80\x3f", 4), "queries.v.f32": strings.Repeat("\x00\x00\x80\x3f", 2),
	}
	dir := filepath.Join(t.TempDir(), "set")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if other, ok := changed[name]; ok {
			content = other
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestLoad(t *testing.T) {
	set, err := evaluation.Load(folder(t, nil), "v")
	if err != nil {
		t.Fatal(err)
	}
	if set.Name != "set" || set.Dimensions != 2 || len(set.Corpus) != 2 || set.Judgments["q"]["a"] != 2 {
		t.Errorf(`loaded %+v; want set.Name "set" and set.Dimensions 2 and 2 set.Corpus and set.Judgments["q"]["a"] 2`, set)
	}
	if v := set.Queries[0].Vector; len(v) != 2 || v[1] != 1 {
		t.Errorf("the query's vector is %v, want [1 1]", v)
	}
}

func TestLoadNamesWhatIsWrong(t *testing.T) {
	f := func(name, content, want string) {
		t.Helper()
		_, err := evaluation.Load(folder(t, map[string]string{name: content}), "v")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s = %q: %v, want %q", name, content, err, want)
		}
	}
	f("qrels.tsv", "h\nq\ta\tgood\n", `grades that are no numbers`)
	f("qrels.tsv", "h\nq a 1\n", "another number of columns (2)")
	f("corpus.v.f32", "abc", "3 bytes")
	f("queries.v.f32", "", "0 bytes")
}

// A row of vectors belongs to a row of its file, also where that is left out or there twice.
func TestVectorsKeepStepWithRows(t *testing.T) {
	dir := folder(t, map[string]string{
		"corpus.jsonl":  "{\"_id\":\"a\",\"text\":\"x\"}\n{broken\n\n{\"_id\":\"b\",\"text\":\"y\"}\n{\"_id\":\"a\",\"text\":\"z\"}\n",
		"queries.jsonl": "{\"_id\":\"p\"}\n{\"_id\":\"q\",\"text\":\"x?\"}\n",
		"corpus.v.f32":  "\x00\x00\x80\x3f" + "\x00\x00\x00\x40" + "\x00\x00\x40\x40" + "\x00\x00\x80\x40", // 1, 2, 3, 4
		"queries.v.f32": "\x00\x00\xa0\x40" + "\x00\x00\xc0\x40",                                           // 5, 6
	})
	set, err := evaluation.Load(dir, "v")
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Corpus) != 2 || set.Corpus[0].Text != "z" || set.Corpus[0].Vector[0] != 4 || set.Corpus[1].Vector[0] != 3 ||
		len(set.Queries) != 1 || set.Queries[0].Vector[0] != 6 {
		t.Errorf("%+v %+v", set.Corpus, set.Queries)
	}
}

func TestFind(t *testing.T) {
	dir := folder(t, nil)
	for _, path := range []string{dir, filepath.Dir(dir)} {
		found, err := evaluation.Find([]string{path})
		if err != nil || len(found) != 1 || found[0] != dir {
			t.Errorf("Find(%s) = %v, %v; want %s", path, found, err, dir)
		}
	}
	if _, err := evaluation.Find([]string{t.TempDir()}); err == nil {
		t.Error("a folder without a set must be an error")
	}
}

// lengths embeds a text as its length and 1.
type lengths struct{}

func (lengths) Query(_ context.Context, text string) ([]float32, error) {
	return []float32{float32(len(text)), 1}, nil
}

func (l lengths) Passages(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i], _ = l.Query(ctx, text)
	}
	return vectors, nil
}

func TestEmbedTakesTitleAndText(t *testing.T) {
	set, err := evaluation.Load(folder(t, nil), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := set.Embed(t.Context(), lengths{}); err != nil {
		t.Fatal(err)
	}
	if a, b, q := set.Corpus[0].Vector[0], set.Corpus[1].Vector[0], set.Queries[0].Vector[0]; a != 3 || b != 1 || q != 2 {
		t.Errorf("embedded texts of %v, %v and %v bytes, want 3 (T x), 1 (y) and 2 (x?)", a, b, q)
	}
}

func TestParseSystem(t *testing.T) {
	system, err := evaluation.ParseSystem(`rrf of 15={"preset":"rrf","candidates":15}`)
	if err != nil || system.Name != "rrf of 15" || system.Request.Preset != "rrf" || *system.Request.Candidates != 15 {
		t.Errorf(`parsed %+v, %v; want no error and system.Name "rrf of 15" and system.Request.Preset "rrf" and *system.Request.Candidates 15`, system, err)
	}
	for _, text := range []string{"rrf", "={}", "a=", `a={"presets":"rrf"}`} {
		if _, err := evaluation.ParseSystem(text); err == nil {
			t.Errorf("%q must be refused", text)
		}
	}
}

func TestReportComparesWithTheBetterLeg(t *testing.T) {
	result := func(system string, values ...float64) *evaluation.Result {
		r := &evaluation.Result{Set: "s", System: system}
		for _, v := range values {
			r.Rows = append(r.Rows, evaluation.Row{Metrics: evaluation.Metrics{NDCG10: v}})
		}
		return r
	}
	r := evaluation.Report{Engine: "embedded", Vectors: "vectors v", Systems: []string{"text", "vector", "both"}}
	r.Add(&evaluation.Set{Name: "s"}, []*evaluation.Result{
		result("text", 0.25, 0.25), result("vector", 0.5, 0.5), result("both", 0.75, 1),
	})
	r.Add(&evaluation.Set{Name: "u"}, []*evaluation.Result{
		result("text", 1, 1), result("vector", 0.5, 0.5), result("both", 0.5, 1),
	})
	both := r.Means[2]
	near(t, "mean", both.NDCG10, (0.875+0.75)/2)
	near(t, "gain", *both.Gain, (0.375-0.25)/2)
	near(t, "worst gain", *both.WorstGain, -0.25)
	if both.WorstSet != "u" || r.Sets[0].Figures[2].Against != "vector" || r.Sets[1].Figures[2].Against != "text" {
		t.Errorf(`compared with the wrong leg: %+v, %+v; want both.WorstSet "u" and r.Sets[0].Figures[2].Against "vector" and r.Sets[1].Figures[2].Against "text"`, both, r.Sets)
	}
	var page strings.Builder
	if err := r.WriteTables(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| both | 0.8125 | +6.25 | -25.00 u |", "| s | 0.2500 | 0.5000 | 0.8750 |"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the tables lack %q:\n%s", want, page.String())
		}
	}
}
