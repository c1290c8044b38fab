package smile

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Reader walks through a text, value by value; strings are parts of it. Of values that
// are passed over it checks no more than where they end. After the first error nothing
// more is read, and End gives it.
//
//	for r.Object(); r.More(); {
//		switch r.Name() {
//		case "took":
//			n = r.Number()
//		default:
//			r.Skip()
//		}
//	}
type Reader interface {
	// Object and Array go into one; null has nothing in it.
	Object()
	Array()
	// More reports whether there is another member or item, and leaves at the end.
	More() bool
	Name() string    // of a member, in front of its value
	Text() string    // a string
	Number() float32 // null is 0
	Value() string   // any scalar as text: a string as it is, a number as short as JSON has it
	Raw() string     // any value as JSON
	// Members reads an object as encoding/json does; nil: null.
	Members() map[string]any
	Skip() // any value
	Fail(why string)
	End() error // whether all was read, and nothing else is there
}

// New reads SMILE, where the text begins with its header, or JSON.
func New(text string) Reader {
	if strings.HasPrefix(text, Header) {
		return newSmileReader(text)
	}
	return &jsonReader{text: text}
}

// Read reads all of a text.
func Read(text string, read func(Reader)) error {
	r := New(text)
	read(r)
	return r.End()
}

// Decode reads a value of any shape.
func Decode(r Reader, into any) {
	if err := json.Unmarshal([]byte(r.Raw()), into); err != nil {
		r.Fail(err.Error())
	}
}

// Member gives a number of an object, of which the rest is passed over.
func Member(r Reader, name string) (found float64) {
	for r.Object(); r.More(); {
		if r.Name() != name {
			r.Skip()
			continue
		}
		n, err := strconv.ParseFloat(r.Value(), 64)
		if err != nil {
			r.Fail(err.Error())
		}
		found = n
	}
	return found
}
