package docs_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/hybridge-search/hybridge/internal/brief"
)

// taken is a text of a page with figures that a table holds: each in braces, and where it is.
type taken struct {
	Page string   `yaml:"page"`
	Says string   `yaml:"says"`
	Of   []string `yaml:"of"`   // page.md#heading/row/column
	Not  string   `yaml:"not"`  // why figures beside a link to measurements are in no table
	Take []int    `yaml:"take"` // which number of each cell, where it has several: 0 is the first
}

var (
	braces  = regexp.MustCompile(`\{([^}]*)\}`)
	numbers = regexp.MustCompile(`[-+]?(?:\d[\d,]*(?:\.\d+)?|\.\d+)`)
	figures = regexp.MustCompile(`(?:\d|\.\d)[\d.,]* ?(?:%|ms|µs|s|MB|GB|KB|times|points)\b|(?:\d|\.\d)[\d.,]* ?%|\b0?\.\d{2,}`)
	// measured leads to a page of measurements.
	measured = regexp.MustCompile(`\]\((?:[^)]*docs/|\.\./\.\./)(?:relevance|benchmarks|growth|reliability|stamina)\.md`)
)

// TestFigures holds what pages say of measurements to the tables: figures.yaml says where each figure comes from, and
// a figure beside a link to measurements is there.
func TestFigures(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("figures.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var all []taken
	decoder := yaml.NewDecoder(bytes.NewReader(source))
	decoder.KnownFields(true)
	if err := decoder.Decode(&all); err != nil {
		t.Fatal(err)
	}
	said := map[string][]string{} // by page
	for i := range all {
		q := &all[i]
		plain := oneLine(braces.ReplaceAllString(q.Says, "$1"))
		said[q.Page] = append(said[q.Page], plain)
		if !strings.Contains(oneLine(pageText(t, q.Page)), plain) {
			t.Errorf("%s does not say %q", q.Page, plain)
		}
		q.check(t)
	}
	for _, pattern := range []string{"README.md", "guide/en", "guide/zh"} {
		for _, page := range pagesUnder(t, pattern) {
			for _, paragraph := range paragraphs.Split(code.ReplaceAllString(pageText(t, page), ""), -1) {
				text := oneLine(paragraph)
				if !measured.MatchString(text) || !figures.MatchString(text) {
					continue
				}
				if !slices.ContainsFunc(said[page], func(s string) bool { return strings.Contains(text, s) }) {
					t.Errorf("%s has figures of measurements that figures.yaml does not lead to their table: %s", brief.Of(page), text)
				}
			}
		}
	}
}

// check compares each figure with its cell, as exactly as the text says it.
func (q *taken) check(t *testing.T) {
	t.Helper()
	found := braces.FindAllStringSubmatch(q.Says, -1)
	if len(found) != len(q.Of) || (len(found) == 0) != (q.Not != "") {
		t.Errorf("%s: %q has %d figures, and %d places are named", q.Page, q.Says, len(found), len(q.Of))
		return
	}
	for i, place := range q.Of {
		cell, err := cellOf(t, place)
		if err != nil {
			t.Errorf("%s: %v", q.Page, err)
			continue
		}
		take := 0
		if i < len(q.Take) {
			take = q.Take[i]
		}
		values := numbers.FindAllString(cell, -1)
		if take >= len(values) || !sameFigure(found[i][1], values[take]) {
			t.Errorf("%s says %q, and %s has %q", q.Page, found[i][1], place, cell)
		}
	}
}

// sameFigure compares a figure with a value that may have more digits.
func sameFigure(says, value string) bool {
	number := strings.ReplaceAll(numbers.FindString(says), ",", "")
	exact, err := strconv.ParseFloat(strings.ReplaceAll(value, ",", ""), 64)
	if err != nil || number == "" {
		return false
	}
	_, decimals, _ := strings.Cut(number, ".")
	return strconv.FormatFloat(exact, 'f', len(decimals), 64) == strings.TrimPrefix(number, "+")
}

// cellOf reads a cell of the first table under a heading that has the row and the column.
func cellOf(t *testing.T, place string) (string, error) {
	t.Helper()
	page, in, _ := strings.Cut(place, "#")
	parts := strings.Split(in, "/")
	if len(parts) != 3 {
		return "", fmt.Errorf("%s is no page.md#heading/row/column", place)
	}
	heading, columns := "", []string(nil)
	for _, line := range strings.Split(pageText(t, page), "\n") {
		if strings.HasPrefix(line, "#") {
			heading = strings.TrimSpace(strings.TrimLeft(line, "#"))
		}
		cells := cellsOf(line)
		if cells == nil || heading != parts[0] {
			columns = nil
			continue
		}
		if columns == nil {
			columns = cells
			continue
		}
		if at := slices.Index(columns, parts[2]); at >= 0 && cells[0] == parts[1] && at < len(cells) {
			return cells[at], nil
		}
	}
	return "", fmt.Errorf("there is no %s", place)
}

// cellsOf returns the cells of a row of a table, without emphasis; nil for any other line.
func cellsOf(line string) []string {
	if !strings.HasPrefix(line, "|") {
		return nil
	}
	cells := strings.Split(strings.Trim(line, "| "), "|")
	for i := range cells {
		cells[i] = strings.Trim(cells[i], " *`")
	}
	return cells
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// pageText is a page by its name within docs, or README.md.
func pageText(t *testing.T, name string) string {
	t.Helper()
	if name == "README.md" {
		name = "../README.md"
	}
	text, err := os.ReadFile(name) //nolint:gosec // a page
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func pagesUnder(t *testing.T, name string) []string {
	t.Helper()
	if strings.HasSuffix(name, ".md") {
		return []string{name}
	}
	entries, err := os.ReadDir(name)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, path.Join(name, e.Name()))
	}
	return all
}

// TestAFigureThatDiffersIsFound: rounded is the same, another is not.
func TestAFigureThatDiffersIsFound(t *testing.T) {
	t.Parallel()
	f := func(says, value string, want bool) {
		t.Helper()
		if got := sameFigure(says, value); got != want {
			t.Errorf("%q of %q: %v", says, value, got)
		}
	}
	f("2.2 ms", "2.21", true)
	f("5,015 MB", "5015", true)
	f("92 %", "92", true)
	f("2.52 points", "+2.52", true)
	f("87 %", "92", false)
	f("2.3 ms", "2.21", false)
	f("much", "2", false)
	if _, err := cellOf(t, "growth.md#Latency/3/none"); err == nil {
		t.Error("a cell that is not there is found")
	}
}

// TestTunedPresetsBeginWhereTheyAre: what the tuner works out in memory for a preset is near what searching gives.
func TestTunedPresetsBeginWhereTheyAre(t *testing.T) {
	t.Parallel()
	for _, set := range []string{
		"drcd", "lecoqa_ans", "lecoqa_faq", "lecoqa_statute", "scifact", "stackfaq",
		"xquad_en", "xquad_en2zh", "xquad_faq_en2zh", "xquad_zh", "xquad_zh2en",
	} {
		var values [2]float64
		for i, section := range []string{"From `balanced`", "Embedded engine"} {
			cell, err := cellOf(t, "relevance.md#"+section+"/"+set+"/balanced")
			if err == nil {
				values[i], err = strconv.ParseFloat(cell, 64)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if math.Abs(values[0]-values[1]) > 0.0012 {
			t.Errorf("%s: the tuner has %v for `balanced`, searching gives %v; want math.Abs(values[0] - values[1]) at most 0.0012", set, values[0], values[1])
		}
	}
}
