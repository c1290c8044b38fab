package evaluation

import (
	"fmt"
	"html"
	"io"
	"strings"
)

// pageHead has all the styles: the page loads nothing.
const pageHead = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>hybridge eval</title><style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto }
th, td { padding: .3rem .7rem; text-align: right; border-bottom: 1px solid #8884; white-space: nowrap }
th:first-child, td:first-child { text-align: left }
svg { width: 100%; height: auto; background: #8881 }
.more { fill: #0f766e } .less { fill: #c2410c } .axis { stroke: #888; stroke-width: 1 }
.broken { color: #c2410c; font-weight: 600 } figure { margin: 1.5rem 0 } figcaption { font-size: 13px }
</style></head><body><h1>hybridge eval</h1>
`

// WriteHTML writes one page that needs nothing beside it: the tables, and for each metric a bar for every query.
func (r *Comparisons) WriteHTML(w io.Writer) error {
	var b strings.Builder
	b.WriteString(pageHead)
	if len(r.Checks) > 0 {
		b.WriteString("<h2>Rules</h2>\n<table><tr><th>rule<th>set<th>system<th></tr>\n")
	}
	for _, c := range r.Checks {
		said := "<td>holds"
		if c.Broken {
			said = `<td class="broken">broken`
		}
		fmt.Fprintf(&b, "<tr><td><code>%s</code><td>%s<td>%s%s</tr>\n",
			html.EscapeString(c.Rule), html.EscapeString(c.Set), html.EscapeString(c.System), said)
	}
	if len(r.Checks) > 0 {
		b.WriteString("</table>\n")
	}
	for _, c := range r.All {
		c.writePage(&b)
	}
	b.WriteString("</body></html>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func (c *Comparison) writePage(b *strings.Builder) {
	fmt.Fprintf(b, "<h2>%s: %s against %s</h2>\n<p>%d queries%s</p>\n", html.EscapeString(c.Set),
		html.EscapeString(c.System), html.EscapeString(c.Against), c.Queries, c.missing())
	b.WriteString("<table><tr><th>metric<th>now<th>before<th>difference<th>95 %")
	b.WriteString("<th>p (Holm)<th>effect<th>more<th>less</tr>\n")
	for i := range c.Differences {
		d := &c.Differences[i]
		fmt.Fprintf(b, "<tr><td>%s<td>%.4f<td>%.4f<td>%+.4f<td>%+.4f to %+.4f<td>%.4f<td>%+.2f<td>%d<td>%d</tr>\n",
			d.Metric, d.System, d.Against, d.Mean.Mean, d.Mean.Low, d.Mean.High, d.Holm, d.Effect, d.More, d.Less)
	}
	b.WriteString("</table>\n")
	for i := range c.Differences {
		c.Differences[i].draw(b)
	}
}

// draw shows the difference of every query as a bar, the lowest first.
func (d *Difference) draw(b *strings.Builder) {
	const width, height, middle = 1000.0, 200.0, 100.0
	largest := 0.0
	for i := range d.Queries {
		largest = max(largest, d.Queries[i].by(), -d.Queries[i].by())
	}
	if largest == 0 {
		return
	}
	more, less := "more", "less"
	if d.lowerIsBetter {
		more, less = less, more
	}
	fmt.Fprintf(b, `<figure><svg viewBox="0 0 %.0f %.0f" role="img" aria-label="%s of each query, now minus before">`,
		width, height, d.Metric)
	bar := width / float64(len(d.Queries))
	for i := range d.Queries {
		q := &d.Queries[i]
		tall, class, top := middle*q.by()/largest, more, middle-middle*q.by()/largest
		if tall < 0 {
			tall, class, top = -tall, less, middle
		}
		if tall > 0 {
			fmt.Fprintf(b, `<rect class="%s" x="%.2f" y="%.2f" width="%.2f" height="%.2f">`,
				class, float64(i)*bar, top, max(bar*0.9, 0.3), tall)
			fmt.Fprintf(b, `<title>%s: %.3f, was %.3f</title></rect>`, html.EscapeString(q.Query), q.System, q.Against)
		}
	}
	fmt.Fprintf(b, `<line class="axis" x1="0" x2="%.0f" y1="%.0f" y2="%.0f"/></svg>`, width, middle, middle)
	fmt.Fprintf(b, "<figcaption>%s of each query, now minus before; the tallest bar is %.3f</figcaption></figure>\n",
		d.Metric, largest)
}
