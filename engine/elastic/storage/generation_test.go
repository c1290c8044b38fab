package storage

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestAnUnknownStateHasNoGeneration: every copy of every shard has to tell what it holds.
func TestAnUnknownStateHasNoGeneration(t *testing.T) {
	const settled = `{"_shards":{"failed":0},"indices":{"kb":{"uuid":"u","shards":{"0":[` +
		`{"routing":{"node":"n1","state":"STARTED"},"commit":{"id":"c"},"seq_no":{"max_seq_no":7},"refresh":{"external_total":3}},` +
		`{"routing":{"node":"n2","state":"STARTED"},"commit":{"id":"d"},"seq_no":{"max_seq_no":7},"refresh":{"external_total":3}}` +
		`]}}}}`
	digest := func(changes ...string) string {
		t.Helper()
		text := strings.NewReplacer(changes...).Replace(settled)
		var stats indexStats
		if err := json.Unmarshal([]byte(text), &stats); err != nil || len(changes) > 0 && text == settled {
			t.Fatalf("%s: %v; want no error and len(changes) 0 or text other than settled", text, err)
		}
		name, err := stats.digest()
		if err != nil {
			t.Fatal(err)
		}
		return name
	}
	whole := digest()
	if whole == "" {
		t.Error("a settled index has no name")
	}
	unknown := func(changes ...string) {
		t.Helper()
		if name := digest(changes...); name != "" {
			t.Errorf(`%q: the name is %q; want name ""`, changes, name)
		}
	}
	unknown(`"node":"n2","state":"STARTED"`, `"node":"n2","state":"RELOCATING"`)
	unknown(`"failed":0`, `"failed":1`)
	unknown(`"max_seq_no":7`, `"other":7`)
	unknown(`"external_total":3`, `"other":3`)
	unknown(`"indices":{"kb":`, `"none":{"kb":`)
	another := func(changes ...string) {
		t.Helper()
		if name := digest(changes...); name == whole || name == "" {
			t.Errorf("%q: the name is %q, as before", changes, name)
		}
	}
	another(`"max_seq_no":7`, `"max_seq_no":8`)
	another(`"external_total":3`, `"external_total":4`)
	another(`"id":"d"`, `"id":"e"`)
	another(`"uuid":"u"`, `"uuid":"v"`)
	if name := digest(`"n1"`, `"n2"`, `"n2"`, `"n1"`, `"id":"c"`, `"id":"d"`, `"id":"d"`, `"id":"c"`); name != whole {
		t.Error("the order in which the copies answer changes the name")
	}
}
