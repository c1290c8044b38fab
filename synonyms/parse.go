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

// parse reads the Solr format; the first bad line is an InvalidArgument.
// https://solr.apache.org/guide/solr/latest/indexing-guide/filters.html#synonym-graph-filter
func parse(name string, r io.Reader) ([]rule, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLineBytes)
	var rules []rule
	number := 0
	for lines.Scan() {
		number++
		text := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		rl, err := parseLine(text)
		if err != nil {
			return nil, badLine(name, number, text, err.Error())
		}
		rl.line = number
		rules = append(rules, rl)
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, badLine(name, number+1, "", fmt.Sprintf("is longer than %d bytes", maxLineBytes))
	case err != nil:
		return nil, fault.Wrap(fault.Unavailable, err, "reading the synonyms %s", name)
	}
	return rules, nil
}

// badLine is the error for a line that cannot be used.
func badLine(name string, number int, text, reason string) error {
	err := fault.Invalid("synonyms", text, "`a, b => c^0.5` or `a, b, c`")
	err.Detail = fmt.Sprintf("%s line %d %s: %s", name, number, reason, err.Detail)
	return err
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
