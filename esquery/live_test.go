package esquery

import (
	"bytes"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hybridge-search/hybridge/internal/devservices"

	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/lib/smile"
)

const liveIndex = "hybridge-esquery-test"

const liveMapping = `{"settings": {"number_of_shards": 1, "number_of_replicas": 0}, "mappings": {"properties": {
	"id": {"type": "keyword"}, "kb": {"type": "keyword"}, "document_id": {"type": "keyword"},
	"available": {"type": "boolean"}, "ordinal": {"type": "integer"},
	"text": {"type": "text", "analyzer": "whitespace"}, "meta": {"type": "flattened"},
	"vector": {"type": "dense_vector", "dims": 2, "similarity": "cosine", "index": true}}}}`

// TestTheServerAcceptsEveryGolden sends each body of esquery_test.go to a real
// index that has documents with and without the fields.
func TestTheServerAcceptsEveryGolden(t *testing.T) {
	server := devservices.Elasticsearch(t)
	send(t, http.MethodDelete, server+"/"+liveIndex+"?ignore_unavailable=true", nil)
	send(t, http.MethodPut, server+"/"+liveIndex, []byte(liveMapping))
	t.Cleanup(func() { send(t, http.MethodDelete, server+"/"+liveIndex, nil) })
	documents := `{"index": {"_id": "1"}}` + "\n" +
		`{"id": "a", "kb": "a", "document_id": "d2", "text": "refund", "vector": [1, 0], "meta": {"date": "s:2026-05"}}` + "\n" +
		`{"index": {"_id": "2"}}` + "\n" + `{"id": "b", "ordinal": 4}` + "\n"
	send(t, http.MethodPost, server+"/"+liveIndex+"/_bulk?refresh=true", []byte(documents))

	for name, q := range queries {
		t.Run("query-"+name, func(t *testing.T) {
			search(t, server, Search{Query: q, Size: 10})
		})
	}
	for name, s := range searches {
		t.Run("search-"+name, func(t *testing.T) {
			search(t, server, s)
		})
	}
	t.Run("msearch", func(t *testing.T) {
		body, err := multi.NDJSON()
		if err != nil {
			t.Fatal(err)
		}
		body = bytes.ReplaceAll(body, []byte("INDEX"), []byte(liveIndex))
		answer := send(t, http.MethodPost, server+"/_msearch", body)
		if strings.Contains(answer, `"error"`) {
			t.Errorf("a search failed: %s; want no `\"error\"` in it", brief.Of(answer))
		}
		at := slices.Clone(multi)
		for i := range at {
			at[i].Header.Index = strings.ReplaceAll(at[i].Header.Index, "INDEX", liveIndex)
		}
		sameAnswer(t, answer, send(t, http.MethodPost, server+"/_msearch", inSmileOf(t, at)))
	})
	t.Run("bulk", func(t *testing.T) {
		answer := send(t, http.MethodPost, server+"/_bulk", bulkLines(t, liveIndex))
		// The last one is of a revision that the document does not have.
		if strings.Count(answer, `"error"`) != 1 || !strings.Contains(answer, `"version_conflict_engine_exception"`) {
			t.Errorf("an operation failed: %s; want strings.Count(answer, `\"error\"`) 1 and `\"version_conflict_engine_exception\"` in it", brief.Of(answer))
		}
	})
	t.Run("delete_by_query", func(t *testing.T) {
		body := marshal(t, DeleteByQuery{Query: Term{Field: "document_id", Value: "d1"}})
		send(t, http.MethodPost, server+"/"+liveIndex+"/_delete_by_query", body)
	})
}

// search sends a body in both forms.
func search(t *testing.T, server string, s Search) {
	t.Helper()
	url := server + "/" + liveIndex + "/_search"
	sameAnswer(t, send(t, http.MethodPost, url, marshal(t, s)), send(t, http.MethodPost, url, inSmileOf(t, s)))
}

var took = regexp.MustCompile(`"took":\d+`)

// sameAnswer compares answers to the same request in JSON and in SMILE.
func sameAnswer(t *testing.T, inJSON, inSmile string) {
	t.Helper()
	if diff := cmp.Diff(took.ReplaceAllString(inJSON, ""), took.ReplaceAllString(inSmile, "")); diff != "" {
		t.Errorf("the answer to SMILE is another one (-JSON +SMILE):\n%s; want diff \"\"", diff)
	}
}

func inSmileOf(t *testing.T, v Body) []byte {
	t.Helper()
	body, err := MarshalSmile(v)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func marshal(t *testing.T, v Body) []byte {
	t.Helper()
	body, err := Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// send fails the test unless the server accepts the request.
func send(t *testing.T, method, url string, body []byte) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader(body))
	if method == http.MethodDelete {
		req, err = http.NewRequest(method, url, nil) // also runs in Cleanup, when t's context is done
	}
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if bytes.HasPrefix(body, []byte(smile.Start)) {
		req.Header.Set("Content-Type", "application/smile")
	} else if strings.HasSuffix(req.URL.Path, "_bulk") || strings.HasSuffix(req.URL.Path, "_msearch") {
		req.Header.Set("Content-Type", "application/x-ndjson")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode >= http.StatusBadRequest {
		t.Fatalf("%s %s: %s\n%s\n%s; want res.StatusCode below StatusBadRequest", method, url, res.Status, brief.Of(body), brief.Of(answer))
	}
	return string(answer)
}
