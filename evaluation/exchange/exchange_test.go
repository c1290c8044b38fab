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

// queries reads those of a text, and fails where anything is odd.
func queries(t *testing.T, format exchange.Format, text string) []library.Query {
	t.Helper()
	file := exchange.File{Name: "file", Format: format}
	read, _, err := file.Queries(strings.NewReader(text))
	if err != nil || !file.Report.IsZero() {
		t.Fatal(err, said(file.Report))
	}
	var all []library.Query
	for i := range read {
		all = append(all, read[i].Query)
	}
	return all
}

// judgments reads those of a text.
func judgments(t *testing.T, file *exchange.File, text string, how exchange.Reading) []library.Judgment {
	t.Helper()
	read, err := file.Judgments(strings.NewReader(text), how)
	if err != nil {
		t.Fatal(err)
	}
	var all []library.Judgment
	for i := range read {
		all = append(all, read[i].Judgment)
	}
	return all
}

func said(r *exchange.Report) string {
	var text strings.Builder
	_ = r.Write(&text, "") // it takes everything
	return text.String()
}

func TestQueriesOfOtherPrograms(t *testing.T) {
	f := func(format exchange.Format, text string, want ...library.Query) {
		t.Helper()
		if diff := cmp.Diff(want, queries(t, format, text)); diff != "" {
			t.Error(diff)
		}
	}
	one, two := library.Query{ID: "1", Text: "a b"}, library.Query{ID: "2", Text: "退款", Unanswerable: true}
	f(exchange.Lines, "{\"_id\": \"1\", \"text\": \"a b\", \"metadata\": {\"x\": [1]}}\n"+
		"{\"id\": \"2\", \"text\": \"退款\", \"unanswerable\": true}\n", one, two)
	f(exchange.Lines, "[{\"query_id\": \"1\",\n \"query\": \"a b\"}]", one)
	f(exchange.CSV, "id,query\n1,\"a, b\"\n,退款\n", library.Query{ID: "1", Text: "a, b"}, library.Query{ID: "退款", Text: "退款"})
	// A file of judgments names its queries many times.
	f(exchange.CSV, "query,docid,rating\na b,d1,1\na b,d2,0\nc\n", library.Query{ID: "a b", Text: "a b"}, library.Query{ID: "c", Text: "c"})
	f(exchange.RRE, ratings, library.Query{ID: "fender", Text: "fender"}, library.Query{ID: "Fender", Text: "Fender"})
	long := strings.Repeat("退款", 40)
	got := queries(t, exchange.CSV, "query\n"+long+"\n")
	if len(got) != 1 || got[0].Text != long || !strings.HasPrefix(got[0].ID, "sha256-") || len(got[0].ID) > 64 {
		t.Errorf("%+v", got)
	}
}

// The forms of RRE's ratings by its documentation, and of what Quepid exports for it by its templates.
const (
	ratings = `{"index": "basses", "id_field": "id", "topics": [{"description": "Fender", "query_groups": [{"name": "brand",
  "relevant_documents": {"d1": {"gain": 3}, "d2": {"gain": 0}},
  "queries": [{"template": "t.json", "placeholders": {"$query": "fender"}},
    {"template": "t.json", "placeholders": {"$query": "Fender", "$lang": "en"}}]}]}]}`
	newRatings = `{"query_placeholder": "$q", "query_groups": [{"queries": [{"placeholders": {"$q": "how long, please"}}],
  "relevant_documents": {"2": ["d 1", 7], "0": ["d2"]}}]}`
	quepidRatings = `{"id_field": "id", "index": "case", "template": "template.json", "queries": [
  {"placeholders": {"$query": "how long, please"}, "relevant_documents": {"0": ["d2"], "2": ["d 1"]}}]}`
)

func TestJudgmentsOfOtherPrograms(t *testing.T) {
	how := exchange.Reading{ByText: map[string]string{"how long, please": "q1"}, KnowledgeBase: "shop"}
	f := func(format exchange.Format, text string, want ...library.Judgment) {
		t.Helper()
		file := exchange.File{Name: "file", Format: format}
		if diff := cmp.Diff(want, judgments(t, &file, text, how)); diff != "" || !file.Report.IsZero() {
			t.Error(format, diff, said(file.Report))
		}
		found := exchange.Detect("-", []byte(text))
		if exchange.Detect("a."+string(format), []byte(text)) != format && found != format && format != exchange.CSV && format != exchange.BEIR {
			t.Errorf("%q is taken for %s", text, found)
		}
	}
	of := func(query, document string, grade int) library.Judgment {
		return library.Judgment{QueryID: query, KnowledgeBase: "shop", DocumentID: document, Grade: grade}
	}
	one, none := of("q1", "d 1", 2), of("q2", "d2", 0)
	f(exchange.BEIR, "query-id\tcorpus-id\tscore\nq1\td 1\t2\nq2\td2\t0\n", one, none)
	f(exchange.BEIR, "query-id\tcorpus-id\tscore\n\"q1\"\td 1\t2.0\n", one) // as BEIR's loader takes quotes
	f(exchange.TREC, "q2 0 d2 0\nq2\t0\td3\t1\n", none, of("q2", "d3", 1))
	// Quepid's CSV by its templates: one row a rating, and a query alone where it has none.
	f(exchange.CSV, "query,docid,rating\n\"how long, please\",d 1,2.0\nq2,d2,0\n", one, none)
	f(exchange.CSV, "Query ID,Doc ID,Rating\nq1,d 1,2\n", one)
	f(exchange.CSV, "q_id,doc_id,score\nq1,d 1,2\n", one) // ranx's columns
	f(exchange.Lines, `{"query_id": "q1", "document_id": "d 1", "grade": 2}`, one)
	f(exchange.Lines, `{"q_id": "q1", "doc_id": "d 1", "score": 2}`, one)
	f(exchange.Lines, `{"query": "how long, please", "docid": "d 1", "rating": "2.0"}`, one)
	f(exchange.Lines, `[{"query_id": "q1", "document_id": "d 1", "grade": 2}]`, one)
	f(exchange.Ranx, "{\n  \"q1\": {\"d 1\": 2},\n  \"q2\": {\"d2\": 0}\n}", one, none)
	f(exchange.RRE, ratings, of("fender", "d1", 3), of("fender", "d2", 0), of("Fender", "d1", 3), of("Fender", "d2", 0))
	f(exchange.RRE, quepidRatings, of("q1", "d2", 0), one)
	f(exchange.LTR, "# qid:q1: how long\n2 qid:q1 1:0.5 2:0 # d3 how long\n0 qid:q2 1:-1 #d2\n", of("q1", "d3", 2), none)
}

// Every oddity by its line, and what is done with it. What is left is read.
func TestOddities(t *testing.T) {
	f := func(format exchange.Format, text string, left int, want ...string) {
		t.Helper()
		file := exchange.File{Name: "file", Format: format}
		read, err := file.Judgments(strings.NewReader(text), exchange.Reading{})
		if err != nil || len(read) != left {
			t.Errorf("%s %q: %d judgments, %v; want %d", format, text, len(read), err, left)
		}
		text = said(file.Report)
		for _, want := range want {
			if !strings.Contains(text, want) {
				t.Errorf("the report lacks %q:\n%s", want, text)
			}
		}
	}
	f(exchange.BEIR, "\ufeffquery-id\tcorpus-id\tscore\r\nq\ta\t1\r\n", 1, "a byte order mark (1): skipped", "CR LF (2): read as any other")
	f(exchange.BEIR, "q\ta\t1\n\n  \nq\tb\t0\n", 2, "no header (1): the first line is read", `line 1: "q\ta\t1"`,
		"blank lines (2): skipped\n  line 2\n  line 3\n")
	f(exchange.BEIR, "query\tdoc\trel\nq\ta\t1\n", 1, "a first line that is no row (1): taken for a header", `line 1: "query\tdoc\trel"`)
	f(exchange.BEIR, "query-id\tcorpus-id\tscore\nq a 1\nq\ta\t1\t2\nq\tb\t1\n", 1, "another number of columns (2): left out",
		`line 2: 1 of 3: "q a 1"`, `line 3: 4 of 3`)
	f(exchange.TREC, "query iteration doc rel\nq 0 a 1\nq 0 b\n", 1, "taken for a header", `line 3: 3 of 4: "q 0 b"`)
	f(exchange.TREC, "q 0 a 1\nq 0 a 3\nq 0 b 1\nq 0 b 1.0\n", 2,
		`different grades (1): the last grade counts`, `line 2: document "a" of query "q": 1 in line 1, then 3`,
		`same grade (1): which changes nothing`, `line 4: document "b" of query "q": 1, as in line 3`)
	f(exchange.TREC, "q 0 a 0.5\nq 0 b -2\nq 0 c good\nq 0 d NaN\nq 0 e 1e9\n", 1,
		"between two whole numbers (1): left out: multiply", `line 1: document "a" of query "q": "0.5"`,
		"grades below 0 (1): they count as 0", `line 2: document "b" of query "q": -2`,
		"no numbers of at most a million (3): left out", `line 3: document "c" of query "q": "good"`)
	f(exchange.TREC, "q 0 a\xff 1\n", 1, "no UTF-8 (1): read as the character U+FFFD", "line 1: \"q 0 a\ufffd 1\"")
	f(exchange.TREC, strings.Repeat("x", 5<<20)+"\nq 0 a 1\n", 1, "more than 4 MiB (1): left out\n  line 1\n")
	f(exchange.Lines, "{\"query_id\": 7, \"document_id\": 1.50, \"grade\": 1}\n{\"query_id\": \"q\", \"grade\": 1}\nnull\n[1", 1,
		"ids that are numbers (2): read as their text\n  line 1: 7\n  line 1: 1.50", "without an id (2)",
		"cannot be read (1): left out\n  line 4: \"[1\"")
	f(exchange.Lines, "{\"query_id\": \"q\", \"document_id\": \"a\", \"grade\": 1, \"why\": 2}\n{\n{\"query_id\": [], \"grade\": 1}\n", 1,
		"members that mean nothing here (1): not read\n  line 1: \"why\"", "cannot be read (2): left out", "line 2: \"{\": unexpected EOF",
		"line 3: ")
	f(exchange.CSV, "query,docid,rating\nq,a,1\nq,b\nx\nq,\"c,1\n", 1, "line 3: 2; the header has 3", `pairs without a grade (1)`,
		`line 4: query "x" has none`, "cannot be read (1): left out\n  line 5: ")
	f(exchange.CSV, "q,a,1\nq,b,0\n", 2, "no header (1): the first line is read as a row\n  line 1: taken for query,docid,rating")
	f(exchange.CSV, "query,docid,rating\nq,a,\nq,b,1\n", 1, `without a grade (1): left out`, `line 2: document "a" of query "q"`)
	f(exchange.Ranx, "{\n\"q\": {\"a\": 1, \"a\": 2},\n\"x\": 3,\n\"q\": {\"b\": 0.5}}", 1,
		`line 2: document "a" of query "q": 1 in line 2, then 2`, `line 3: query "x": no object of documents`, `line 4: document "b" of query "q": "0.5"`)
	f(exchange.RRE, newRatings, 3, "ids that are numbers (1)")
	f(exchange.RRE, `{"queries": [{"placeholders": {"$a": "x", "$b": "y"}, "relevant_documents": {"d": 1}}, 7]}`, 0,
		`queries without a text (1): left out`, `no placeholder "$query"`, "no object of a query")
	f(exchange.LTR, "1 qid:q 1:1\n1 q 1:1 # d\nx qid:q # d\n", 0, "without an id (1)", "no grade and qid", `"x"`)
	rows := strings.Repeat("q 0 a\n", 100)
	f(exchange.TREC, rows, 0, "columns (100)", "line 3: ", "  and 97 more\n")
}

// Files that are no such files at all are refused.
func TestBadFiles(t *testing.T) {
	f := func(format exchange.Format, text, want string) {
		t.Helper()
		file := exchange.File{Name: "file", Format: format}
		_, err := file.Judgments(strings.NewReader(text), exchange.Reading{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	f(exchange.CSV, "query,document\n", "docid or doc_id")
	f(exchange.Ranx, "{\n\"q\": {\"a\": 1", "file, line 2: unexpected EOF")
	f(exchange.Ranx, "{\n\"q\": {]", "line 2")
	f(exchange.RRE, "[]", "it must be {")
	f("xml", "", "jsonl, csv, beir, trec, ranx, rre or ltr")
	file := exchange.File{Name: "file", Format: exchange.BEIR}
	if _, _, err := file.Queries(strings.NewReader("")); err == nil {
		t.Error("qrels are queries")
	}
}

func TestOddQueries(t *testing.T) {
	file := exchange.File{Name: "queries.jsonl"}
	read, rows, err := file.Queries(strings.NewReader(`{"_id": "1", "text": "a"}
{"_id": "1", "text": "b"}
{"_id": 2, "text": "c"}
{"_id": "2", "text": "c"}
{"_id": "3"}
{"text": "d"}
`))
	if err != nil || rows != 6 || len(read) != 2 || read[0].Text != "b" || read[0].Row != 1 || read[1].Line != 4 {
		t.Errorf(`%+v, %d rows, %v; want no error and rows 6 and 2 read and read[0].Text "b" and read[0].Row 1 and read[1].Line 4`, read, rows, err)
	}
	text := said(file.Report)
	for _, want := range []string{
		`queries of an id that was there (2): the last one counts`, `line 2: query "1": "a" in line 1, then "b"`,
		`line 4: query "2": line 3 has the same text`, "line 3: 2", `queries without a text (1): left out`, `line 6: "d"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q:\n%s", want, text)
		}
	}
}

func TestDetect(t *testing.T) {
	f := func(name, head string, want exchange.Format) {
		t.Helper()
		if got := exchange.Detect(name, []byte(head)); got != want {
			t.Errorf("%s with %q is %s, want %s", name, head, got, want)
		}
	}
	f("a.tsv", "query-id\tcorpus-id\tscore\n", exchange.BEIR)
	f("a.tsv", "q\t0\td\t1\n", exchange.TREC) // as MS MARCO has them
	f("a.txt", "q 0 d 1\n", exchange.TREC)
	f("a.txt", "# a\n3 qid:1 # d\n", exchange.LTR)
	f("a.json", "\ufeff{\"q\": {\"d\": 1}}", exchange.Ranx)
	f("a.json", "{}", exchange.Ranx)
	f("a.json", "{\"index\": \"x\",", exchange.RRE)
	f("a.json", "{\"query_id\": \"q\",", exchange.Lines)
	f("a.json", "{\"metadata\": {}, \"_id\": \"q\"}\n{}", exchange.Lines)
	f("a.json", "[", exchange.Lines)
	f("-", "", exchange.Lines)
	f("-", "{\"id\": \"x\"}\n", exchange.Lines)
	f("qrels.txt", "", exchange.TREC)
}

// What is written is read again.
func TestRoundTrip(t *testing.T) {
	written := []library.Judgment{
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
		if err := exchange.WriteJudgments(&file, format, written, texts); err != nil {
			t.Fatal(err)
		}
		read := exchange.File{Name: "file", Format: format}
		got := judgments(t, &read, file.String(), how)
		if diff := cmp.Diff(written, got); diff != "" || !read.Report.IsZero() {
			t.Error(format, diff, said(read.Report))
		}
	}
	asked := []library.Query{{ID: "q1", Text: "how <long>"}, {ID: "q2", Text: texts["q2"]}}
	for _, format := range []exchange.Format{exchange.Lines, exchange.CSV} {
		var file bytes.Buffer
		if err := exchange.WriteQueries(&file, format, asked); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(asked, queries(t, format, file.String())); diff != "" {
			t.Error(format, diff)
		}
	}
}

func TestFolder(t *testing.T) {
	folder := t.TempDir()
	if _, err := exchange.OpenFolder(folder, &exchange.Report{}, ""); err == nil {
		t.Error("an empty folder is a set")
	}
	for _, name := range []string{"queries.jsonl", "qrels/train.tsv", "qrels/test.tsv"} {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		var report exchange.Report
		found, err := exchange.OpenFolder(folder, &report, "")
		switch {
		case name == "queries.jsonl":
			if err == nil {
				t.Error("a folder without judgments is a set")
			}
		case err != nil || found.Name(found.Judgments) != name || report.IsZero() == strings.Contains(name, "train"):
			t.Error(found, err, said(&report))
		}
	}
	found, err := exchange.OpenFolder(folder, &exchange.Report{}, "other.csv")
	if err != nil || found.Judgments != "other.csv" || found.Name("/other.csv") != "/other.csv" {
		t.Error(found, err)
	}
}
