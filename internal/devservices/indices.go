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
	t.Cleanup(func() { removeIndices(t, server, prefix) })
	return server, prefix
}

// removeIndices deletes index by index: Elasticsearch refuses to delete by a pattern.
func removeIndices(t testing.TB, server, prefix string) {
	t.Helper()
	var all map[string]json.RawMessage
	found := talk(t, http.MethodGet, server+"/"+prefix+"*/_settings?expand_wildcards=all")
	if err := json.Unmarshal(found, &all); err != nil {
		t.Errorf("the indices of the test: %v: %s", err, found)
	}
	for index := range all {
		talk(t, http.MethodDelete, server+"/"+index)
	}
	talk(t, http.MethodDelete, server+"/_index_template/"+prefix+"*") // there may be none
}

// talk asks by a connection of its own: none is left for a test of leaks to find.
func talk(t testing.TB, method, url string) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), method, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Error(err)
		return nil
	}
	body, err := io.ReadAll(res.Body)
	_ = res.Body.Close() // it is read
	if err == nil && res.StatusCode >= http.StatusBadRequest && res.StatusCode != http.StatusNotFound {
		err = fmt.Errorf("%s: %s", res.Status, body)
	}
	if err != nil {
		t.Errorf("%s %s: %v", method, url, err)
	}
	return body
}
