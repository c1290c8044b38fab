package elastic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/engine/elastic/storage"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/lib/smile"
	"github.com/hybridge-search/hybridge/mappings"
	"github.com/hybridge-search/hybridge/textquery"
)

// TestSmileSaysWhatJSONSays asks the real Elasticsearch in both forms for every kind
// of doc value, for names and strings on both sides of each limit of the format,
// and for an error.
func TestSmileSaysWhatJSONSays(t *testing.T) {
	const names = 300 // more than one byte tells apart
	url := devservices.Elasticsearch(t) + "/hybridge-smile-test"
	properties := map[string]any{}
	for name, kind := range map[string]string{
		"id": "keyword", "long": "long", "int": "integer", "byte": "byte", "big": "unsigned_long", "double": "double",
		"float": "float", "half": "half_float", "bool": "boolean", "date": "date", "ip": "ip", strings.Repeat("n", 65): "keyword",
		"数量": "long",
	} {
		properties[name] = map[string]any{"type": kind}
	}
	var fields []string
	for name := range properties {
		fields = append(fields, name)
	}
	for i := range names {
		name := fmt.Sprintf("field_%03d", i)
		properties[name], fields = map[string]any{"type": "long"}, append(fields, name)
	}
	remove := func() { ask(t, http.MethodDelete, url+"?ignore_unavailable=true", "application/json", "") }
	remove()
	t.Cleanup(remove)
	ask(t, http.MethodPut, url, "application/json", marshal(t, map[string]any{
		"settings": map[string]any{"number_of_replicas": 0, "max_docvalue_fields_search": 400},
		"mappings": map[string]any{"properties": properties},
	}))
	for i, id := range idsOfAllLengths() {
		document := map[string]any{
			"id": id, "long": int64(i-40) * 3_000_000_007, "int": i - 40, "byte": i - 40,
			"big": uint64(1)<<63 + uint64(i), "double": 1 / float64(i+1), "float": 0.1 * float64(i), "half": float64(i) / 4,
			"bool": i%2 == 0, "date": 1_790_000_000_000 + i, "ip": fmt.Sprint("10.0.0.", i), strings.Repeat("n", 65): id,
			"数量": []int{i, -i},
		}
		for n := range names {
			document[fmt.Sprintf("field_%03d", n)] = n * i
		}
		ask(t, http.MethodPost, url+"/_doc?refresh=true", "application/json", marshal(t, document))
	}
	same := func(body string) {
		t.Helper()
		path := url + "/_search?include_named_queries_score=true&filter_path=-took,-**.took"
		inJSON, inSmile := ask(t, http.MethodPost, path, "application/json", body), ask(t, http.MethodPost, path, smile.ContentType, body)
		if !strings.HasPrefix(inSmile, smile.Header) {
			t.Fatal("the answer is not SMILE")
		}
		r := smile.New(inSmile)
		if diff := cmp.Diff(decoded(t, inJSON), decoded(t, r.Raw())); diff != "" || r.End() != nil {
			t.Errorf("%.100s: (-JSON +SMILE)\n%s%v; want diff \"\" and no r.End()", body, diff, r.End())
		}
		var one, other rest.SearchResponse
		read(t, inJSON, &one)
		read(t, inSmile, &other)
		if diff := cmp.Diff(hitsOf(&one), hitsOf(&other)); diff != "" {
			t.Errorf("%.100s: (-JSON +SMILE)\n%s; want diff \"\"", body, diff)
		}
		if diff := cmp.Diff(rankedOf(t, inJSON), rankedOf(t, inSmile)); diff != "" {
			t.Errorf("%.100s: as ranked (-JSON +SMILE)\n%s; want diff \"\"", body, diff)
		}
	}
	same(marshal(t, map[string]any{
		"size": 100, "_source": false, "docvalue_fields": fields, "sort": []string{"int"}, "track_scores": true,
		"query": map[string]any{"constant_score": map[string]any{
			"_name": "leg0", "boost": 0.3, "filter": map[string]any{"range": map[string]any{"int": map[string]any{"gte": -40}}},
		}},
		"aggs": map[string]any{"all": map[string]any{"sum": map[string]any{"field": "float"}}},
	}))
	same(`{"query": {"match": {"id": "none of them"}}}`)
	same(`{"query": {"no_such_query": {}}}`)
}

// idsOfAllLengths have 1 to 70 bytes, some not ASCII, and one is empty.
func idsOfAllLengths() []string {
	ids := []string{"", strings.Repeat("长", 400), strings.Repeat("x", 300), `"\` + "\n\u2028<b>"}
	for n := 1; n <= 70; n++ {
		id := strings.Repeat("a", n)
		if n%3 == 0 {
			id = strings.Repeat("é", n/3) + strings.Repeat("b", n/3)
		}
		ids = append(ids, id)
	}
	return ids
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func decoded(t *testing.T, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%.200s: %v", text, err)
	}
	return v
}

func ask(t *testing.T, method, url, accept, body string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader([]byte(body)))
	if t.Context().Err() != nil { // when it cleans up
		req, err = http.NewRequest(method, url, bytes.NewReader([]byte(body)))
	}
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", accept)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func read(t *testing.T, text string, into rest.Readable) {
	t.Helper()
	r := smile.New(text)
	into.Read(r)
	if err := r.End(); err != nil {
		t.Fatalf("%.200s: %v", text, err)
	}
}

// hitsOf prints all that is read of the hits.
func hitsOf(a *rest.SearchResponse) []string {
	list := []string{}
	for i := range a.Hits {
		list = append(list, fmt.Sprintf("%s %v %v %v", a.Hits[i].ID, a.Hits[i].Score, a.Hits[i].Fields, a.Hits[i].Matched))
	}
	return list
}

// plainHits are three like each other. In SMILE only the first spells all names out.
const plainHits = "\xFA\x83hits\xFA\x40\xF8" +
	"\xFA\x85_score\x28\x03\x7C\x00\x00\x00\x85fields\xFA\x81id\xF8\x42one\xF9\xFB" +
	"\x8Ematched_queries\xFA\x83leg0\x28\x03\x7C\x00\x00\x00\xFB\xFB" +
	"\xFA\x41\x28\x03\x7B\x00\x00\x00\x42\xFA\x43\xF8\x42one\xF9\xFB\x44\xFA\x45\x28\x03\x7C\x00\x00\x00\xFB\xFB" +
	"\xFA\x41\x28\x03\x7A\x00\x00\x00\x42\xFA\x43\xF8\x42two\xF9\xFB\x44\xFA\xFB\xFB" +
	"\xF9\xFB\xFB"

// plainPlan reads what the hits of these tests have.
func plainPlan() *plan {
	names := &mappings.Names{ID: "id", DocumentID: "document", DocumentName: "name"}
	return &plan{t: &target{Location: &storage.Location{Names: names}}, legs: []legPlan{
		{name: "leg0", leg: &engine.Leg{Text: &textquery.Query{}}}, {name: "leg1", leg: &engine.Leg{}},
	}}
}

// rankedOf prints the hits of a response to the legs of a plan.
func rankedOf(t *testing.T, text string) []string {
	t.Helper()
	a := &ranking{p: plainPlan()}
	if err := smile.Read(text, a.Read); err != nil {
		t.Errorf("%.200s: %v", text, err)
	}
	list := []string{}
	for i := range a.hits {
		list = append(list, fmt.Sprint(a.hits[i], a.scores[i]))
	}
	return list
}

// TestRankedHits: unknown members, fields and clauses are skipped, the first of several
// values counts, and SMILE's table of names may start over.
func TestRankedHits(t *testing.T) {
	f := func(hits, want string) {
		t.Helper()
		text := smile.Header + "\x05" + strings.Replace(plainHits, "\xF9\xFB\xFB", hits+"\xF9\xFB\xFB", 1)
		if got := rankedOf(t, text); len(got) < 4 || got[3] != want || !slices.Equal(got[:3], rankedOf(t, smile.Header+"\x05"+plainHits)) {
			t.Errorf("%x: got %q, want %q", hits, got, want)
		}
	}
	const start, end = "\xFA\x41\x28\x03\x7C\x00\x00\x00\x42\xFA\x43\xF8", "\xFB\x44\xFA\x45\x28\x03\x7C\x00\x00\x00\xFB\xFB"
	f(start+"\x42six\xF9"+end, "{{six [{0 1} {0 NaN}]}   map[] []} 1")
	f(start+"\x42six\x42two\xF9"+end, "{{six [{0 1} {0 NaN}]}   map[] []} 1")
	f(start+"\xF9"+end, "{{ [{0 1} {0 NaN}]}   map[] []} 1")
	f(start+"\x42six\xF9\x87document\xF8\x81h\xC3\xA9\xF9"+end, "{{six [{0 1} {0 NaN}]} hé  map[] []} 1")
	f(start+"\x42six\xF9\x84other\xF8\x81h\xC3\xA9\xF9"+end, "{{six [{0 1} {0 NaN}]}   map[] []} 1")
	f(start+"\x42six\xF9\xFB\x83sort\xF8\x28\x03\x7C\x00\x00\x00\xF9\xFB", "{{six [{0 0} {0 NaN}]}   map[] []} 1")
	f("\xFA\x44\xFA\x84other\x28\x03\x7C\x00\x00\x00\x83leg1\x28\x03\x7C\x00\x00\x00\xFB\xFB", "{{ [{0 0} {0 0}]}   map[] []} 0")
	var many strings.Builder
	for i := range 1024 {
		_, _ = fmt.Fprintf(&many, "\x87name%04d\x21", i)
	}
	f("\xFA"+many.String()+"\x41\x28\x03\x7C\x00\x00\x00\xFB", "{{ [{0 0} {0 NaN}]}   map[] []} 0")
}
