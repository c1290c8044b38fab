package migrate

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestAPlanIsOfOneState: the digest of an index changes with what a plan depends on, and
// with nothing else.
func TestAPlanIsOfOneState(t *testing.T) {
	const live = `{"settings":{"index":{"uuid":"u","refresh_interval":"1s","analysis":{"analyzer":{"x":{"type":"standard"}}}}},` +
		`"mappings":{"properties":{"id":{"type":"keyword"},"text":{"type":"text"}}}}`
	digest := func(name, from, to string) string {
		return liveDigest(name, json.RawMessage(strings.Replace(live, from, to, 1)))
	}
	whole := digest("kb-v1", "", "")
	for _, change := range [][3]string{
		{"kb-v2", "", ""},
		{"kb-v1", `"uuid":"u"`, `"uuid":"v"`},
		{"kb-v1", `"type":"standard"`, `"type":"simple"`},
		{"kb-v1", `"type":"text"`, `"type":"keyword"`},
	} {
		if digest(change[0], change[1], change[2]) == whole {
			t.Errorf("%q: the digest is the same", change)
		}
	}
	if digest("kb-v1", `"1s"`, `"30s"`) != whole {
		t.Error("how often the index is refreshed changes the digest")
	}
	if digest("kb-v1", `"id":{"type":"keyword"},"text":{"type":"text"}`, `"text":{"type":"text"},"id":{"type":"keyword"}`) != whole {
		t.Error("the order of the fields changes the digest")
	}
}
