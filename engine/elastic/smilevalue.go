package elastic

import (
	"encoding/json"
	"strconv"
	"strings"
)

// raw writes the value as JSON.
func (r *smileReader) raw() string {
	var out strings.Builder
	r.write(&out)
	return out.String()
}

func (r *smileReader) write(out *strings.Builder) {
	switch next := r.peek(); {
	case next == smileObject:
		r.object()
		r.writeAll(out, "{}", func() {
			quote(out, r.name())
			out.WriteByte(':')
		})
	case next == smileArray:
		r.array()
		r.writeAll(out, "[]", func() {})
	case isSmileString(next):
		quote(out, r.string())
	default:
		value := r.value()
		if next == smileFloat32 || next == smileFloat64 {
			value = asJSON(value)
		}
		out.WriteString(value)
	}
}

// asJSON quotes what is no number in JSON, as Elasticsearch does.
func asJSON(number string) string {
	if number[len(number)-1] > '9' { // NaN, +Inf, -Inf
		return strconv.Quote(number)
	}
	return number
}

// writeAll writes what is between two brackets, each value behind its name.
func (r *smileReader) writeAll(out *strings.Builder, brackets string, name func()) {
	separator := brackets[:1]
	if len(r.empty) > maxDepth {
		r.fail("nested too deeply")
	}
	for r.more() {
		out.WriteString(separator)
		name()
		r.write(out)
		separator = ","
	}
	if separator != "," {
		out.WriteString(separator)
	}
	out.WriteString(brackets[1:])
}

func (r *smileReader) skip() {
	if len(r.empty) > maxDepth {
		r.fail("nested too deeply")
	}
	switch token := r.peek(); token {
	case smileObject:
		for r.object(); r.more(); {
			r.name()
			r.skip()
		}
	case smileArray:
		for r.array(); r.more(); {
			r.skip()
		}
	case smileFloat32:
		r.take(1 + 5)
	case smileFloat64:
		r.take(1 + 10)
	default:
		r.value()
	}
}

// maxDepth is far beyond what Elasticsearch nests.
const maxDepth = 100

func isSmileString(token byte) bool {
	return token >= 0x40 && token < 0xC0 || token == smileEmpty || token == smileLongASCII || token == smileLongText
}

func quote(out *strings.Builder, s string) {
	quoted, err := json.Marshal(s)
	if err == nil { // as it is for every string
		out.Write(quoted)
	}
}

// members implements reader.
func (r *smileReader) members() (all map[string]any) {
	if r.peek() == smileObject {
		all = map[string]any{}
	}
	for r.object(); r.more(); {
		name := r.name()
		all[name] = r.any()
	}
	return all
}

// any reads any value as encoding/json does.
func (r *smileReader) any() (v any) {
	next := r.peek()
	switch {
	case len(r.empty) > maxDepth:
		decodeValue(r, &v)
		return v
	case next == smileObject:
		return r.members()
	case next == smileArray:
		items := []any{}
		for r.array(); r.more(); {
			items = append(items, r.any())
		}
		return items
	case isSmileString(next):
		return r.string()
	case next == smileNull:
		r.at++
		return nil
	case next == smileTrue, next == smileFalse:
		r.at++
		return next == smileTrue
	default:
		n, err := strconv.ParseFloat(r.value(), 64)
		if err != nil {
			r.fail(err.Error())
		}
		return n
	}
}
