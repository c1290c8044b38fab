// Package recall measures the loss by approximation: searches by an index of vectors, and by moments of cosines
// over a sample, compared with the exact answer of the same knowledge base as it is now.
//
//	recall.go    the request, the report, Measure
//	queries.go   the queries: given questions, or vectors drawn from the knowledge base
//	field.go     a vector field: recall, times, moments
//	answers.go   what the same does to the answers of a preset
//	wayout.go    the setting that would mend it
//	metrics.go   the gauge
package recall

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/evaluation/metric"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search"
)

// Limits and defaults of a measurement.
const (
	DefaultSample = 100
	MaxSample     = 500 // as many vectors as engines sample
	DefaultK      = 10
	MaxK          = 100
	// maxSummed is how many chunks a joint ranking may be summed over exactly: PostgreSQL reads them all.
	maxSummed = 500_000
)

// Request says what is measured.
type Request struct {
	Sample     *int     `json:"sample,omitempty" minimum:"1" maximum:"500" doc:"How many vectors of the knowledge base are asked for, drawn with a fixed seed; 100 by default."`
	Queries    []string `json:"queries,omitempty" maxItems:"500" doc:"Questions to ask instead of vectors of the knowledge base."`
	K          *int     `json:"k,omitempty" minimum:"1" maximum:"100" doc:"Depth to which answers are compared; 10 by default."`
	Preset     string   `json:"preset,omitempty" doc:"Whose legs and answers are measured; the default preset when left out."`
	Candidates *int     `json:"candidates,omitempty" minimum:"1" maximum:"10000" doc:"Hits per leg, as in a search; few show what the index alone finds."`
	Engine     string   `json:"engine,omitempty" doc:"Engine to measure, when a knowledge base has several."`
}

// Report tells how far approximate answers are from the exact ones.
type Report struct {
	KnowledgeBase string   `json:"knowledge_base"`
	Engine        string   `json:"engine"`
	Preset        string   `json:"preset"`
	K             int      `json:"k"`
	Asked         int      `json:"asked" doc:"Queries that were to be asked."`
	Measured      int      `json:"measured" doc:"Queries that were measured whole."`
	Why           string   `json:"why,omitempty" locale:"text" doc:"Why they are fewer than asked."`
	Fields        []Field  `json:"fields" doc:"The vector fields that the preset searches."`
	Answers       *Answers `json:"answers,omitempty" doc:"What it does to the answers of the preset; left out where the exact ones would take too much."`
	WayOut        string   `json:"way_out,omitempty" locale:"text" doc:"The setting that would mend it, where the recall of a field is below 0.99 by its whole interval."`
	TookMS        float64  `json:"took_ms" minimum:"0"`
}

// Searcher is the measured searcher. Search must not answer from a cache.
type Searcher interface {
	Subjects(ctx context.Context, scope access.Scope, req *search.Request) ([]search.Subject, error)
	Search(ctx context.Context, scope access.Scope, req search.Request) (*search.Response, error)
	QueryVector(ctx context.Context, kb *engine.KnowledgeBase, text string) ([]float32, error)
}

// Measurer measures one knowledge base at a time, as exact answers are dear. It is safe for concurrent use.
type Measurer struct {
	searcher Searcher
	running  chan struct{}
	metrics  *metrics
}

// New makes a Measurer; without a registry it has no metrics.
func New(s Searcher, registry prometheus.Registerer) *Measurer {
	return &Measurer{searcher: s, running: make(chan struct{}, 1), metrics: newMetrics(registry)}
}

// measurement is one under way.
type measurement struct {
	searcher Searcher
	scope    access.Scope
	subject  *search.Subject
	k        int
	fields   []fieldTally
	sample   []string // ids of the chunks that moments are usually over, of the first field
	asked    map[string]bool
	answers  *answerTally // nil: they are not compared
	slowest  time.Duration
}

// Measure asks every query twice, approximately and exactly, one after the other. It ends before the context does,
// and then says of how many queries the report is.
func (m *Measurer) Measure(ctx context.Context, scope access.Scope, kb string, req *Request) (*Report, error) {
	started := time.Now()
	run, err := m.open(ctx, scope, kb, req)
	if err != nil {
		return nil, err
	}
	select {
	case m.running <- struct{}{}:
		defer func() { <-m.running }()
	default:
		return nil, fault.New(fault.Conflict, "recall is being measured already; one measurement runs at a time")
	}
	if err := run.sampled(ctx); err != nil {
		return nil, err
	}
	queries, err := run.queries(ctx, req)
	if err != nil {
		return nil, err
	}
	report := run.report(len(queries))
	for i := range queries {
		if i > 0 && !run.hasTime(ctx) {
			report.Why = "there was no time for the others: limits.request_timeout bounds a measurement, " +
				"and a smaller sample takes less"
			break
		}
		if err := run.ask(ctx, &queries[i]); err != nil {
			if i == 0 || ctx.Err() != nil && errors.Is(ctx.Err(), context.Canceled) {
				return nil, err
			}
			report.Why = fmt.Sprintf("a query could not be measured: %s", detailOf(err))
			break
		}
		report.Measured++
	}
	run.conclude(report)
	m.metrics.measured(report)
	report.TookMS = milliseconds(time.Since(started))
	return report, nil
}

// open validates a request and plans it.
func (m *Measurer) open(ctx context.Context, scope access.Scope, kb string, req *Request) (*measurement, error) {
	if err := req.validate(); err != nil {
		return nil, err
	}
	run := &measurement{searcher: m.searcher, scope: scope, k: or(req.K, DefaultK), asked: map[string]bool{}}
	hits := run.hits()
	planned := search.Request{
		Query: "recall", KnowledgeBases: []string{kb}, Preset: req.Preset, Engine: req.Engine, TopK: &hits,
	}
	if req.Candidates != nil {
		planned.Candidates = new(max(*req.Candidates, hits))
	}
	subjects, err := m.searcher.Subjects(ctx, scope, &planned)
	if err != nil {
		return nil, err
	}
	run.subject = &subjects[0]
	plan := &run.subject.Plan
	for i := range plan.Legs {
		l := &plan.Legs[i]
		known := slices.ContainsFunc(run.fields, func(f fieldTally) bool { return f.name == l.Field })
		if l.Kind == scoring.Vector && !known {
			run.fields = append(run.fields, fieldTally{name: l.Field, depth: max(l.K, hits)})
		}
	}
	if len(run.fields) == 0 {
		return nil, fault.New(fault.Unsupported,
			"knowledge base %s has no vectors that preset %s searches: nothing is approximate", kb, plan.Preset)
	}
	planned.Rules, planned.Cache = new(bool), new(bool)
	planned.Rewrite = &search.Rewrite{} // a language model would write other questions each time
	run.answers = &answerTally{request: planned}
	return run, nil
}

func (r *Request) validate() error {
	switch {
	case r.Sample != nil && len(r.Queries) > 0:
		return fault.Invalid("sample", *r.Sample, "left out with queries")
	case r.Sample != nil && (*r.Sample < 1 || *r.Sample > MaxSample):
		return fault.Invalid("sample", *r.Sample, "1 to 500")
	case r.Candidates != nil && (*r.Candidates < 1 || *r.Candidates > search.MaxCandidates):
		return fault.Invalid("candidates", *r.Candidates, "1 to 10000")
	case r.K != nil && (*r.K < 1 || *r.K > MaxK):
		return fault.Invalid("k", *r.K, "1 to 100")
	case len(r.Queries) > MaxSample:
		return fault.Invalid("queries", fault.Length(len(r.Queries)), "a list of at most 500 questions")
	}
	for i, text := range r.Queries {
		if text == "" || len(text) > search.MaxQueryBytes || !utf8.ValidString(text) {
			return fault.Invalid(fmt.Sprintf("queries[%d]", i), text, "a question of 1 to 32768 bytes of UTF-8")
		}
	}
	return nil
}

// sampled asks how many vectors the fields have, and how many of them the moments of cosines are over.
func (run *measurement) sampled(ctx context.Context) error {
	for i := range run.fields {
		f := &run.fields[i]
		drawn, err := run.subject.Engine.Centroids(ctx, &engine.CentroidsRequest{KB: run.subject.KB, VectorField: f.name})
		if err != nil {
			return err
		}
		f.vectors, f.sample = drawn.Chunks, len(drawn.Sample)
		if i == 0 {
			run.sample = drawn.Sample
		}
		if f.vectors > maxSummed {
			run.answers = nil
		}
	}
	return nil
}

// hits is one more than k, because the chunk of a sampled query is excluded.
func (run *measurement) hits() int { return run.k + 1 }

// hasTime reports whether there is time for another query as slow as the slowest, twice over: for the end too.
func (run *measurement) hasTime(ctx context.Context) bool {
	deadline, bounded := ctx.Deadline()
	return !bounded || time.Until(deadline) > 2*run.slowest+time.Second/4
}

// ask measures one query.
func (run *measurement) ask(ctx context.Context, q *query) error {
	started := time.Now()
	if err := run.prepare(ctx, q); err != nil {
		return err
	}
	fields := make([]fieldOutcome, len(run.fields))
	for i := range run.fields {
		if err := run.measureField(ctx, &run.fields[i], q, &fields[i]); err != nil {
			return err
		}
	}
	if run.answers != nil {
		if err := run.compareAnswers(ctx, q); err != nil {
			return err
		}
	}
	for i := range fields { // of queries that were measured whole
		run.fields[i].add(q, &fields[i])
	}
	run.slowest = max(run.slowest, time.Since(started))
	return nil
}

func (run *measurement) report(asked int) *Report {
	kb := &run.subject.KB
	return &Report{
		KnowledgeBase: kb.ID, Engine: run.subject.Engine.Name(), Preset: run.subject.Plan.Preset, K: run.k, Asked: asked,
		Fields: []Field{},
	}
}

func (run *measurement) conclude(report *Report) {
	for i := range run.fields {
		report.Fields = append(report.Fields, run.fields[i].conclude())
	}
	if run.answers != nil {
		report.Answers = run.answers.conclude()
	}
	report.WayOut = wayOut(&run.subject.KB, report)
}

// detailOf is the part of an error that a caller may read.
func detailOf(err error) (detail string) {
	var f *fault.Error
	if errors.As(err, &f) && f.Kind != fault.Internal {
		return f.Detail
	}
	return "internal error"
}

// overlap is the share of the exact answer in the approximate one; 1 if it is empty.
func overlap(usual, exact []string) float64 {
	if len(exact) == 0 {
		return 1
	}
	found := 0
	for _, id := range exact {
		if slices.Contains(usual, id) {
			found++
		}
	}
	return float64(found) / float64(len(exact))
}

// share is a mean over queries, with the number of queries that lost something and the worst one.
type share struct {
	values []float64
	worst  Worst
	lost   int
}

func (s *share) add(q *query, value float64) {
	if value < 1 {
		s.lost++
	}
	if len(s.values) == 0 || value < s.worst.Share {
		s.worst = Worst{Query: q.name, Share: value}
	}
	s.values = append(s.values, value)
}

func (s *share) conclude() Share {
	concluded := Share{Interval: metric.Bootstrap(s.values), Lost: s.lost}
	if s.lost > 0 {
		worst := s.worst
		concluded.Worst = &worst
	}
	return concluded
}

// Share is the share of exact answers in approximate ones, in [0, 1]: the mean over the queries with its 95 %
// bootstrap interval.
type Share struct {
	metric.Interval
	Lost  int    `json:"lost" doc:"Queries whose answer lacks something."`
	Worst *Worst `json:"worst,omitempty" doc:"The query that lacks most; left out where none lacks anything."`
}

// Worst is the query with the smallest share of the exact answer.
type Worst struct {
	Query string  `json:"query" doc:"The question, or the id of the chunk whose vector was asked for."`
	Share float64 `json:"share"`
}

func or[T any](given *T, usual T) T {
	if given != nil {
		return *given
	}
	return usual
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// median of times in milliseconds; 0 without any.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
