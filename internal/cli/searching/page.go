package searching

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search"
)

// page prints an answer for people.
type page struct {
	cli.Printer
	marks *strings.Replacer
	named *strings.Replacer // marks within bold text
	bold  func(string) string
	faint func(string) string
	most  float64 // the largest contribution of a leg
	names int     // the length of the longest name of a leg
	group bool    // each hit stands for its document
}

func newPage(w io.Writer, colours bool) *page {
	p := &page{Printer: cli.Printer{W: w}}
	if !colours {
		p.marks = strings.NewReplacer(cli.MarkStart, "**", cli.MarkEnd, "**")
		p.named = p.marks
		p.bold = func(s string) string { return s }
		p.faint = p.bold
		return p
	}
	p.marks = strings.NewReplacer(cli.MarkStart, "\x1b[1;33m", cli.MarkEnd, "\x1b[0m")
	p.named = strings.NewReplacer(cli.MarkStart, "\x1b[33m", cli.MarkEnd, "\x1b[39m")
	p.bold = func(s string) string { return "\x1b[1m" + s + "\x1b[0m" }
	p.faint = func(s string) string { return "\x1b[2m" + s + "\x1b[0m" }
	return p
}

func (p *page) print(r *search.Response) error {
	for i := range r.Hits {
		for _, leg := range r.Hits[i].Legs {
			p.most = max(p.most, math.Abs(leg.Contribution))
			p.names = max(p.names, len(leg.Leg))
		}
	}
	if r.DidYouMean != "" {
		p.Line("Did you mean: %s", p.bold(cli.Plain(r.DidYouMean)))
		p.Line("")
	}
	for i := range r.Hits {
		p.hit(i+1, &r.Hits[i])
	}
	p.summary(r)
	p.facets(r.Facets)
	if r.Explain != nil {
		p.explain(r.Explain)
	}
	return p.Err
}

func (p *page) hit(number int, h *search.Hit) {
	name := cli.Plain(cmp.Or(nameOf(h), h.ID))
	relevance := ""
	if h.Relevance != nil {
		relevance = p.Say("%s relevant", chance(*h.Relevance)) + "  "
	}
	where := h.KnowledgeBase + "/" + cli.Plain(h.DocumentName) + " " + cli.Plain(h.ID)
	if p.group {
		document := cli.Plain(cmp.Or(h.DocumentName, h.DocumentID, h.ID))
		name, where = document+": "+name, h.KnowledgeBase+" "+cli.Plain(h.ID)
	}
	p.Line("%2d. %.3f  %s%s  %s", number, h.Score, relevance, p.bold(p.named.Replace(name)), p.faint(where))
	for _, leg := range h.Legs {
		p.Line("    %s", p.faint(p.leg(leg)))
	}
	if b := h.Boost; b != nil && *b < 1 {
		p.Line("    %s", p.faint(p.Say("lowered by the boost of %s: %.3g of the largest", h.KnowledgeBase, *b)))
	}
	for _, fragment := range h.Highlights {
		p.Line("    %s", p.marks.Replace(cli.Plain(html.UnescapeString(fragment))))
	}
	if h.Parent != nil {
		for line := range strings.Lines(h.Parent.Content) {
			p.Line("    | %s", cli.Plain(strings.TrimSpace(line)))
		}
	}
	if len(h.Copies) > 0 {
		p.Line("    %s", p.faint(p.Say("also in: %s", alsoIn(h.Copies))))
	}
	p.Line("")
}

// nameOf is the question of a pair, else the title, with its marks if it has any.
func nameOf(h *search.Hit) string {
	name, marked := h.Title, h.TitleHighlight
	if h.QA != nil && h.Question != "" {
		name, marked = h.Question, h.QuestionHighlight
	}
	if marked != "" {
		return html.UnescapeString(marked)
	}
	return name
}

// alsoIn lists the other documents with the text.
func alsoIn(copies []search.Copy) string {
	var list []string
	for _, c := range copies {
		where := c.KnowledgeBase + "/" + cli.Plain(cmp.Or(c.DocumentName, c.DocumentID))
		if !slices.Contains(list, where) {
			list = append(list, where)
		}
	}
	return strings.Join(list, ", ")
}

// chance is a probability as a percentage, never 0 or 100.
func chance(p float64) string {
	switch {
	case p < 0.01:
		return "<1 %"
	case p > 0.99:
		return ">99 %"
	default:
		return fmt.Sprintf("%.0f %%", p*100)
	}
}

// leg shows a leg's part in the score, and how it was computed.
func (p *page) leg(c scoring.Contribution) string {
	raw := p.Say("unknown")
	if c.Raw != nil {
		raw = fmt.Sprintf("%.4g", *c.Raw)
	}
	text := fmt.Sprintf("%-*s %s %+.4f = ", max(p.names, 8), c.Leg, bar(c.Contribution, p.most), c.Contribution) +
		p.Say("%s of weight %.3g", raw, c.Weight)
	if c.Rank == nil {
		return text + p.Say(", not among its candidates")
	}
	return text + p.Say(", rank %d", *c.Rank)
}

const barWidth = 10

// bar draws the share of a value in the largest one.
func bar(value, most float64) string {
	full := 0
	if most > 0 && value > 0 {
		full = int(math.Round(value / most * barWidth))
	}
	return strings.Repeat("█", full) + strings.Repeat("░", barWidth-full)
}

func (p *page) summary(r *search.Response) {
	total := strconv.Itoa(r.Total.Value)
	if r.Total.Relation == "gte" {
		total = p.Say("at least %d", r.Total.Value)
	}
	if n := r.Total.Folded; n > 0 {
		total = p.Say("%s (near-duplicates: %d)", total, n)
	}
	if p.group {
		total = p.Say("%s documents", total)
	}
	p.Line("%d of %s in %.1f ms (%s on %s)", len(r.Hits), total, r.TookMS, r.Preset, r.Engine)
	if a := r.Answerable; a != nil {
		p.Line("%s", p.answerable(*a))
	}
	if r.Empty != "" {
		p.Line("nothing found: %s", r.EmptyReason)
	}
	if r.Relaxed != nil {
		p.Line("only %s of the words had to match", *r.Relaxed)
	}
	for _, d := range r.Degraded {
		p.Line("without %s of %s: %s", d.Leg, d.KnowledgeBase, d.Reason)
	}
	if !p.group {
		p.documents(r)
	}
}

// documents lists where the hits are from.
func (p *page) documents(r *search.Response) {
	var documents []string
	for _, d := range r.Documents {
		documents = append(documents, fmt.Sprintf("%s (%d)", cli.Plain(cmp.Or(d.DocumentName, d.DocumentID)), d.Count))
	}
	const shown = 12
	if left := len(documents) - shown; left > 0 {
		documents = append(documents[:shown], p.Say("and %d more", left))
	}
	if len(documents) > 0 {
		p.Line("documents: %s", strings.Join(documents, ", "))
	}
}

// facets shows how often values are in the answer, the most frequent first.
func (p *page) facets(counts map[string][]search.FacetCount) {
	const shown = 10
	for _, field := range slices.Sorted(maps.Keys(counts)) {
		values := counts[field]
		p.Line("")
		if len(values) == 0 {
			p.Line("%s: no hit has it", p.bold(cli.Plain(field)))
			continue
		}
		p.Line("%s", p.bold(cli.Plain(field)))
		most, digits := 0, 0
		for _, v := range values {
			most = max(most, v.Count)
		}
		digits = len(strconv.Itoa(most))
		for i, v := range values {
			if i == shown {
				p.Line("  %s", p.faint(p.Say("and %d more", len(values)-shown)))
				break
			}
			p.Line("  %*d %s %s", digits, v.Count, p.faint(bar(float64(v.Count), float64(most))), cli.Plain(v.Value))
		}
	}
}

// answerable shows whether the answer probably answers the question.
func (p *page) answerable(probability float64) string {
	if probability < *search.AutoThreshold().Answerable {
		return p.Say("nothing here seems to answer that (answerable %s)", chance(probability))
	}
	return p.Say("answerable %s", chance(probability))
}

func (p *page) explain(e *search.Explain) {
	p.Line("")
	p.Line("plan: %s, fusion %s, candidates %d, top_k %d", e.Plan.Preset, e.Plan.Fusion.Method,
		e.Plan.Candidates, e.Plan.TopK)
	for _, leg := range e.Plan.Legs {
		p.Line("  leg %s: %s over %s, k %d, weight %.3g", leg.Name, leg.Kind, leg.Field, leg.K, leg.Weight)
	}
	if e.Known != nil {
		p.Line("the text index knows %.0f %% of the question", *e.Known*100)
	}
	if e.Query != nil {
		var terms []string
		for _, t := range e.Query.Terms {
			terms = append(terms, fmt.Sprintf("%s^%.3g", t.Text, t.Weight))
		}
		p.Line("terms: %s", strings.Join(terms, " "))
	}
	for base, method := range e.Methods {
		p.Line("%s: %s", base, method)
	}
	for _, r := range e.Relevance {
		text := p.Say("%s: relevance by %s", r.KnowledgeBase, r.By)
		if r.Why != "" {
			text += ": " + r.Why
		}
		p.Line("%s", text)
	}
	for threshold, n := range e.Cut {
		p.Line("threshold %s cut %d", threshold, n)
	}
}
