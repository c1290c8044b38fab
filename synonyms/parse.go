package synonyms

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/fault"
)

// maxLineBytes bounds a line of a synonym file.
const maxLineBytes = 1 << 20

// rule is one line of a file: every target is a synonym of each source.
type rule struct {
	line    int
	text    string
	sources []entry
	targets []entry
}

// entry is a word or a phrase with its weight in (0, 1].
type entry struct {
	text   string
	weight float64
}

// A lineError is a line that cannot be used.
type lineError struct {
	number int // from 1
	text   string
	reason string
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d %s", e.number, e.reason) }

// in is the error as a caller reads it, who knows the text by a name.
func (e *lineError) in(name string) error {
	err := fault.Invalid("synonyms", e.text, "`a, b => c^0.5` or `a, b, c`")
	err.Field = "text" // as it is called where it is saved and tried
	err.Detail = fmt.Sprintf("%s line %d %s: %s", name, e.number, e.reason, err.Detail)
	return err
}

// eachRule reads the Solr format: take gets the rule of each line that has one, or a lineError; what it returns ends
// the reading. A line that is too long ends it in any case.
// https://solr.apache.org/guide/solr/latest/indexing-guide/filters.html#synonym-graph-filter
func eachRule(name string, r io.Reader, take func(rl rule, bad *lineError) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLineBytes)
	number := 0
	for lines.Scan() {
		number++
		text := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		var bad *lineError
		rl, err := parseLine(text)
		if err != nil {
			bad = &lineError{number: number, text: text, reason: err.Error()}
		}
		rl.line = number
		if err := take(rl, bad); err != nil {
			return err
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		reason := fmt.Sprintf("is longer than %d bytes", maxLineBytes)
		return take(rule{}, &lineError{number: number + 1, reason: reason})
	case err != nil:
		return fault.Wrap(fault.Unavailable, err, "reading the synonyms %s", name)
	}
	return nil
}

func parseLine(text string) (rule, error) {
	if !utf8.ValidString(text) {
		return rule{}, errors.New("is not UTF-8")
	}
	sides, err := split(text)
	if err != nil {
		return rule{}, err
	}
	if len(sides) == 1 {
		if len(sides[0]) < 2 {
			return rule{}, errors.New("has one entry; a list needs two")
		}
		return rule{text: text, sources: sides[0], targets: sides[0]}, nil
	}
	for _, e := range sides[0] {
		if e.weight != 1 {
			return rule{}, errors.New("has a weight left of =>; it belongs to the right")
		}
	}
	return rule{text: text, sources: sides[0], targets: sides[1]}, nil
}

// split reads the entries on the two sides of =>, or of a line without it.
func split(text string) ([][]entry, error) {
	var sides [][]entry
	var side []entry
	var field scannedField
	end := func() error {
		e, err := field.entry()
		side = append(side, e)
		field = scannedField{}
		return err
	}
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text):
			i++
			field.write(text[i])
		case text[i] == ',':
			if err := end(); err != nil {
				return nil, err
			}
		case strings.HasPrefix(text[i:], "=>"):
			if err := end(); err != nil {
				return nil, err
			}
			sides, side = append(sides, side), nil
			i++
		case text[i] == '^':
			field.beginWeight()
		default:
			field.write(text[i])
		}
	}
	if err := end(); err != nil {
		return nil, err
	}
	if sides = append(sides, side); len(sides) > 2 {
		return nil, errors.New("has more than one =>")
	}
	return sides, nil
}

// scannedField is an entry while it is read: its bytes and where its weight begins.
type scannedField struct {
	text   []byte
	weight int // index after ^; 0: none
}

func (f *scannedField) write(b byte) { f.text = append(f.text, b) }

func (f *scannedField) beginWeight() {
	f.text = append(f.text, '^')
	f.weight = len(f.text)
}

func (f *scannedField) entry() (entry, error) {
	text, weight := string(f.text), 1.0
	if f.weight > 0 {
		number := strings.TrimSpace(text[f.weight:])
		w, err := strconv.ParseFloat(number, 64)
		if err != nil || !(w > 0 && w <= 1) {
			return entry{}, fmt.Errorf("has the weight %q; it must be a number over 0 and up to 1", number)
		}
		text, weight = text[:f.weight-1], w
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return entry{}, errors.New("has an empty entry")
	}
	return entry{text: text, weight: weight}, nil
}
