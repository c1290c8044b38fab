package tune

import (
	"cmp"
	"math"
	"time"

	"github.com/hybridge-search/hybridge/evaluation"
	"github.com/hybridge-search/hybridge/search"
)

// Result is the result of a search, and its validation on unseen questions.
type Result struct {
	Date       time.Time `json:"date"`
	Preset     string    `json:"preset"`
	Metric     string    `json:"metric"`
	Hits       int       `json:"hits"` // of an answer
	Method     Method    `json:"method"`
	Questions  int       `json:"questions"`
	Retrievals int       `json:"retrievals"` // ways of retrieving, each fetched once
	Arms       int       `json:"arms"`       // the preset as it is, and combinations of choices
	Tried      int       `json:"tried"`      // measurements of a variant, on all questions or a part
	Seconds    float64   `json:"seconds"`
	Bytes      int       `json:"bytes"` // of what was found

	// Start is the preset as it is; Unseen the tuned one on questions that it was not chosen by.
	Start  float64 `json:"start"`
	Unseen float64 `json:"unseen"`
	// Gain is Unseen minus Start, with P of such a difference by chance.
	Gain   evaluation.Interval `json:"gain"`
	P      float64             `json:"p"`
	Effect float64             `json:"effect"`
	// Deviation is the standard deviation of the folds' gains, each by its own variant.
	Deviation float64     `json:"deviation"`
	Sets      []SetResult `json:"sets"`
	Folds     []Fold      `json:"folds"`

	// Best is the variant that all questions choose, Seen what it has on these: more than it will have on others.
	Best Variant `json:"best"`
	Seen float64 `json:"seen"`
	// Recommended is set if the gain is significant: P below 0.05, and the interval on the better side of 0.
	Recommended bool `json:"recommended"`
	// Complete and BestComplete are the questions whose rankings by the preset and by Best are surely those of the
	// search itself. Of the others a joint ranking may hold a chunk that no leg had among its first.
	Complete     int `json:"complete"`
	BestComplete int `json:"best_complete"`

	lowerIsBetter bool
}

// SetResult is the part of one set.
type SetResult struct {
	Set       string              `json:"set"`
	Digest    string              `json:"digest,omitempty"` // SHA-256 of its questions and judgments
	Questions int                 `json:"questions"`
	Start     float64             `json:"start"`
	Unseen    float64             `json:"unseen"`
	Gain      evaluation.Interval `json:"gain"`
	P         float64             `json:"p"` // corrected for the sets by Holm
}

// Fold is the part of the questions that Variant was chosen without. Each set in it counts the same.
type Fold struct {
	Family    string              `json:"family,omitempty"` // where folds are families of sets
	Questions int                 `json:"questions"`
	Start     float64             `json:"start"`
	Unseen    float64             `json:"unseen"`
	Gain      evaluation.Interval `json:"gain"`
	Variant   Variant             `json:"variant"`
	// Model is set where weights per query were fitted; nil there: none was better than none.
	Model *search.WeightModel `json:"model,omitempty"`
	// Oracle is PerQueryResult.Oracle of the part, 0 where no weights per query were fitted.
	Oracle float64 `json:"oracle,omitempty"`
}

// Variant is a preset with changes, as a request or another preset can set them.
type Variant struct {
	Preset string `json:"preset"`
	search.Overrides
}

func variantOf(req *search.Request) Variant { return Variant{req.Preset, req.Overrides} }

// Changed reports whether the variant is another than a preset as it is.
func (v *Variant) Changed(preset string) bool {
	return v.Preset != preset || v.settings() != (&Variant{Preset: preset}).settings()
}

const significant = 0.05

func (q *Question) compare(other *Question) int {
	return cmp.Or(cmp.Compare(q.Set, other.Set), cmp.Compare(q.ID, other.ID))
}

// report measures what was chosen.
func (t *Tuner) report(r *Result, s *searched, best *trial, unseen []float64) error {
	first := t.order[0]
	_, plan, err := t.plan(first, &trial{})
	if err != nil {
		return err
	}
	start := make([]float64, len(t.questions))
	t.evaluator.measure(t.rows[first.columns], plan, t.evaluator.every(), start)
	r.Complete = t.evaluator.complete(t.rows[first.columns], plan)
	request, plan, err := t.plan(s, best)
	if err != nil {
		return err
	}
	r.Best, r.Seen = variantOf(request), math.Abs(t.mean(best, t.all()))
	r.BestComplete = t.evaluator.complete(t.rows[s.columns], plan)

	t.reportSets(r, start, unseen)
	t.compare(r, start, unseen)
	r.Recommended = r.Recommended && r.Best.Changed(r.Preset)
	return nil
}

// compare says how much better the tuned one is on questions that it was not chosen by, all of them and by fold.
func (t *Tuner) compare(r *Result, start, unseen []float64) {
	all := t.evaluator.every()
	a, b := t.balanced(unseen, all), t.balanced(start, all)
	differences := minus(a, b)
	r.Start, r.Unseen = mean(b), mean(a)
	r.Gain, r.P, r.Effect = evaluation.Bootstrap(differences), evaluation.PairedTest(a, b), evaluation.Effect(differences)
	r.Recommended = r.P < significant && r.isBetter(&r.Gain)
	gains := make([]float64, len(t.parts))
	for fold, part := range t.parts {
		f := &r.Folds[fold]
		a, b := t.balanced(unseen, part), t.balanced(start, part)
		f.Start, f.Unseen, f.Gain = mean(b), mean(a), evaluation.Bootstrap(minus(a, b))
		gains[fold] = f.Unseen - f.Start
	}
	r.Deviation = deviation(gains)
}

// isBetter reports whether all of an interval is on the better side of 0.
func (r *Result) isBetter(i *evaluation.Interval) bool {
	if r.lowerIsBetter {
		return i.High < 0
	}
	return i.Low > 0
}

func (t *Tuner) reportSets(r *Result, start, unseen []float64) {
	var p []float64
	for set, name := range t.sets {
		var a, b []float64
		for q := range t.questions {
			if t.setOf[q] == set {
				a, b = append(a, unseen[q]), append(b, start[q])
			}
		}
		r.Sets = append(r.Sets, SetResult{
			Set: name, Digest: t.o.Digests[name], Questions: len(a),
			Start: mean(b), Unseen: mean(a), Gain: evaluation.Bootstrap(minus(a, b)),
		})
		p = append(p, evaluation.PairedTest(a, b))
	}
	for i, corrected := range evaluation.Holm(p) {
		r.Sets[i].P = corrected
	}
}

// balanced returns the values of some questions, scaled so that their mean equals the mean over sets.
func (t *Tuner) balanced(values []float64, some []int) []float64 {
	sizes, sets := make([]int, len(t.sets)), 0
	for _, q := range some {
		if sizes[t.setOf[q]]++; sizes[t.setOf[q]] == 1 {
			sets++
		}
	}
	scaled := make([]float64, len(some))
	for i, q := range some {
		scaled[i] = values[q] * float64(len(some)) / float64(sizes[t.setOf[q]]*sets)
	}
	return scaled
}

func minus(a, b []float64) []float64 {
	differences := make([]float64, len(a))
	for i := range a {
		differences[i] = a[i] - b[i]
	}
	return differences
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(max(1, len(values)))
}

// deviation is the sample's.
func deviation(values []float64) float64 {
	middle, squares := mean(values), 0.0
	for _, v := range values {
		squares += (v - middle) * (v - middle)
	}
	return math.Sqrt(squares / float64(max(1, len(values)-1)))
}
