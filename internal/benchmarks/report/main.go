// Command report turns the output of the benchmarks into pages of the documentation:
//
//	report -out docs/benchmarks.md -readme README.md bench.txt
//	report -growth -out docs/growth.md growth.txt
//
// The pages are the templates beside this file; that of growth has charts. Figures that were not measured
// stand as a dash, so that a part of the benchmarks still makes a page. What the page says in short
// stands in the README too, word for word.
package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"
)

//go:embed page.md.tmpl
var page string

//go:embed growth.md.tmpl
var growthPage string

// presets have a row in the tables of the gateway.
var presets = []string{"script_score", "balanced", "rrf", "text"}

// budget is what the gateway may take for a preset, of what a bare proxy takes. A CPU of
// 0 sets no bound.
type budget struct{ AddedP50, CPU float64 }

var budgets = map[string]budget{
	"script_score": {AddedP50: 0.33, CPU: 0.22},
	"balanced":     {AddedP50: 0.95},
	"rrf":          {AddedP50: 0.95, CPU: 0.75},
	"text":         {AddedP50: 0.95, CPU: 0.5},
}

func main() {
	out := flag.String("out", "docs/benchmarks.md", "the page to write")
	growth := flag.Bool("growth", false, "write the page about growth, and draw its charts")
	readme := flag.String("readme", "", "the page that says in short what this one says")
	flag.Parse()
	if err := run(*out, flag.Arg(0), *readme, *growth); err != nil {
		fmt.Fprintf(os.Stderr, "report: %v\n", err)
		os.Exit(1)
	}
}

func run(out, in, readme string, growth bool) error {
	file, err := os.Open(in)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // only read
	results, err := parse(file)
	if err != nil {
		return err
	}
	of := page
	if growth {
		of = growthPage
		if err := results.draw(filepath.Join(filepath.Dir(out), "growth")); err != nil {
			return err
		}
	}
	text, err := results.page(of)
	if err != nil {
		return err
	}
	if err := write(out, text); err != nil || readme == "" {
		return err
	}
	return quote(string(text), readme)
}

func write(path string, text []byte) error {
	return os.WriteFile(path, text, 0o644) //nolint:gosec // a page of the documentation
}

// inShort is what a page says in short.
var inShort = regexp.MustCompile(`(?s)<!-- figures -->.*<!-- end of figures -->`)

// quote puts what a page says in short into the README.
func quote(page, readme string) error {
	text, err := os.ReadFile(readme)
	if err != nil {
		return err
	}
	if !inShort.Match(text) {
		return fmt.Errorf("%s holds no <!-- figures --> and <!-- end of figures -->", readme)
	}
	return write(readme, inShort.ReplaceAllLiteral(text, []byte(inShort.FindString(page))))
}

// results are what a run printed, in the format of `go test -bench`.
type results struct {
	facts   map[string]string             // "key: value" lines
	figures map[string]map[string]float64 // benchmark → unit → value
	when    map[string]string             // benchmark → date, commit, load
}

// processors ends the name of a benchmark.
var processors = regexp.MustCompile(`-\d+$`)

func parse(in io.Reader) (*results, error) {
	r := &results{facts: map[string]string{}, figures: map[string]map[string]float64{}, when: map[string]string{}}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		line := lines.Text()
		if key, value, ok := strings.Cut(line, ": "); ok && !strings.ContainsAny(key, " \t") {
			if value = strings.TrimSpace(value); value != "" { // else that run had no use for it
				r.facts[key] = value
			}
			continue
		}
		if fields := strings.Fields(line); len(fields) > 3 && strings.HasPrefix(line, "Benchmark") {
			r.take(fields)
		}
	}
	return r, lines.Err()
}

// take accepts a line: name, repetitions, then value and unit in turn.
func (r *results) take(fields []string) {
	name := strings.TrimPrefix(processors.ReplaceAllString(fields[0], ""), "Benchmark")
	of := map[string]float64{}
	for i := 2; i+1 < len(fields); i += 2 {
		if value, err := strconv.ParseFloat(fields[i], 64); err == nil {
			of[fields[i+1]] = value
		}
	}
	when := r.conditions()
	if before, again := r.figures[name]; again && r.when[name] == when && before["ns/op"] < of["ns/op"] {
		return // of the rounds of one run the fastest counts
	}
	r.figures[name], r.when[name] = of, when
}

func (r *results) conditions() string {
	return fmt.Sprintf("%s, commit %s, load %s", r.facts["date"], r.facts["commit"], r.facts["load-before"])
}

// measured tells when a benchmark ran and under which load, as a run may be of
// a part of them only.
func (r *results) measured(benchmark string) string {
	when, ok := r.when[benchmark]
	if !ok {
		return "Not measured."
	}
	text := "Measured " + when + " before it"
	if n, ok := r.figures[benchmark]["noise-p50"]; ok {
		text += fmt.Sprintf("; a fixed piece of processor work in between took %s times (p99 %s) as long as at its best",
			number(n), number(r.figures[benchmark]["noise-p99"]))
	}
	return text + "."
}

func (r *results) page(of string) ([]byte, error) {
	t, err := template.New("page").Funcs(template.FuncMap{
		"fact": r.fact, "cell": cell, "figure": r.figure, "count": r.count, "goal": r.goal, "measured": r.measured,
		"presets": func() []string { return presets }, "budget": func(preset string) budget { return budgets[preset] },
		"fusions": r.fusions,
		"growing": func() []string { return growing },
		"engines": func() []string { return []string{"embedded", "elasticsearch"} }, "sizes": r.sizes, "last": r.last,
	}).Parse(of)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, nil)
	return out.Bytes(), err
}

// fusions are the methods of fusion that were measured.
func (r *results) fusions() []string {
	var methods []string
	for name := range r.figures {
		if method, ok := strings.CutPrefix(name, "Fuse/"); ok {
			methods = append(methods, method)
		}
	}
	slices.Sort(methods)
	return methods
}

// cell is text for a cell of a table, which ends at a bar.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

func (r *results) fact(key string) string {
	if value := r.facts[key]; value != "" {
		return value
	}
	return "–"
}

// figure shows one number with three significant digits.
func (r *results) figure(benchmark, unit string) string {
	value, ok := r.figures[benchmark][unit]
	if !ok {
		return "–"
	}
	return number(value)
}

// count shows a figure that is a number of things.
func (r *results) count(benchmark, unit string) string {
	value, ok := r.figures[benchmark][unit]
	if !ok {
		return "–"
	}
	return strconv.FormatFloat(value, 'f', 0, 64)
}

func number(value float64) string {
	switch {
	case value >= 100 || value <= -100:
		return strconv.FormatFloat(value, 'f', 0, 64)
	case value >= 10 || value <= -10:
		return strconv.FormatFloat(value, 'f', 1, 64)
	default:
		return strconv.FormatFloat(value, 'f', 2, 64)
	}
}

// goal is a row: what, the bound, the figure, whether it is reached.
func (r *results) goal(what, benchmark, unit, relation string, bound float64) (string, error) {
	value, ok := r.figures[benchmark][unit]
	if !ok {
		return fmt.Sprintf("| %s | %s %s | – | not measured |", what, relation, bare(bound)), nil
	}
	reached, err := holds(value, relation, bound)
	if err != nil {
		return "", err
	}
	verdict := "**missed**"
	switch busy := r.figures[benchmark]["noise-p50"] > tooNoisy; {
	case value < 0: // nothing takes less than nothing
		verdict = "lost in the noise"
	case reached && busy:
		verdict = "reached, on a busy machine"
	case reached:
		verdict = "reached"
	case busy:
		verdict += ", on a busy machine"
	}
	return fmt.Sprintf("| %s | %s %s | %s | %s |", what, relation, bare(bound), number(value), verdict), nil
}

// tooNoisy is how many times longer than at its best a fixed piece of work
// takes on a machine that has other things to do.
const tooNoisy = 1.5

func holds(value float64, relation string, bound float64) (bool, error) {
	switch relation {
	case "<":
		return value < bound, nil
	case "≤":
		return value <= bound, nil
	case "≥":
		return value >= bound, nil
	default:
		return false, fmt.Errorf("relation %q; accepted are <, ≤ and ≥", relation)
	}
}

func bare(bound float64) string { return strconv.FormatFloat(bound, 'f', -1, 64) }
