package experiments

import "strings"

// The metrics.
const (
	ClickThrough   = "click_through"
	ClickMRR       = "click_mrr"
	AbandonedRate  = "abandonment_rate"
	ZeroResultRate = "zero_result_rate"
	RefusedRate    = "refused_rate"
	ErrorRate      = "error_rate"
	Latency        = "latency_ms"
)

// metric is a ratio of units' actions: the sum of one number over the sum of another.
type metric struct {
	name    string
	of, per func(t *Tally) float64
	isRate  bool // in [0, 1]: of counts some of what per counts
	// lowerIsBetter: a variant that has less wins.
	lowerIsBetter bool
}

// metrics are all of them, in the order of reports.
var metrics = []metric{
	{name: ClickThrough, of: func(t *Tally) float64 { return float64(t.Clicked) }, per: searches, isRate: true},
	// The mean over searches of 1/rank of the best hit that was clicked, 0 where none was (Chapelle et al., 2012).
	{name: ClickMRR, of: func(t *Tally) float64 { return t.ReciprocalRanks }, per: searches},
	{
		name: AbandonedRate, of: func(t *Tally) float64 { return float64(t.Answered - t.Clicked) },
		per: func(t *Tally) float64 { return float64(t.Answered) }, isRate: true, lowerIsBetter: true,
	},
	{
		name: ZeroResultRate, of: func(t *Tally) float64 { return float64(t.Zero) },
		per: searches, isRate: true, lowerIsBetter: true,
	},
	{
		name: RefusedRate, of: func(t *Tally) float64 { return float64(t.Refused) },
		per: searches, isRate: true, lowerIsBetter: true,
	},
	{
		name: ErrorRate, of: func(t *Tally) float64 { return float64(t.Failed) },
		per: searches, isRate: true, lowerIsBetter: true,
	},
	{
		name: Latency, of: func(t *Tally) float64 { return t.Latencies },
		per: searches, lowerIsBetter: true,
	},
}

func searches(t *Tally) float64 { return float64(t.Searches) }

// metricOf is the metric of a name, nil if there is none.
func metricOf(name string) *metric {
	for i := range metrics {
		if metrics[i].name == name {
			return &metrics[i]
		}
	}
	return nil
}

// Metrics are the names of all, in the order of reports.
func Metrics() []string {
	names := make([]string, len(metrics))
	for i := range metrics {
		names[i] = metrics[i].name
	}
	return names
}

func metricNames() string { return strings.Join(Metrics(), ", ") }

// Impression is one search as seen by a user, with the user's actions.
type Impression struct {
	Hits    int     `json:"hits"`              // that were shown
	Refused bool    `json:"refused,omitempty"` // the answer was emptied, as it would have been none
	Failed  bool    `json:"failed,omitempty"`  // an error was shown instead
	Latency float64 `json:"latency_ms"`
	Clicks  []int   `json:"clicks,omitempty"` // ranks from 1, in any order
	Teams   []Team  `json:"teams,omitempty"`  // of the hits, where the list was interleaved
}

// Tally sums up all searches of one unit, and is all that a caller stores for it. The zero value with the
// variant's name stands for a unit that has not searched.
type Tally struct {
	Variant  string `json:"variant,omitempty"` // empty where lists are interleaved
	Searches int    `json:"searches"`
	Answered int    `json:"answered"` // with hits
	Clicked  int    `json:"clicked"`  // with a click on a hit
	Zero     int    `json:"zero,omitempty"`
	Refused  int    `json:"refused,omitempty"`
	Failed   int    `json:"failed,omitempty"`

	ReciprocalRanks float64 `json:"reciprocal_ranks"` // their sum
	Latencies       float64 `json:"latencies_ms"`     // their sum

	ForA int `json:"for_a,omitempty"` // searches with more clicks for the first variant
	ForB int `json:"for_b,omitempty"`
}

// Add counts a search, once no more clicks on it are expected. Clicks on ranks that were not shown count for nothing.
func (t *Tally) Add(i *Impression) {
	t.Searches++
	t.Latencies += i.Latency
	switch {
	case i.Failed:
		t.Failed++
		return
	case i.Refused:
		t.Refused++
		return
	case i.Hits == 0:
		t.Zero++
		return
	}
	t.Answered++
	best := 0
	for _, rank := range i.Clicks {
		if rank >= 1 && rank <= i.Hits && (best == 0 || rank < best) {
			best = rank
		}
	}
	if best > 0 {
		t.Clicked++
		t.ReciprocalRanks += 1 / float64(best)
	}
	switch a, b := Credit(i.Teams, i.Clicks); {
	case a > b:
		t.ForA++
	case b > a:
		t.ForB++
	}
}
