package devservices

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Indices gives the URL of the shared Elasticsearch and a prefix of index names that
// nobody else has. What is under it goes with the test.
func Indices(t testing.TB) (server, prefix string) {
	t.Helper()
	server, prefix = Elasticsearch(t), "test-"+strings.ToLower(rand.Text()[:12])
	t.Cleanup(func() { RemoveIndices(t, server, prefix) })
	return server, prefix
}

// RemoveIndices deletes what is under a prefix, index by index: Elasticsearch refuses to delete by a pattern.
func RemoveIndices(t testing.TB, server, prefix string) {
	t.Helper()
	var all map[string]json.RawMessage
	found := Talk(t, http.MethodGet, server+"/"+prefix+"*/_settings?expand_wildcards=all", "")
	if err := json.Unmarshal(found, &all); err != nil {
		t.Errorf("the indices of the test: %v: %s", err, found)
	}
	for index := range all {
		Talk(t, http.MethodDelete, server+"/"+index, "")
	}
	Talk(t, http.MethodDelete, server+"/_index_template/"+prefix+"*", "") // there may be none
}

// Talk asks a server, with a body of JSON if there is one, and gives its answer; what it refuses
// is an error of the test, but not that something is not there. It does so by a connection of its
// own: none is left for a test of leaks to find.
func Talk(t testing.TB, method, url, body string) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Close = true
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Error(err)
		return nil
	}
	answer, err := io.ReadAll(res.Body)
	_ = res.Body.Close() // it is read
	if err == nil && res.StatusCode >= http.StatusBadRequest && res.StatusCode != http.StatusNotFound {
		err = fmt.Errorf("%s: %s", res.Status, answer)
	}
	if err != nil {
		t.Errorf("%s %s: %v", method, url, err)
	}
	return answer
}
