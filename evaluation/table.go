package evaluation

import (
	"fmt"
	"io"
	"strings"
)

// WriteTables writes the report as Markdown: the means, then nDCG@10 of every system on
// every set, then all metrics set by set.
func (r *Report) WriteTables(w io.Writer) error {
	var b strings.Builder
	r.writeMeans(&b)
	if r.Diverse {
		r.writeAlike(&b)
	}
	r.writeMatrix(&b)
	for i := range r.Sets {
		r.Sets[i].write(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) writeMeans(b *strings.Builder) {
	fmt.Fprintf(b, "Engine %s, %s, mean of %d sets:\n\n", r.Engine, r.Vectors, len(r.Sets))
	b.WriteString("| system | nDCG@10 | over the better single leg, points | worst set |\n|---|---|---|---|\n")
	for _, m := range r.Means {
		fmt.Fprintf(b, "| %s | %.4f | %s | %s |\n", m.System, m.NDCG10, points(m.Gain), worst(&m))
	}
}

// writeAlike tells how alike the hits are, over all sets and on each.
func (r *Report) writeAlike(b *strings.Builder) {
	b.WriteString("\nMean cosine between the first ten hits:\n\n| system | mean |")
	for i := range r.Sets {
		fmt.Fprintf(b, " %s |", r.Sets[i].Set)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(r.Sets)) + "\n")
	for i, m := range r.Means {
		fmt.Fprintf(b, "| %s | %.4f |", m.System, m.Alike)
		for k := range r.Sets {
			fmt.Fprintf(b, " %.4f |", r.Sets[k].Figures[i].Alike)
		}
		b.WriteString("\n")
	}
}

func worst(m *Mean) string {
	if m.WorstGain == nil {
		return ""
	}
	return points(m.WorstGain) + " " + m.WorstSet
}

// points shows a difference of nDCG in hundredths.
func points(difference *float64) string {
	if difference == nil {
		return ""
	}
	return fmt.Sprintf("%+.2f", 100**difference)
}

func (r *Report) writeMatrix(b *strings.Builder) {
	b.WriteString("\nnDCG@10:\n\n| set |")
	for _, system := range r.Systems {
		fmt.Fprintf(b, " %s |", system)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(r.Systems)) + "\n")
	for i := range r.Sets {
		fmt.Fprintf(b, "| %s |", r.Sets[i].Set)
		for _, f := range r.Sets[i].Figures {
			fmt.Fprintf(b, " %.4f |", f.NDCG10.Mean)
		}
		b.WriteString("\n")
	}
	b.WriteString("| **mean** |")
	for _, m := range r.Means {
		fmt.Fprintf(b, " **%.4f** |", m.NDCG10)
	}
	b.WriteString("\n")
}

func (s *SetReport) write(b *strings.Builder) {
	fmt.Fprintf(b, "\n%s, %d documents, %d queries:\n\n", s.Set, s.Documents, s.Queries)
	b.WriteString("| system | nDCG@10 | recall@10 | recall@100 | MRR@10 | unjudged@10 | gain | p |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|\n")
	for i := range s.Figures {
		f := &s.Figures[i]
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %.4f | %s | %s |\n", f.System,
			f.NDCG10, f.Recall10, f.Recall100, f.MRR10, f.Unjudged, points(f.Gain), chance(f.P))
	}
}

func chance(p *float64) string {
	if p == nil {
		return ""
	}
	return fmt.Sprintf("%.4f", *p)
}
