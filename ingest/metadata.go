package ingest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/analysis/language"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// Limits on a chunk's metadata.
const (
	maxKeys     = 256
	maxKeyBytes = 256
	maxNesting  = 16
	maxExact    = 1 << 53 // from here on whole numbers are not exact as float64
)

// tellLanguage adds the language of a chunk to its metadata, unless they say it already or
// there is no room.
func tellLanguage(c *engine.Chunk) {
	if _, said := c.Metadata[engine.MetadataLanguage]; said || len(c.Metadata) == maxKeys {
		return
	}
	text := c.FieldText(engine.FieldText)
	if c.QA != nil {
		text += " " + c.Answer
	}
	l := language.Of(text)
	if l == "" {
		return
	}
	if c.Metadata == nil {
		c.Metadata = map[string]any{}
	}
	c.Metadata[engine.MetadataLanguage] = l
}

// flatten keeps strings, numbers (as float64), booleans and lists of these (as []any).
// Members of nested objects get dotted names.
func flatten(members map[string]json.RawMessage) (map[string]any, error) {
	if len(members) == 0 {
		return nil, nil
	}
	flat := make(map[string]any, len(members))
	for key, raw := range members {
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.UseNumber()
		var value any
		if err := decoder.Decode(&value); err != nil {
			return nil, fault.Wrap(fault.InvalidArgument, err, "metadata.%s is not JSON", key)
		}
		if err := addValue(flat, key, value, 1); err != nil {
			return nil, err
		}
	}
	return flat, nil
}

func addValue(flat map[string]any, key string, value any, depth int) error {
	field := "metadata." + key
	if key == "" || strings.HasSuffix(key, ".") || len(key) > maxKeyBytes {
		return fault.Invalid(field, key, "a name of 1 to 256 bytes")
	}
	switch v := value.(type) {
	case nil:
		return nil
	case map[string]any:
		return addObject(flat, key, v, depth+1)
	case []any:
		list, err := listOf(field, v)
		if err != nil {
			return err
		}
		value = list
	default:
		scalar, err := scalarOf(field, v)
		if err != nil {
			return err
		}
		value = scalar
	}
	if _, twice := flat[key]; twice {
		return fault.Invalid(field, "given twice", "given once; nested members get dotted names")
	}
	if len(flat) == maxKeys {
		return fault.Invalid("metadata", "more than 256 members", "at most 256")
	}
	flat[key] = value
	return nil
}

func addObject(flat map[string]any, key string, object map[string]any, depth int) error {
	if depth > maxNesting {
		return fault.Invalid("metadata."+key, "an object in too many others", "nested at most 16 deep")
	}
	for name, value := range object {
		if err := addValue(flat, key+"."+name, value, depth); err != nil {
			return err
		}
	}
	return nil
}

func listOf(field string, values []any) ([]any, error) {
	list := make([]any, 0, len(values))
	for i, value := range values {
		if value == nil {
			continue
		}
		scalar, err := scalarOf(fmt.Sprintf("%s[%d]", field, i), value)
		if err != nil {
			return nil, err
		}
		list = append(list, scalar)
	}
	return list, nil
}

func scalarOf(field string, value any) (any, error) {
	switch v := value.(type) {
	case string, bool:
		return v, nil
	case json.Number:
		return number(field, v)
	case []any:
		return nil, fault.Invalid(field, "a list in a list", "a string, number or boolean")
	default:
		return nil, fault.Invalid(field, "an object in a list", "a string, number or boolean")
	}
}

// number refuses what float64 would silently change, such as long numeric ids.
func number(field string, n json.Number) (any, error) {
	f, err := n.Float64()
	if err != nil || math.IsInf(f, 0) {
		return nil, fault.Invalid(field, n, "a number that fits 64 bits")
	}
	if math.Abs(f) >= maxExact && !strings.ContainsAny(n.String(), ".eE") {
		return nil, fault.Invalid(field, n, "a whole number within ±(2^53 - 1), or a string")
	}
	return f, nil
}

// ownMetadata lists the keys that only this package sets.
var ownMetadata = []string{MetadataSourceHash, MetadataSourceFolder}

// givesOwn refuses reserved keys.
func givesOwn(metadata map[string]json.RawMessage) error {
	for _, key := range ownMetadata {
		if _, given := metadata[key]; given {
			return fault.Invalid("metadata."+key, "given", "left out: it is written here")
		}
	}
	return nil
}

// metadata checks what every chunk of a file is to have.
func (u *FileUpload) metadata() (map[string]any, error) {
	if err := givesOwn(u.Metadata); err != nil {
		return nil, err
	}
	if u.Folder != "" {
		if err := CheckID("folder", u.Folder); err != nil {
			return nil, err
		}
	}
	flat, err := flatten(u.Metadata)
	if err == nil && len(flat)+len(ownMetadata) > maxKeys {
		err = fault.Invalid("metadata", "more than 254 members", "at most 254")
	}
	return flat, err
}

// ownOf returns a file's own metadata, without the reserved keys. Invalid values, and those without room, are
// dropped rather than refusing the file.
func ownOf(said map[string]json.RawMessage, room int) map[string]any {
	own := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(said)) {
		one := map[string]json.RawMessage{name: said[name]}
		if givesOwn(one) != nil {
			continue
		}
		flat, err := flatten(one)
		if err == nil && len(own)+len(flat) <= room {
			maps.Copy(own, flat)
		}
	}
	return own
}

// describe gives a chunk of the file its metadata.
func (u *FileUpload) describe(c *engine.Chunk, metadata map[string]any) {
	maps.Copy(c.Metadata, metadata)
	if u.Folder != "" {
		c.Metadata[MetadataSourceFolder] = u.Folder
	}
}
