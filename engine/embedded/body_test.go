package embedded

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hybridge-search/hybridge/engine"
)

// TestReadBody wants of what looks like a stored chunk what encoding/json makes of it,
// or nothing.
func TestReadBody(t *testing.T) {
	sign := rapid.SampledFrom(strings.Split(
		`{|}|[|]|,|:| |"|\|\"|\n|\u0041|\ud83d|null|true|false|0|01|-1|1.|1e5|.5|99999999999999999999|é|退|`+
			`"a"|"a":1|"b":"退\n"|"a":[1,"x",[]]|{"a":[]}|[[1,2.5],[-1]]|[[]]|[null]|`+"\xff|\n|\x1f", "|"))
	signs := rapid.Map(rapid.SliceOfN(sign, 1, 4), func(all []string) string { return strings.Join(all, "") })
	value := func(usual ...string) *rapid.Generator[string] {
		return rapid.OneOf(rapid.SampledFrom(usual), rapid.SampledFrom(usual), rapid.SampledFrom(usual), signs)
	}
	members := []struct {
		name  string
		value *rapid.Generator[string]
	}{
		{"id", value(`"a"`, `"退款"`)},
		{"document_id", value(`"b"`)},
		{"document_name", value(`"a \"name\""`)},
		{"ordinal", value(`0`, `12`, `-3`)},
		{"title", value(`""`, `"title"`)},
		{"content", value(`"several words, more than eight bytes"`, "\"a control \x02 in it\"", "\"a\xff\"")},
		{"positions", value(`[[1,2,3.5]]`, `[[],[0]]`)},
		{"metadata", value(`{}`, `{"a":"b","n":12,"f":-0.5,"l":["x",true,null]}`, `{"a":1,"a":2}`)},
		{"owner", value(`"o"`)},
		{"available", value(`true`, `false`)},
		{"question", value(`"q?"`)},
		{"group", value(`"g"`)},
		{"unknown", value(`1`)},
	}
	rapid.Check(t, func(r *rapid.T) {
		var written []string
		for _, m := range members {
			if rapid.IntRange(0, 5).Draw(r, m.name) > 0 {
				written = append(written, `"`+m.name+`":`+m.value.Draw(r, m.name))
			}
		}
		sameRead(r, "{"+strings.Join(written, ",")+"}"+rapid.SampledFrom([]string{"", "", "", "}", " "}).Draw(r, "end"))
	})
}

func sameRead(t rapid.TB, body string) {
	t.Helper()
	got, ok := readBody(body)
	if !ok {
		return
	}
	var want engine.Chunk
	if err := json.Unmarshal([]byte(body), &want); err != nil {
		t.Fatalf("%q is read, although: %v", body, err)
	}
	if got.QA != nil && want.QA == nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%q is read as\n%+v\nwant\n%+v", body, got, want)
	}
}

func FuzzReadBody(f *testing.F) {
	f.Add(`{"id":"a","document_id":"b","ordinal":0,"content":"c\n","positions":[[1]],"metadata":{"a":1},"available":true}`)
	f.Fuzz(func(t *testing.T, body string) { sameRead(t, body) })
}
