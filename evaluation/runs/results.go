package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/evaluation"
	"github.com/hybridge-search/hybridge/evaluation/metric"
	"github.com/hybridge-search/hybridge/fault"
)

// Result holds the measurements of a system.
type Result struct {
	System  string    `json:"system"`
	Queries int       `json:"queries" minimum:"0" doc:"Judged ones with something relevant, which the metrics are of."`
	Metrics []Measure `json:"metrics" nullable:"false"`
	// Refusals are only known where the query set has both kinds of queries.
	RightlyRefused *float64 `json:"rightly_refused,omitempty" minimum:"0" maximum:"1" doc:"Share of the unanswerable queries whose answer has no hits."`
	WronglyRefused *float64 `json:"wrongly_refused,omitempty" minimum:"0" maximum:"1" doc:"Share of the other queries whose answer has no hits."`
	Failed         int      `json:"failed" minimum:"0" doc:"Searches without an answer; the metrics leave them out."`
	Degraded       int      `json:"degraded" minimum:"0" doc:"Answers that a leg took no part in."`
	Changed        int      `json:"changed" minimum:"0" doc:"Hits among the first ten under whose id another text was judged."`
	Unjudged       int      `json:"unjudged" minimum:"0" doc:"Hits among the first ten that nobody has judged."`
	MedianMS       float64  `json:"median_ms" minimum:"0" doc:"Of a search."`
	P95MS          float64  `json:"p95_ms" minimum:"0" doc:"95 of 100 searches were faster."`
}

// Measure is a metric's mean over the queries, with its 95 % bootstrap interval.
type Measure struct {
	Metric string  `json:"metric"`
	Mean   float64 `json:"mean" minimum:"0" maximum:"1"`
	Low    float64 `json:"low" minimum:"0" maximum:"1"`
	High   float64 `json:"high" minimum:"0" maximum:"1"`
}

const (
	shown   = 10 // first hits of an answer, which people see
	extreme = 20 // queries of a comparison that are kept at each end
)

// depth is the depth of the deepest metric, so that one request serves all.
func (e *Evaluation) depth() int {
	deepest := shown
	for _, name := range e.Metrics {
		m, err := metric.Parse(name)
		if err == nil {
			deepest = max(deepest, m.Depth())
		}
	}
	return deepest
}

// measured is a run as it is measured: its judgments, and of each system the rankings.
type measured struct {
	judgments map[string]metric.Judgments
	rows      map[string][]*Row // by system
}

// readRun reads rows and judgments.
func (r *Runs) readRun(ctx context.Context, ref engine.RecordRef, systems []string) (*measured, error) {
	m := &measured{judgments: map[string]metric.Judgments{}, rows: map[string][]*Row{}}
	prefix := judgedKey("")
	for item, err := range engine.AllItems(ctx, r.keeper, ref, prefix) {
		if err != nil {
			return nil, err
		}
		grades := metric.Judgments{}
		if err := json.Unmarshal(item.Body, &grades); err != nil {
			return nil, fault.Wrap(fault.Internal, err, "read judgments of evaluation %q", ref.ID)
		}
		m.judgments[item.Key[len(prefix):]] = grades
	}
	for _, system := range systems {
		for item, err := range engine.AllItems(ctx, r.keeper, ref, rowKey(system, "")) {
			if err != nil {
				return nil, err
			}
			row := &Row{}
			if err := json.Unmarshal(item.Body, row); err != nil {
				return nil, fault.Wrap(fault.Internal, err, "read a row of evaluation %q", ref.ID)
			}
			row.forget()
			m.rows[system] = append(m.rows[system], row)
		}
	}
	return m, nil
}

// forget drops what measuring does not need, as there may be very many rows.
func (r *Row) forget() {
	for i := range r.Hits {
		r.Hits[i].Legs = nil
	}
}

// measures reports whether a query counts for metrics: something is relevant.
func (m *measured) measures(query string) bool {
	for _, grade := range m.judgments[query] {
		if grade > 0 {
			return true
		}
	}
	return false
}

// result measures a system.
func (m *measured) result(system string, metrics []metric.Metric, scale int) Result {
	result := Result{System: system, Metrics: make([]Measure, len(metrics))}
	values := make([][]float64, len(metrics))
	var took []float64
	var refused, asked [2]int // of answerable queries, of others
	for _, row := range m.rows[system] {
		if row.Error != "" {
			result.Failed++
			continue
		}
		took = append(took, row.TookMS)
		result.count(row)
		other := 0
		if !m.measures(row.Query) {
			other = 1
		}
		asked[other]++
		if row.Refused {
			refused[other]++
		}
		if other == 1 {
			continue
		}
		result.Queries++
		ranking := row.ranking()
		for i := range metrics {
			values[i] = append(values[i], metrics[i].Of(ranking, m.judgments[row.Query], scale))
		}
	}
	for i := range metrics {
		mean := evaluation.Bootstrap(values[i])
		result.Metrics[i] = Measure{Metric: metrics[i].Name, Mean: mean.Mean, Low: mean.Low, High: mean.High}
	}
	if asked[1] > 0 {
		right := float64(refused[1]) / float64(asked[1])
		result.RightlyRefused = &right
	}
	if asked[0] > 0 {
		wrong := float64(refused[0]) / float64(asked[0])
		result.WronglyRefused = &wrong
	}
	slices.Sort(took)
	if n := len(took); n > 0 {
		result.MedianMS, result.P95MS = took[n/2], took[n*95/100]
	}
	return result
}

func (result *Result) count(row *Row) {
	if len(row.Degraded) > 0 {
		result.Degraded++
	}
	for i := range row.Hits[:min(shown, len(row.Hits))] {
		switch h := &row.Hits[i]; {
		case h.Changed:
			result.Changed++
		case h.Grade == nil:
			result.Unjudged++
		}
	}
}

func (r *Row) ranking() []string {
	keys := make([]string, len(r.Hits))
	for i := range r.Hits {
		keys[i] = r.Hits[i].Key
	}
	return keys
}

// comparable is a system's rows as evaluation compares them.
func (m *measured) comparable(set, system string) *evaluation.Result {
	result := &evaluation.Result{Set: set, System: system}
	for _, row := range m.rows[system] {
		if row.Error == "" && m.measures(row.Query) {
			result.Rows = append(result.Rows, evaluation.Row{
				Set: set, System: system, Query: row.Query, Ranking: row.ranking(),
			})
		}
	}
	return result
}

// finish measures all systems and stores how they compare.
func (a *asking) finish(ctx context.Context) error {
	metrics, err := metric.ParseAll(a.of.Metrics)
	if err != nil {
		return err
	}
	a.report(progressOf("measure", a.of))
	var systems []string
	for i := range a.of.Systems {
		systems = append(systems, a.of.Systems[i].Name)
	}
	m, err := a.runs.readRun(ctx, a.ref(), systems)
	if err != nil {
		return err
	}
	a.of.Results = nil
	for _, system := range systems {
		a.of.Results = append(a.of.Results, m.result(system, metrics, a.of.MaxGrade))
	}
	all, err := m.compare(a.of, metrics)
	if err != nil {
		return err
	}
	items := make([]engine.RecordItem, len(all))
	for i, c := range all {
		for j := range c.Differences {
			c.Differences[j].Queries = ends(c.Differences[j].Queries)
		}
		body, err := json.Marshal(c)
		if err != nil {
			return err
		}
		items[i] = engine.RecordItem{Key: engine.RecordKey("comparison", fmt.Sprintf("%03d", i)), Body: body}
	}
	return engine.PutAllItems(ctx, a.runs.keeper, a.ref(), items)
}

// compare compares every other system with the one they are measured against, where both answered something.
func (m *measured) compare(e *Evaluation, metrics []metric.Metric) ([]*evaluation.Comparison, error) {
	set := &evaluation.Set{Name: e.QuerySet, Judgments: m.judgments}
	var all []*evaluation.Comparison
	for i := range e.Systems {
		name := e.Systems[i].Name
		system, against := m.comparable(e.QuerySet, name), m.comparable(e.QuerySet, e.Against)
		if name == e.Against || len(system.Rows) == 0 || len(against.Rows) == 0 {
			continue
		}
		c, err := evaluation.Compare(set, system, against, metrics)
		if err != nil {
			return nil, err
		}
		m.tell(c, name)
		all = append(all, c)
	}
	evaluation.CorrectAll(all)
	return all, nil
}

// shownText limits the bytes of a query's text beside its difference.
const shownText = 200

// tell adds the beginnings of the texts of the queries that a system was asked.
func (m *measured) tell(c *evaluation.Comparison, system string) {
	texts := make(map[string]string, len(m.rows[system]))
	for _, row := range m.rows[system] {
		texts[row.Query] = beginning(row.Text)
	}
	for i := range c.Differences {
		for j := range c.Differences[i].Queries {
			q := &c.Differences[i].Queries[j]
			q.Text = texts[q.Query]
		}
	}
}

// beginning cuts a text to what is shown of it.
func beginning(text string) string {
	if len(text) <= shownText {
		return text
	}
	cut := shownText
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// ends keeps the queries that lost most and those that gained most.
func ends(queries []evaluation.QueryDifference) []evaluation.QueryDifference {
	if len(queries) <= 2*extreme {
		return queries
	}
	return append(queries[:extreme:extreme], queries[len(queries)-extreme:]...)
}
