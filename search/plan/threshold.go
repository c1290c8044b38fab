package plan

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hybridge-search/hybridge/fault"
)

// AutoThreshold is the threshold called "auto": it refuses about one answerable question in
// twenty, and drops hits that are answers less than once in twenty. docs/relevance.md measures
// its effects.
func AutoThreshold() Threshold {
	return Threshold{Answerable: new(0.25), Relevance: new(0.03)}
}

// Auto is the threshold that a name stands for in JSON.
const Auto = "auto"

// UnmarshalJSONFrom reads an object, or "auto".
func (t *Threshold) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() != '"' {
		type plain Threshold // without this method
		return json.UnmarshalDecode(d, (*plain)(t), d.Options())
	}
	var name string
	if err := json.UnmarshalDecode(d, &name); err != nil {
		return err
	}
	return t.UnmarshalText([]byte(name))
}

// UnmarshalText reads "auto".
func (t *Threshold) UnmarshalText(name []byte) error {
	if string(name) != Auto {
		return fault.Invalid("threshold", string(name), `an object, or "auto"`)
	}
	*t = AutoThreshold()
	return nil
}

// UnmarshalJSON is UnmarshalJSONFrom for encoding/json.
func (t *Threshold) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, t) }

// ByRelevance reports whether anything is cut by relevance.
func (t *Threshold) ByRelevance() bool { return t.Relevance != nil || t.Answerable != nil }
