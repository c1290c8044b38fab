package exchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/hybridge-search/hybridge/fault"
)

// id is an id of JSON: a text, or a number that is read as its text.
type id struct {
	text   string
	number bool
}

// UnmarshalJSON implements json.Unmarshaler.
func (i *id) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9') {
		i.text, i.number = string(raw), true
		return nil
	}
	return json.Unmarshal(raw, &i.text)
}

// value is a grade or a score of JSON: a number, or a text that is one.
type value string

// UnmarshalJSON implements json.Unmarshaler.
func (v *value) UnmarshalJSON(raw []byte) error {
	var text string
	if raw[0] == '"' {
		if err := json.Unmarshal(raw, &text); err != nil {
			return err
		}
	} else if text = string(raw); text == "null" {
		text = ""
	}
	*v = value(text)
	return nil
}

// firstID is the first of several ids that is there.
func (f *File) firstID(line int, ids ...id) string {
	for _, i := range ids {
		if i.text == "" {
			continue
		}
		if i.number {
			f.Report.Add(f.Name, NumberID, line, "%s", i.text)
		}
		return i.text
	}
	return ""
}

// number reads a number that is one: no NaN, nothing infinite.
func number(text string) (float64, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return n, err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
}

// objects gives each object of a file of lines to take, or each element of one array.
func (f *File) objects(r io.Reader, take func(n int, line []byte)) error {
	lines := f.lineReader(r)
	for begun := false; ; {
		line, err := lines.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case !begun && strings.HasPrefix(strings.TrimSpace(line), "["):
			return f.array(&cleaned{lines: lines, left: strings.Repeat("\n", lines.n-1) + line + "\n"}, take)
		case strings.TrimSpace(line) == "":
			f.Report.Add(f.Name, BlankLine, lines.n, "")
		default:
			begun = true
			take(lines.n, []byte(line))
		}
	}
}

// array gives each element to take.
func (f *File) array(r io.Reader, take func(n int, element []byte)) error {
	return f.value(r, func(w *walker) error {
		return w.elements(func(line int) error {
			var element json.RawMessage
			if err := w.decoder.Decode(&element); err != nil {
				return err
			}
			take(line, element)
			return nil
		})
	})
}

// decode reads an object, and says which of its members mean nothing.
func (f *File) decode(line int, object []byte, into any) bool {
	decoder := json.NewDecoder(bytes.NewReader(object))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(into)
	if err == nil && decoder.More() {
		err = errors.New("more than one value")
	}
	if err == nil {
		return true
	}
	if name, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
		if err = json.Unmarshal(object, into); err == nil {
			f.Report.Add(f.Name, UnknownMembers, line, "%s", name)
			return true
		}
	}
	f.Report.Add(f.Name, Broken, line, "%s: %s", short(string(object)), jsonFault(err))
	return false
}

// jsonFault says what is wrong with JSON, in words that are not of Go.
func jsonFault(err error) string {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return "a " + wrong.Value + " at " + strconv.Quote(wrong.Field)
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// walker reads one JSON value member by member, so that a member that is there twice is seen twice.
type walker struct {
	decoder *json.Decoder
	text    []byte
	line    int
	counted int // bytes of text
}

// value reads a file that is one JSON value.
func (f *File) value(r io.Reader, read func(*walker) error) error {
	text, err := io.ReadAll(io.LimitReader(r, maxDocument+1))
	if err != nil {
		return fault.Wrap(fault.InvalidArgument, err, "read %s", f.Name)
	}
	if len(text) > maxDocument {
		return fault.New(fault.TooLarge, "%s is JSON of more than %d bytes", f.Name, maxDocument)
	}
	w := &walker{decoder: json.NewDecoder(bytes.NewReader(text)), text: text, line: 1}
	w.decoder.UseNumber()
	if err := read(w); err != nil {
		return fault.Wrap(fault.InvalidArgument, err, "read %s, line %d", f.Name, w.at())
	}
	return nil
}

// at is the line that was read last.
func (w *walker) at() int {
	to := int(w.decoder.InputOffset())
	w.line += bytes.Count(w.text[w.counted:to], []byte{'\n'})
	w.counted = to
	return w.line
}

// begin reads the token that a value begins with, which must be this one.
func (w *walker) begin(want json.Delim) error {
	token, err := w.decoder.Token()
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	if err == nil && token != want {
		err = fault.New(fault.InvalidArgument, "there is %v; it must be %v", token, want)
	}
	return err
}

// elements gives each element of an array to read, which reads it.
func (w *walker) elements(read func(line int) error) error {
	if err := w.begin('['); err != nil {
		return err
	}
	return w.rest(']', func() error { return read(w.at()) })
}

// members gives the name of each member of an object to read, which reads its value.
func (w *walker) members(read func(line int, name string) error) error {
	if err := w.begin('{'); err != nil {
		return err
	}
	return w.rest('}', func() error {
		token, err := w.decoder.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string) // the decoder takes nothing else
		return read(w.at(), name)
	})
}

func (w *walker) rest(end json.Delim, read func() error) error {
	for w.decoder.More() {
		if err := read(); err != nil {
			return err
		}
	}
	return w.begin(end)
}

// kind is the first byte of the next value.
func (w *walker) kind() byte {
	left := bytes.TrimLeft(w.text[w.decoder.InputOffset():], " \t\r\n:,")
	if len(left) == 0 {
		return 0
	}
	return left[0]
}

// skip reads a value for nothing.
func (w *walker) skip() error {
	var any json.RawMessage
	return w.decoder.Decode(&any)
}
