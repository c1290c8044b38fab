package foreign_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/cli/content/foreign"
	"github.com/hybridge-search/hybridge/internal/devservices"
)

// index makes an index with documents and returns its name.
func index(t *testing.T, mapping string, documents ...string) string {
	t.Helper()
	server, name := devservices.Indices(t)
	name += "-articles"
	devservices.Talk(t, http.MethodPut, server+"/"+name, `{"settings":{"number_of_shards":2,"number_of_replicas":0},"mappings":`+mapping+`}`)
	var lines strings.Builder
	for i, document := range documents {
		fmt.Fprintf(&lines, "{\"index\":{\"_id\":\"a%d\"}}\n%s\n", i, strings.ReplaceAll(document, "\n", " "))
	}
	devservices.Talk(t, http.MethodPost, server+"/"+name+"/_bulk?refresh=true", lines.String())
	return name
}

func connect(t *testing.T) *rest.Client {
	t.Helper()
	client, err := rest.New(&rest.Options{URLs: []string{devservices.Elasticsearch(t)}, Timeout: time.Minute, JSON: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	return client
}

func open(t *testing.T, client *rest.Client, name string, place foreign.Place, fields ...string) (*foreign.Reader, error) {
	t.Helper()
	mapping, err := foreign.ParseMapping("--map", fields)
	if err != nil {
		t.Fatal(err)
	}
	return foreign.Open(t.Context(), client, &foreign.Options{Index: name, Mapping: mapping, Setting: "--map", Place: place})
}

// all reads the rest of an index: chunks by id.
func all(t *testing.T, r *foreign.Reader) map[string]string {
	t.Helper()
	found := map[string]string{}
	for {
		lines, n, err := r.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return found
		}
		for line := range strings.Lines(string(lines)) {
			var chunk struct{ ID string }
			if err := json.Unmarshal([]byte(line), &chunk); err != nil {
				t.Fatal(err)
			}
			found[chunk.ID] = strings.TrimSpace(line)
		}
	}
}

const articles = `{"properties": {"body": {"type": "text"}, "headline": {"type": "keyword"}, "tags": {"type": "keyword"},
	"meta": {"properties": {"year": {"type": "integer"}, "serial": {"type": "long"}}},
	"author.name": {"type": "keyword"}, "parts": {"type": "nested", "properties": {"n": {"type": "integer"}}},
	"embedding": {"type": "dense_vector", "dims": 3}}}`

func TestFieldsBecomeMembers(t *testing.T) {
	t.Parallel()
	name := index(t, articles,
		`{"body": "Water the beds.", "headline": "浇水", "tags": ["garden", "water"], "meta": {"year": 2026, "serial": 9007199254740993},
			"author.name": "Ann", "parts": [{"n": 1}], "embedding": [0.5, -1, 2]}`,
		`{"body": ["One.", "Two."], "headline": null, "embedding": null}`)
	client := connect(t)
	for _, c := range []struct {
		fields []string
		want   string
	}{
		{[]string{"content=body"}, `{"content":"Water the beds.","id":"a0","metadata":{"author.name":"Ann",` +
			`"headline":"浇水","meta.serial":"9007199254740993","meta.year":2026,"tags":["garden","water"]}}`},
		{[]string{
			"content=body", "title=headline", "vector=embedding", "important_keywords=tags", "document_id=author.name",
			"metadata.y=meta.year", "metadata.key=_id",
		}, `{"content":"Water the beds.","document_id":"Ann","id":"a0",` +
			`"important_keywords":["garden","water"],"metadata":{"key":"a0","meta.serial":"9007199254740993","y":2026},` +
			`"title":"浇水","vector":[0.5,-1,2]}`},
	} {
		r, err := open(t, client, name, foreign.Place{}, c.fields...)
		if err != nil {
			t.Fatal(err)
		}
		found := all(t, r)
		if found["a0"] != c.want {
			t.Errorf("chunk is\n%s, want\n%s", found["a0"], c.want)
		}
		if want := `"content":"One.\n\nTwo."`; r.Total() != 2 || !strings.Contains(found["a1"], want) {
			t.Errorf("%d documents, the second is %s", r.Total(), found["a1"])
		}
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// What is written meanwhile is not read; a reader goes on where another stopped, or begins anew when Elasticsearch
// has forgotten.
func TestReadersGoOn(t *testing.T) {
	t.Parallel()
	var documents []string
	for i := range 450 {
		documents = append(documents, fmt.Sprintf(`{"body": "Text %d."}`, i))
	}
	name := index(t, articles, documents...)
	client := connect(t)
	first, err := open(t, client, name, foreign.Place{}, "content=body")
	if err != nil {
		t.Fatal(err)
	}
	if _, n, err := first.Next(t.Context()); err != nil || n != 200 {
		t.Fatalf("%d documents, %v; want no error and n 200", n, err)
	}
	devservices.Talk(t, http.MethodPost, devservices.Elasticsearch(t)+"/"+name+"/_doc/later?refresh=true", `{"body": "Later."}`)
	second, err := open(t, client, name, first.Place(), "content=body")
	if err != nil {
		t.Fatal(err)
	}
	if found := all(t, second); len(found) != 250 || second.Place().Documents != 450 || second.Total() != 450 {
		t.Errorf("%d documents, %d in all of %d", len(found), second.Place().Documents, second.Total())
	}
	if err := second.Close(t.Context()); err != nil {
		t.Error(err)
	}
	third, err := open(t, client, name, first.Place(), "content=body")
	if err != nil {
		t.Fatal(err)
	}
	if found := all(t, third); len(found) != 451 {
		t.Errorf("%d documents after the point in time was forgotten; want 451 found", len(found))
	}
	if err := third.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestMappingsThatDoNotFit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ fields, want string }{
		{"title=a", "content=FIELD"},
		{"content", "member=field"},
		{"content=", "member=field"},
		{"text=a", "content, "},
		{"metadata.=a", "metadata.NAME"},
		{"content=a content=b", "given once"},
	} {
		if _, err := foreign.ParseMapping("--map", strings.Fields(c.fields)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.fields, err)
		}
	}
	name := index(t, articles, `{"body": "x"}`)
	client := connect(t)
	for _, c := range []struct{ index, fields, want string }{
		{name, "content=bodi", "a field of " + name + ": author.name, body, embedding"},
		{name, "content=body vector=tags", "it is keyword"},
		{name + "-none", "content=body", "an index that exists"},
		{name + "-none*", "content=body", "an index that exists"},
	} {
		_, err := open(t, client, c.index, foreign.Place{}, strings.Fields(c.fields)...)
		if !fault.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.fields, err)
		}
	}
}
