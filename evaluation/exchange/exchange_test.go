package exchange_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hybridge-search/hybridge/evaluation/exchange"
	"github.com/hybridge-search/hybridge/evaluation/library"
)

func TestQueriesOfOtherPrograms(t *testing.T) {
	f := func(format exchange.Format, text string, want ...library.Query) {
		t.Helper()
		got, err := exchange.ReadQueries(strings.NewReader(text), format)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	f(exchange.Lines, "{\"_id\": \"1\", \"text\": \"a b\", \"metadata\": {\"x\": [1]}}\n\n{\"id\": \"2\", \"text\": \"退款\", \"unanswerable\": true}\n",
		library.Query{ID: "1", Text: "a b"}, library.Query{ID: "2", Text: "退款", Unanswerable: true})
	f(exchange.CSV, "\ufeffid,query\n1,\"a, b\"\n,退款\n", library.Query{ID: "1", Text: "a, b"}, library.Query{ID: "退款", Text: "退款"})
	long := strings.Repeat("退款", 40)
	got, err := exchange.ReadQueries(strings.NewReader("query\n"+long+"\n"), exchange.CSV)
	if err != nil || len(got) != 1 || got[0].Text != long || !strings.HasPrefix(got[0].ID, "sha256-") || len(got[0].ID) > 64 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestJudgmentsOfOtherPrograms(t *testing.T) {
	f := func(format exchange.Format, text string, want ...library.Judgment) {
		t.Helper()
		how := exchange.Reading{ByText: map[string]string{"how long, please": "q1"}, KnowledgeBase: "shop"}
		got, err := exchange.ReadJudgments(strings.NewReader(text), format, how)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	one := library.Judgment{QueryID: "q1", KnowledgeBase: "shop", DocumentID: "d 1", Grade: 2}
	none := library.Judgment{QueryID: "q2", KnowledgeBase: "shop", DocumentID: "d2"}
	f(exchange.BEIR, "query-id\tcorpus-id\tscore\nq1\td 1\t2\nq2\td2\t0\n", one, none)
	f(exchange.BEIR, "q1\td 1\t2\n", one)
	f(exchange.TREC, "q2 0 d2 -1\n", none)
	f(exchange.CSV, "query,docid,rating\n\"how long, please\",d 1,2.0\nq2,d2,0\n", one, none)
	f(exchange.Lines, `{"query_id": "q1", "document_id": "d 1", "grade": 2}`, one)
}

func TestBadFiles(t *testing.T) {
	f := func(format exchange.Format, text, want string) {
		t.Helper()
		_, err := exchange.ReadJudgments(strings.NewReader(text), format, exchange.Reading{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	f(exchange.TREC, "q1 0 d1\n", "line 1: it has 3 columns; trec has 4")
	f(exchange.BEIR, "query-id\tcorpus-id\tscore\nq1\td1\tgood\n", "line 2: grade")
	f(exchange.CSV, "query,document\n", "docid or doc_id")
	f(exchange.CSV, "query,docid,rating\na,b\n", "wrong number of fields")
	f(exchange.CSV, "query,docid,rating\na,b,1.5\n", "line 2: grade")
	f(exchange.CSV, "query,docid,rating\na\"b,c,1\n", "line 2")
	f(exchange.CSV, "query,docid,rating\n\"a,b,1\n", "line")
	f(exchange.Lines, `{"query": "q1"}`, "line 1")
	f("xml", "", "format")
	if _, err := exchange.ReadQueries(strings.NewReader("{"), exchange.Lines); err == nil {
		t.Error("half an object is a query")
	}
}

// What is written is read again.
func TestRoundTrip(t *testing.T) {
	judgments := []library.Judgment{
		{QueryID: "q1", KnowledgeBase: "shop", DocumentID: "d1", Grade: 3},
		{QueryID: "q2", KnowledgeBase: "shop", DocumentID: "文档", Grade: 0},
	}
	texts := map[string]string{"q1": "how long", "q2": "退款, \"多久\""}
	how := exchange.Reading{KnowledgeBase: "shop", ByText: map[string]string{}}
	for id, text := range texts {
		how.ByText[text] = id
	}
	for _, format := range []exchange.Format{exchange.Lines, exchange.CSV, exchange.BEIR, exchange.TREC} {
		var file bytes.Buffer
		if err := exchange.WriteJudgments(&file, format, judgments, texts); err != nil {
			t.Fatal(err)
		}
		got, err := exchange.ReadJudgments(&file, format, how)
		if err != nil {
			t.Fatal(format, err)
		}
		if diff := cmp.Diff(judgments, got); diff != "" {
			t.Error(format, diff)
		}
	}
	queries := []library.Query{{ID: "q1", Text: "how <long>"}, {ID: "q2", Text: texts["q2"]}}
	for _, format := range []exchange.Format{exchange.Lines, exchange.CSV} {
		var file bytes.Buffer
		if err := exchange.WriteQueries(&file, format, queries); err != nil {
			t.Fatal(err)
		}
		got, err := exchange.ReadQueries(&file, format)
		if diff := cmp.Diff(queries, got); err != nil || diff != "" {
			t.Error(format, err, diff)
		}
	}
}

func TestFolder(t *testing.T) {
	folder := t.TempDir()
	if _, _, err := exchange.Folder(folder); err == nil {
		t.Error("an empty folder is a set")
	}
	for _, name := range []string{"queries.jsonl", "qrels/test.tsv", "qrels/train.tsv"} {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	queries, judgments, err := exchange.Folder(folder)
	if err != nil || filepath.Base(queries) != "queries.jsonl" || filepath.Base(judgments) != "test.tsv" {
		t.Error(queries, judgments, err)
	}
}
