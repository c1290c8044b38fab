package evaluation

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// Comparisons is a report on systems beside others, and the rules on it.
type Comparisons struct {
	All    []*Comparison `json:"comparisons"`
	Checks []Check       `json:"checks,omitempty"`
}

// Broken are the rules that are.
func (r *Comparisons) Broken() (broken []Check) {
	for _, c := range r.Checks {
		if c.Broken {
			broken = append(broken, c)
		}
	}
	return broken
}

const shownQueries = 5 // at each end

// WriteTables writes Markdown.
func (r *Comparisons) WriteTables(w io.Writer) error {
	var b strings.Builder
	for _, c := range r.All {
		fmt.Fprintf(&b, "\n%s, %s against %s, %d queries%s:\n\n", c.Set, c.System, c.Against, c.Queries, c.missing())
		b.WriteString("| metric | now | before | difference | p | effect | more | less |\n")
		b.WriteString("|---|---|---|---|---|---|---|---|\n")
		for i := range c.Differences {
			d := &c.Differences[i]
			fmt.Fprintf(&b, "| %s | %.4f | %.4f | %+.4f [%+.4f, %+.4f] | %.4f | %+.2f | %d | %d |\n",
				d.Metric, d.System, d.Against, d.Mean.Mean, d.Mean.Low, d.Mean.High, d.Holm, d.Effect, d.More, d.Less)
		}
		for i := range c.Differences {
			d := &c.Differences[i]
			writeQueries(&b, "Less "+d.Metric, d.lowest())
			writeQueries(&b, "More "+d.Metric, d.highest())
		}
	}
	if len(r.Checks) > 0 {
		b.WriteString("\n| rule | set | system | |\n|---|---|---|---|\n")
	}
	for _, c := range r.Checks {
		said := "holds"
		if c.Broken {
			said = "**broken**: " + c.Difference
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", c.Rule, c.Set, c.System, said)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (c *Comparison) missing() string {
	if c.Missing == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d more were answered by one alone)", c.Missing)
}

// lowest are the queries that lost most, the worst first.
func (d *Difference) lowest() []QueryDifference {
	return d.Queries[:min(d.Less, shownQueries)]
}

// highest are the queries that gained most, the best last.
func (d *Difference) highest() []QueryDifference {
	return d.Queries[len(d.Queries)-min(d.More, shownQueries):]
}

func writeQueries(b *strings.Builder, what string, queries []QueryDifference) {
	if len(queries) == 0 {
		return
	}
	said := make([]string, len(queries))
	for i := range queries {
		q := &queries[i]
		name := q.Query
		if q.Text != "" {
			name = fmt.Sprintf("%q", q.Text)
		}
		said[i] = fmt.Sprintf("%s %+.3f (%.3f, was %.3f)", name, q.by(), q.System, q.Against)
	}
	fmt.Fprintf(b, "\n%s: %s\n", what, strings.Join(said, "; "))
}

// junitSuite is the JUnit format that CI systems read: https://github.com/testmoapp/junitxml
type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Failure *junitFailure `xml:"failure"`
	Out     string        `xml:"system-out,omitempty"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
}

// WriteJUnit writes the rules as tests, which those that are broken fail.
func (r *Comparisons) WriteJUnit(w io.Writer) error {
	suite := junitSuite{Name: "hybridge eval", Tests: len(r.Checks), Failures: len(r.Broken())}
	for _, c := range r.Checks {
		test := junitCase{Class: c.Set + "." + c.System, Name: c.Rule, Out: c.Difference}
		if c.Broken {
			test.Failure = &junitFailure{c.Difference}
		}
		suite.Cases = append(suite.Cases, test)
	}
	text, err := xml.MarshalIndent(suite, "", "  ")
	if err == nil {
		_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	}
	return err
}
