package smile

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// raw writes the value as JSON.
func (r *smileReader) Raw() string {
	var out strings.Builder
	r.write(&out)
	return out.String()
}

func (r *smileReader) write(out *strings.Builder) {
	switch next := r.peek(); {
	case next == Object:
		r.Object()
		r.writeAll(out, "{}", func() {
			quote(out, r.Name())
			out.WriteByte(':')
		})
	case next == Array:
		r.Array()
		r.writeAll(out, "[]", func() {})
	case isSmileString(next):
		quote(out, r.Text())
	default:
		value := r.Value()
		if next == float32s || next == float64s {
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
		r.Fail("nested too deeply")
	}
	for r.More() {
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

func (r *smileReader) Skip() {
	if len(r.empty) > maxDepth {
		r.Fail("nested too deeply")
	}
	switch token := r.peek(); token {
	case Object:
		for r.Object(); r.More(); {
			r.Name()
			r.Skip()
		}
	case Array:
		for r.Array(); r.More(); {
			r.Skip()
		}
	case float32s:
		r.take(1 + 5)
	case float64s:
		r.take(1 + 10)
	default:
		r.Value()
	}
}

// maxDepth is far beyond what Elasticsearch nests.
const maxDepth = 100

func isSmileString(token byte) bool {
	return token >= 0x40 && token < 0xC0 || token == emptyText || token == longASCII || token == longText
}

func quote(out *strings.Builder, s string) {
	quoted, err := json.Marshal(s)
	if err == nil { // as it is for every string
		out.Write(quoted)
	}
}

// members implements reader.
func (r *smileReader) Members() (all map[string]any) {
	if r.peek() == Object {
		all = map[string]any{}
	}
	for r.Object(); r.More(); {
		name := r.Name()
		all[name] = r.any()
	}
	return all
}

// any reads any value as encoding/json does.
func (r *smileReader) any() (v any) {
	next := r.peek()
	switch {
	case len(r.empty) > maxDepth:
		Decode(r, &v)
		return v
	case next == Object:
		return r.Members()
	case next == Array:
		items := []any{}
		for r.Array(); r.More(); {
			items = append(items, r.any())
		}
		return items
	case isSmileString(next):
		return r.Text()
	case next == Null:
		r.at++
		return nil
	case next == True, next == False:
		r.at++
		return next == True
	default:
		n, err := strconv.ParseFloat(r.Value(), 64)
		if err != nil {
			r.Fail(err.Error())
		}
		return n
	}
}

// digits gives a number as JSON has it; NaN and the infinite as they are called.
func digits(f float64) string {
	data, err := json.Marshal(f)
	if err != nil {
		return fmt.Sprint(f)
	}
	return string(data)
}
