package mappings

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/hybridge-search/hybridge/filter"
)

// All metadata of all knowledge bases lives in one flattened field: no key can
// grow the mapping, and no value can clash with another one's type. A value is
// a term that carries its type and sorts like the value:
//
//	"billing" → s:billing    2024 → n:c09fa00000000000    true → b:true
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/flattened.html

// The type tags that encoded values begin with.
const (
	TagString = "s:"
	TagNumber = "n:"
	TagBool   = "b:"
)

// Keys of the field that no metadata have, since % is escaped in theirs, with one value without a tag each. Documents
// are summed up by them.
const (
	// KeyWritten is when the chunk was written. What filters call written_at may be a list in metadata of before the
	// gateway wrote such times.
	KeyWritten = "%written"
	// KeyBytes is how large the chunk is as JSON, without vectors: a whole number.
	KeyBytes = "%bytes"
	// keyMoments begins the key of a field's moments.
	keyMoments = "%moments:"
)

// KeyMoments is the key with the moments of a field's times, as EncodeMoment writes them. Ranges of times are over
// them; they are no values, so nothing else sees them.
func KeyMoments(field string) string { return keyMoments + EncodeKey(field) }

// IsMoments says whether a key is one of KeyMoments.
func IsMoments(key string) bool { return strings.HasPrefix(key, keyMoments) }

// Terms below and above those of all moments.
const (
	FirstMoment  = "0"
	BehindMoment = "g"
)

// EncodeMoment writes microseconds so that strings sort like moments.
func EncodeMoment(micros int64) string {
	return fmt.Sprintf("%016x", uint64(micros)^signBit) //nolint:gosec // the bits of a negative number are wanted
}

// EncodeMoments gives the terms of the times among values.
func EncodeMoments(values []any) (terms []string) {
	for _, v := range values {
		text, _ := v.(string)
		if moment, ok := filter.ParseMoment(text); ok {
			terms = append(terms, EncodeMoment(moment.From))
		}
	}
	return terms
}

// After returns the smallest term above all values of a tag (';' follows ':').
func After(tag string) string { return strings.TrimSuffix(tag, ":") + ";" }

// Lucene takes terms of up to 32,766 bytes, a key and its value together.
const (
	maxKey   = 512
	maxValue = 8192
)

// EncodeMetadata returns the terms of each key. A value that is neither a string, a
// number, a boolean nor a list of these cannot be filtered by and is left out.
func EncodeMetadata(metadata map[string]any) map[string][]string {
	encoded := make(map[string][]string, len(metadata))
	for key, value := range metadata {
		var terms []string
		for _, v := range flatten(value) {
			if term, ok := EncodeValue(v); ok {
				terms = append(terms, term)
			}
		}
		if len(terms) > 0 {
			encoded[EncodeKey(key)] = terms
		}
	}
	return encoded
}

func flatten(value any) []any {
	switch v := value.(type) {
	case []any:
		return v
	case []string:
		return anys(v)
	case []float64:
		return anys(v)
	case []bool:
		return anys(v)
	default:
		return []any{value}
	}
}

func anys[T any](values []T) []any {
	all := make([]any, len(values))
	for i, v := range values {
		all[i] = v
	}
	return all
}

// EncodeKey makes any string a key of the flattened field: the characters that
// have a meaning in field names are escaped, and a long key is cut.
func EncodeKey(key string) string {
	key = Clip(key, maxKey)
	if key == "" {
		return "%"
	}
	var b strings.Builder
	for i := range len(key) {
		if c := key[i]; c <= ' ' || strings.IndexByte("%.*\x7f", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// EncodeValue gives the term of a value.
func EncodeValue(value any) (term string, ok bool) {
	switch v := value.(type) {
	case string:
		return TagString + ClipValue(v), true
	case bool:
		return TagBool + strconv.FormatBool(v), true
	case float64:
		return TagNumber + sortable(v), true
	case float32:
		return TagNumber + sortable(float64(v)), true
	case int:
		return TagNumber + sortable(float64(v)), true
	case int64:
		return TagNumber + sortable(float64(v)), true
	case json.Number:
		f, err := v.Float64()
		return TagNumber + sortable(f), err == nil
	default:
		return "", false
	}
}

// DecodeValue gives the text of a term, numbers as JSON has them.
func DecodeValue(term string) string {
	number, text := decode(term)
	if number == nil {
		return text
	}
	written, err := json.Marshal(*number)
	if err != nil {
		return text
	}
	return string(written)
}

// Decode gives the value that a term was made of: a string, a float64 or a bool. Long strings
// were cut.
func Decode(term string) any {
	number, text := decode(term)
	switch {
	case number != nil:
		return *number
	case strings.HasPrefix(term, TagBool):
		return text == "true"
	default:
		return text
	}
}

// decode gives the number of a term that is one, and its text.
func decode(term string) (number *float64, text string) {
	if len(term) < len(TagString) {
		return nil, term
	}
	tag, rest := term[:len(TagString)], term[len(TagString):]
	if tag != TagNumber {
		return nil, rest
	}
	bits, err := strconv.ParseUint(rest, 16, 64)
	if err != nil {
		return nil, rest
	}
	if bits&signBit != 0 {
		bits &^= signBit
	} else {
		bits = ^bits
	}
	value := math.Float64frombits(bits)
	return &value, rest
}

const signBit = 1 << 63

// sortable writes a float64 so that strings sort like numbers: the sign bit is
// flipped for positive numbers, all bits for negative ones.
func sortable(v float64) string {
	bits := math.Float64bits(v + 0) // -0 + 0 is 0
	if bits&signBit != 0 {
		bits = ^bits
	} else {
		bits |= signBit
	}
	return fmt.Sprintf("%016x", bits)
}

// ClipValue cuts a string that is too long for a term.
func ClipValue(s string) string { return Clip(s, maxValue) }

// Clip cuts a string to about limit bytes. What is cut off is replaced by its
// hash, so that equal strings stay equal and different ones different.
func Clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	mark := "…" + hex.EncodeToString(sum[:16])
	return strings.ToValidUTF8(s[:limit-len(mark)], "") + mark
}
