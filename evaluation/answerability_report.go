package evaluation

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/embedding/bank"
)

// WriteTables writes as Markdown how well answers knew that they were none, as one row for
// all sets, the reliability of what was said, the constants that fit best, and a row per set.
func (a *Answerability) WriteTables(w io.Writer) error {
	var b strings.Builder
	answers := a.said(func(q *Asked) bool { return q.Kind == IsAnswerable })
	if len(answers) == 0 {
		fmt.Fprintf(&b, "By preset %s nothing is known of the answers to %d questions.\n", a.Preset, a.Unknown)
		_, err := io.WriteString(w, b.String())
		return err
	}
	fmt.Fprintf(&b, "By preset %s, %d questions to %d sets, nothing known of %d; at a cut that refuses 5 %% of the "+
		"answerable ones over all sets, and by the threshold auto:\n\n", a.Preset, len(a.Asked), len(a.names()), a.Unknown)
	b.WriteString("| set | AUC off-topic | off-topic refused | AUC gone | gone refused | answerable refused " +
		"| auto: off-topic refused | auto: answerable refused |\n|---|---|---|---|---|---|---|---|\n")
	cut := quantile(answers, 0.05)
	a.row(&b, "**all**", cut, func(*Asked) bool { return true })
	for _, name := range a.names() {
		a.row(&b, name, cut, func(q *Asked) bool { return q.Set == name })
	}
	a.writeReliability(&b)
	a.writeFits(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func (a *Answerability) names() []string {
	var names []string
	for i := range a.Asked {
		if !slices.Contains(names, a.Asked[i].Set) {
			names = append(names, a.Asked[i].Set)
		}
	}
	return names
}

// said is answerable of the questions.
func (a *Answerability) said(of func(*Asked) bool) []float64 {
	var said []float64
	for i := range a.Asked {
		if of(&a.Asked[i]) {
			said = append(said, a.Asked[i].Answerable)
		}
	}
	return said
}

func (a *Answerability) row(b *strings.Builder, name string, cut float64, of func(*Asked) bool) {
	kind := func(k AskedKind) []float64 { return a.said(func(q *Asked) bool { return q.Kind == k && of(q) }) }
	own, off, gone := kind(IsAnswerable), kind(IsOffTopic), kind(IsGone)
	empty := func(k AskedKind) float64 {
		cut, all := 0, 0
		for i := range a.Asked {
			if q := &a.Asked[i]; q.Kind == k && of(q) {
				all++
				if q.Empty {
					cut++
				}
			}
		}
		return 100 * float64(cut) / float64(max(all, 1))
	}
	fmt.Fprintf(b, "| %s | %.3f | %.0f %% | %.3f | %.0f %% | %.0f %% | %.0f %% | %.0f %% |\n", name,
		AUC(own, off), below(off, cut), AUC(own, gone), below(gone, cut), below(own, cut),
		empty(IsOffTopic), empty(IsAnswerable))
}

// below is the percentage of values under a cut.
func below(values []float64, cut float64) float64 {
	n := 0
	for _, v := range values {
		if v < cut {
			n++
		}
	}
	return 100 * float64(n) / float64(max(len(values), 1))
}

// weigh counts every set alike, and in each of them the answerable as much as the off-topic.
func (a *Answerability) weigh() func(q *Asked) float64 {
	type group struct {
		set  string
		kind AskedKind
	}
	count := map[group]float64{}
	for i := range a.Asked {
		count[group{a.Asked[i].Set, a.Asked[i].Kind}]++
	}
	return func(q *Asked) float64 {
		if q.Kind == IsGone {
			return 0
		}
		return 1 / count[group{q.Set, q.Kind}]
	}
}

func (a *Answerability) writeReliability(b *strings.Builder) {
	weight := a.weigh()
	var answers, hits []Said
	var relevant, others []float64
	for i := range a.Asked {
		q := &a.Asked[i]
		w := weight(q)
		if w == 0 {
			continue
		}
		answers = append(answers, Said{q.Answerable, q.Kind == IsAnswerable, w})
		for _, h := range q.Hits {
			hits = append(hits, Said{h.Relevance, h.Relevant, w / float64(len(q.Hits))})
			if h.Relevant {
				relevant = append(relevant, h.Relevance)
			} else {
				others = append(others, h.Relevance)
			}
		}
	}
	answerBins, answerError := Calibration(answers)
	hitBins, hitError := Calibration(hits)
	fmt.Fprintf(b, "\nWhat was said and what was true, half of the questions being about something else; expected "+
		"calibration error of answerable %.3f, of relevance %.3f (AUC of hits %.3f):\n\n",
		answerError, hitError, AUC(relevant, others))
	b.WriteString("| answerable said | true | | share | relevance said | true | | share |\n" +
		"|---|---|---|---|---|---|---|---|\n")
	for i := range answerBins {
		x, y := answerBins[i], hitBins[i]
		fmt.Fprintf(b, "| %.2f | %.2f | %s | %.0f %% | %.2f | %.2f | %s | %.0f %% |\n",
			x.Said, x.True, diagram(x), 100*x.Share, y.Said, y.True, diagram(y), 100*y.Share)
	}
}

// diagram draws a bin: what was true as a bar, what was said as a mark.
func diagram(bin Bin) string {
	const width = 20
	if bin.Share == 0 {
		return ""
	}
	said := min(int(bin.Said*width), width-1)
	line := []rune(strings.Repeat("█", int(bin.True*width+0.5)) + strings.Repeat("·", width))[:width]
	line[said] = '│'
	return "`" + string(line) + "`"
}

// writeFits leaves out what sets of one size cannot tell.
func (a *Answerability) writeFits(b *strings.Builder) {
	least, most := math.MaxInt, 0
	for i := range a.Asked {
		least, most = min(least, bank.Size(a.Asked[i].Chunks)), max(most, bank.Size(a.Asked[i].Chunks))
	}
	if most < 2*least {
		return
	}
	b.WriteString("\nThe constants that fit these sets best, and those without one family of sets with their error " +
		"on it:\n\n| fitted on | answerable | error | relevance | error |\n|---|---|---|---|---|\n")
	families := []string{""}
	for i := range a.Asked {
		families = append(families, a.Asked[i].Family)
	}
	slices.SortFunc(families, cmp.Compare[string])
	for _, family := range slices.Compact(families) {
		answers, hits := a.fit(family)
		name := "all"
		if family != "" {
			name = "all but " + family
		}
		fmt.Fprintf(b, "| %s | %.1f e − %.2f ln n %+.2f | %.3f | %.1f e − %.1f (b − e) − %.2f ln n %+.2f | %.3f |\n", name,
			answers.b[0], answers.b[1], answers.b[2], answers.err, hits.b[0], hits.b[1], hits.b[2], hits.b[3], hits.err)
	}
}

// fitted are the constants of a logistic regression and its calibration error.
type fitted struct {
	b   []float64
	err float64
}

// fit leaves out a family, which the error is then measured on; without a name it takes all.
func (a *Answerability) fit(without string) (answers, hits fitted) {
	weight := a.weigh()
	var train, test [2][]Example
	for i := range a.Asked {
		q := &a.Asked[i]
		w := weight(q)
		if w == 0 {
			continue
		}
		size := math.Log(float64(bank.Size(q.Chunks)))
		of := [2][]Example{{{X: []float64{q.Best, -size}, True: q.Kind == IsAnswerable, Weight: w}}}
		for _, h := range q.Hits {
			x := []float64{h.Evidence, -max(q.Best-h.Evidence, 0), -size}
			of[1] = append(of[1], Example{X: x, True: h.Relevant, Weight: w / float64(len(q.Hits))})
		}
		for k := range of {
			if q.Family != without {
				train[k] = append(train[k], of[k]...)
			}
			if q.Family == without || without == "" {
				test[k] = append(test[k], of[k]...)
			}
		}
	}
	fits := [2]fitted{}
	for k := range fits {
		fits[k].b = Logistic(train[k])
		var said []Said
		for _, e := range test[k] {
			said = append(said, Said{Probability(fits[k].b, e.X), e.True, e.Weight})
		}
		_, fits[k].err = Calibration(said)
	}
	return fits[0], fits[1]
}
