package elastic

import (
	"encoding/json"
	"strings"
)

// reader walks through an answer of Elasticsearch, value by value, and builds
// nothing of it: strings are parts of the answer's text. It is made for what
// Elasticsearch writes: of values that are passed over it checks no more than
// where they end. After the first error nothing more is read, and end gives it.
//
//	for r.object(); r.more(); {
//		switch r.name() {
//		case "took":
//			n = r.number()
//		default:
//			r.skip()
//		}
//	}
type reader interface {
	// object and array go into one; null has nothing in it.
	object()
	array()
	// more reports whether there is another member or item, and leaves at the end.
	more() bool
	name() string // of a member, in front of its value
	string() string
	number() float32 // null is 0
	value() string   // any scalar as text: a string as it is, a number as short as JSON has it
	raw() string     // any value as JSON
	// members reads an object as encoding/json does; nil: null.
	members() map[string]any
	skip() // any value
	fail(why string)
	end() error // whether all was read, and nothing else is there
}

// newReader reads what it gets: SMILE, which begins with its header, or JSON.
func newReader(text string) reader {
	if strings.HasPrefix(text, smileHeader) {
		return newSmileReader(text)
	}
	return &jsonReader{text: text}
}

// readWith reads all of a text.
func readWith(text string, read func(reader)) error {
	r := newReader(text)
	read(r)
	return r.end()
}

// decodeValue reads a value of any shape.
func decodeValue(r reader, into any) {
	if err := json.Unmarshal([]byte(r.raw()), into); err != nil {
		r.fail(err.Error())
	}
}
