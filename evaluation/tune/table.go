package tune

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/hybridge-search/hybridge/evaluation"
)

// WriteTables writes the result as Markdown.
func (r *Result) WriteTables(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s by %s, %d questions, %s: %d measurements in %.1f s (retrievals: %d, %.1f MB in memory).",
		r.Preset, r.Metric, r.Questions, r.Method, r.Tried, r.Seconds, r.Retrievals, float64(r.Bytes)/1e6)
	b.WriteString("\n\nOn questions that a variant was not chosen by:\n\n| set | questions | " + r.Preset +
		" | tuned | difference | p |\n|---|---|---|---|---|---|\n")
	for i := range r.Sets {
		s := &r.Sets[i]
		fmt.Fprintf(&b, "| %s | %d | %.4f | %.4f | %s | %.4f |\n",
			s.Set, s.Questions, s.Start, s.Unseen, interval(&s.Gain), s.P)
	}
	fmt.Fprintf(&b, "| **mean** | %d | **%.4f** | **%.4f** | %s | %.4f |\n\n",
		r.Questions, r.Start, r.Unseen, interval(&r.Gain), r.P)
	fmt.Fprintf(&b, "Effect %+.2f; deviation of the difference between folds %.4f.\n\n", r.Effect, r.Deviation)
	b.WriteString("| fold | questions | " + r.Preset + " | tuned | difference | by the variant that the others chose |\n")
	b.WriteString("|---|---|---|---|---|---|\n")
	for i := range r.Folds {
		f := &r.Folds[i]
		fmt.Fprintf(&b, "| %s | %d | %.4f | %.4f | %s | `%s` |\n",
			f.name(i), f.Questions, f.Start, f.Unseen, interval(&f.Gain), f.Variant)
	}
	fmt.Fprintf(&b, "\nAll questions choose `%s`: %.4f on these, which it was chosen by.\n", r.Best, r.Seen)
	if r.Complete < r.Questions || r.BestComplete < r.Questions {
		fmt.Fprintf(&b, "Rankings that are surely those of the search over all chunks: %d of %d by %s, %d by the variant.\n",
			r.Complete, r.Questions, r.Preset, r.BestComplete)
	}
	b.WriteString("\n" + r.Verdict() + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// name is the family's name, or the number of the fold from 1.
func (f *Fold) name(at int) string { return cmp.Or(f.Family, strconv.Itoa(at+1)) }

// Verdict says in a sentence what to do.
func (r *Result) Verdict() string {
	if !r.Recommended {
		return fmt.Sprintf("No variant is better than %s beyond chance: %s on unseen questions, p %.4f.",
			r.Preset, interval(&r.Gain), r.P)
	}
	return fmt.Sprintf("Recommended: %s. It gains %s on unseen questions, p %.4f.", r.Best, interval(&r.Gain), r.P)
}

func interval(i *evaluation.Interval) string {
	return fmt.Sprintf("%+.4f [%+.4f, %+.4f]", i.Mean, i.Low, i.High)
}
