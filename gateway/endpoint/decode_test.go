package endpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/search"
)

// TestDecodingCopies: the memory of a body serves the next one.
func TestDecodingCopies(t *testing.T) {
	body := []byte(`{"query": "refund", "knowledge_bases": ["manuals"], "weights": {"text": 1},
		"filter": {"category": ["billing", "sales"]}, "preset": "rrf", "vector": [0.5]}`)
	var request, again search.Request
	if err := errors.Join(unmarshal(bytes.Clone(body), false, &again), unmarshal(body, false, &request)); err != nil {
		t.Fatal(err)
	}
	clear(body)
	if !reflect.DeepEqual(request, again) {
		t.Errorf("%+v changed with its body, was %+v", request, again)
	}
}

// FuzzDecode: whatever the body, the caller is at fault or it is a request, and
// what the problem document says of it can be shown.
func FuzzDecode(f *testing.F) {
	for _, body := range []string{
		`{"query": "refund", "knowledge_bases": ["manuals"]}`, `{}`, `null`, `[`, `{"query": 1}`, `{"weights": {"text": 1e999}}`, `{"weights": {"a~b/c": []}}`,
		"{\"\xff\": 1}", `{"filter": {"a": {"gte": "x"}}}`, `{"vector": [1, null]}`, `{"\ud800": 1}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var request search.Request
		err := unmarshal(body, false, &request)
		if err == nil {
			return
		}
		p := ProblemOf(err)
		if p.Status != http.StatusBadRequest || p.Code != string(fault.InvalidArgument) {
			t.Errorf("%q is answered with %+v; want p.Status StatusBadRequest and p.Code string(fault.InvalidArgument)", brief.Of(body), p)
		}
		if len(p.Detail) > 400 || len(p.Field) > 100 || !utf8.ValidString(p.Detail+p.Field) {
			t.Errorf("%q is explained by %q, field %q", brief.Of(body), p.Detail, p.Field)
		}
		if _, err := json.Marshal(p); err != nil || strings.TrimSpace(p.Detail) == "" {
			t.Errorf(`%q: %v, detail %q; want no error and strings.TrimSpace(p.Detail) other than ""`, brief.Of(body), err, p.Detail)
		}
	})
}
