package events

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/fault"
)

const (
	defaultPeriod = 7 * 24 * time.Hour
	maxPeriod     = 366 * 24 * time.Hour
	defaultRows   = 20
	maxRows       = 1000

	// maxQuestions are told apart; of more, the later ones are in the totals alone.
	maxQuestions = 200_000
	// maxSessions are looked at for reformulations at a time.
	maxSessions = 100_000
	// reformulatedWithin is how soon a question follows one that it is a new wording of.
	reformulatedWithin = 5 * time.Minute
	// repeatedWithin is how soon the same question is no new search: a page asks again for better fragments, say.
	repeatedWithin = 5 * time.Second
)

// AnalyticsRequest asks what users searched for.
type AnalyticsRequest struct {
	From, To      time.Time // of searches; the default is the last 7 days
	KnowledgeBase string    // searches of it; empty: all
	Limit         int       // rows of each list; 0: 20
}

// Analytics says what users searched for in a period, and what was so in the period of equal length before.
type Analytics struct {
	From          time.Time `json:"from"`
	To            time.Time `json:"to"`
	KnowledgeBase string    `json:"knowledge_base,omitempty"`

	Totals Totals `json:"totals"`
	Before Totals `json:"before" doc:"The same of the period of equal length before."`

	Top          []Question      `json:"top" nullable:"false" doc:"The questions that were asked most."`
	Changed      []Question      `json:"changed" nullable:"false" doc:"Those whose number changed most against the period before."`
	ZeroResult   []Question      `json:"zero_result" nullable:"false" doc:"Those that found nothing, most often first."`
	Refused      []Question      `json:"refused" nullable:"false" doc:"Those of whose hits a threshold left none, most often first."`
	Slow         []Question      `json:"slow" nullable:"false" doc:"By their slowest search."`
	Reformulated []Reformulation `json:"reformulated" nullable:"false" doc:"Questions that were followed by another one of the same session within five minutes, before any click."`
	// Truncated says that there were more questions than are told apart.
	Truncated bool `json:"truncated,omitempty" doc:"There were more than 200,000 questions: those that came up later are in the totals alone."`
}

// Totals are of all searches of a period.
type Totals struct {
	Searches     int      `json:"searches" minimum:"0"`
	Pages        int      `json:"pages" minimum:"0" doc:"Further pages of answers, and questions that a session repeats within five seconds; they are not among the searches."`
	ZeroResult   int      `json:"zero_result" minimum:"0" doc:"Searches that found nothing."`
	Refused      int      `json:"refused" minimum:"0" doc:"Searches of whose hits a threshold left none."`
	Failed       int      `json:"failed" minimum:"0" doc:"Searches that ended in an error."`
	Clicked      int      `json:"clicked" minimum:"0" doc:"Searches with a click."`
	ClickThrough *float64 `json:"click_through" minimum:"0" maximum:"1" doc:"clicked over the searches with hits; null where there are none."`
	Events       int      `json:"events" minimum:"0" doc:"On searches that are in the log."`
	Impressions  int      `json:"impressions" minimum:"0"`
	Clicks       int      `json:"clicks" minimum:"0"`
	Conversions  int      `json:"conversions" minimum:"0"`
	Orphans      int      `json:"orphans" minimum:"0" doc:"Events whose query is not in the log; of all knowledge bases, for keys that see all."`
	MeanDwellMS  *float64 `json:"mean_dwell_ms" minimum:"0" doc:"Of the events that have dwell_ms; null without any."`
	MedianMS     *float64 `json:"median_ms" minimum:"0" doc:"Of the time that searches took, to 3 percent."`
	P95MS        *float64 `json:"p95_ms" minimum:"0" doc:"95 of 100 searches took at most so long, to 3 percent."`
}

// Question aggregates the searches with one text, ignoring case and white space.
type Question struct {
	Query    string `json:"query,omitempty" doc:"As it was asked first; left out where texts are not kept."`
	TextHash string `json:"text_hash,omitempty"`

	Count        int     `json:"count" minimum:"0" doc:"Searches."`
	Before       int     `json:"before" minimum:"0" doc:"Searches of the period of equal length before."`
	ZeroResult   int     `json:"zero_result" minimum:"0" doc:"Searches that found nothing."`
	Refused      int     `json:"refused" minimum:"0"`
	Clicked      int     `json:"clicked" minimum:"0" doc:"Searches with a click."`
	ClickThrough float64 `json:"click_through" minimum:"0" maximum:"1" doc:"clicked over count; 0 without searches."`
	SlowestMS    float64 `json:"slowest_ms" minimum:"0"`
	MeanMS       float64 `json:"mean_ms" minimum:"0"`

	took float64
}

// Reformulation is a question that was followed by another.
type Reformulation struct {
	From     string `json:"from,omitempty" doc:"As it was asked first; left out where texts are not kept."`
	To       string `json:"to,omitempty"`
	FromHash string `json:"from_hash,omitempty"`
	ToHash   string `json:"to_hash,omitempty"`
	Count    int    `json:"count" minimum:"1"`
}

// Analytics reads the searches of a period and of the one before. Keys that are bound to knowledge bases see searches
// of these alone, and no orphans.
func (l *Log) Analytics(ctx context.Context, scope access.Scope, req AnalyticsRequest) (*Analytics, error) {
	if err := req.complete(l.now()); err != nil {
		return nil, err
	}
	a := newAnalysis(&req)
	for e, err := range l.read(ctx, scope.Tenant, req.From.Add(req.From.Sub(req.To)), req.To) {
		if err != nil {
			return nil, err
		}
		if sees(scope, req.KnowledgeBase, &e.Entry) {
			a.add(&e)
		}
	}
	return a.report(), nil
}

func (r *AnalyticsRequest) complete(now time.Time) error {
	if err := CompletePeriod(&r.From, &r.To, defaultPeriod, now); err != nil {
		return err
	}
	if r.Limit = cmp.Or(r.Limit, defaultRows); r.Limit < 1 || r.Limit > maxRows {
		return fault.Invalid("limit", r.Limit, fmt.Sprintf("1 to %d", maxRows))
	}
	return nil
}

// CompletePeriod fills in what is left out of a period of the log: up to now, and as long as is usual. One that is
// none, or longer than 366 days, is fault.InvalidArgument of the field from.
func CompletePeriod(from, to *time.Time, usual time.Duration, now time.Time) error {
	if to.IsZero() {
		*to = now.UTC()
	}
	if from.IsZero() {
		*from = to.Add(-usual)
	}
	if period := to.Sub(*from); period <= 0 || period > maxPeriod {
		return fault.Invalid("from", from.Format(time.RFC3339),
			fmt.Sprintf("before to, which is %s, by at most 366 days", to.Format(time.RFC3339)))
	}
	return nil
}

// sees reports whether a caller sees an entry, and asks for it. Nobody knows of which knowledge base an orphan is.
func sees(scope access.Scope, kb string, e *Entry) bool {
	if e.Query == nil {
		return scope.KnowledgeBases == nil
	}
	bases := e.Query.Attributes.KnowledgeBases
	return (kb == "" || slices.Contains(bases, kb)) &&
		!slices.ContainsFunc(bases, func(kb string) bool { return !scope.Allows(kb) })
}

// analysis adds up entries, which come in the order of time.
type analysis struct {
	req       *AnalyticsRequest
	now, then tally // of the period, and of the one before
	questions map[string]*Question
	truncated bool

	sessions     map[string]lastQuestion
	reformulated map[[2]string]int
}

type tally struct {
	Totals
	answered  int // with hits
	dwell     float64
	dwells    int
	durations durations
}

// lastQuestion is the latest question of a session.
type lastQuestion struct {
	text    string // as a key of questions
	at      time.Time
	clicked bool
}

func newAnalysis(req *AnalyticsRequest) *analysis {
	return &analysis{
		req: req, questions: map[string]*Question{}, sessions: map[string]lastQuestion{},
		reformulated: map[[2]string]int{},
	}
}

func (a *analysis) add(e *dated) {
	t, before := &a.now, e.at.Before(a.req.From)
	if before {
		t = &a.then
	}
	if e.Query == nil {
		t.Orphans += len(e.Events) + e.MoreEvents
		return
	}
	clicked := t.count(e.Events)
	t.Events += e.MoreEvents
	q := e.Query
	if q.Attributes.Offset > 0 || a.repeats(e) {
		t.Pages++
		return
	}
	t.search(q, clicked)
	if question := a.question(q); question != nil {
		question.search(q, clicked, before)
		a.follow(e, clicked, before)
	}
}

// count adds events up, and reports whether there is a click.
func (t *tally) count(events []Event) (clicked bool) {
	t.Events += len(events)
	for i := range events {
		switch events[i].ActionName {
		case ActionImpression:
			t.Impressions++
		case ActionClick:
			t.Clicks++
			clicked = true
		case ActionConversion:
			t.Conversions++
		}
		if d := events[i].Attributes.DwellMS; d != nil {
			t.dwell += *d
			t.dwells++
		}
	}
	return clicked
}

func (t *tally) search(q *Query, clicked bool) {
	t.Searches++
	t.durations.add(q.Attributes.TookMS)
	switch {
	case q.Attributes.Error != "":
		t.Failed++
	case q.Refused():
		t.Refused++
	case len(q.HitIDs) == 0:
		t.ZeroResult++
	default:
		t.answered++
		if clicked {
			t.Clicked++
		}
	}
}

func (t *tally) totals() Totals {
	if t.answered > 0 {
		rate := float64(t.Clicked) / float64(t.answered)
		t.ClickThrough = &rate
	}
	if t.dwells > 0 {
		mean := t.dwell / float64(t.dwells)
		t.MeanDwellMS = &mean
	}
	t.MedianMS, t.P95MS = t.durations.quantile(.5), t.durations.quantile(.95)
	return t.Totals
}

// textKey is the key of a question; empty if its text is unknown.
func textKey(q *Query) string {
	if q.UserQuery != "" {
		return Normalized(q.UserQuery)
	}
	return q.Attributes.TextHash
}

// question returns the row of a search; nil if its text is unknown or there are too many.
func (a *analysis) question(q *Query) *Question {
	key := textKey(q)
	if key == "" {
		return nil
	}
	of := a.questions[key]
	if of == nil {
		if len(a.questions) == maxQuestions {
			a.truncated = true
			return nil
		}
		of = &Question{Query: q.UserQuery, TextHash: q.Attributes.TextHash}
		a.questions[key] = of
	}
	return of
}

func (r *Question) search(q *Query, clicked, before bool) {
	if before {
		r.Before++
		return
	}
	r.Count++
	r.took += q.Attributes.TookMS
	r.SlowestMS = max(r.SlowestMS, q.Attributes.TookMS)
	switch {
	case q.Attributes.Error != "":
	case q.Refused():
		r.Refused++
	case len(q.HitIDs) == 0:
		r.ZeroResult++
	case clicked:
		r.Clicked++
	}
}

// sessionOf is whose search it is; empty where that is not known.
func sessionOf(q *Query) string { return cmp.Or(q.Attributes.SessionID, q.ClientID) }

// repeats reports whether a session asks again what it has asked a moment before.
func (a *analysis) repeats(e *dated) bool {
	last, ok := a.sessions[sessionOf(e.Query)]
	return ok && last.text == textKey(e.Query) && e.at.Sub(last.at) <= repeatedWithin
}

// follow looks whether a session asked something else before.
func (a *analysis) follow(e *dated, clicked, before bool) {
	session := sessionOf(e.Query)
	if session == "" {
		return
	}
	text := textKey(e.Query)
	last, ok := a.sessions[session]
	if ok && !before && !last.clicked && last.text != text && e.at.Sub(last.at) <= reformulatedWithin {
		if pair := [2]string{last.text, text}; len(a.reformulated) < maxQuestions || a.reformulated[pair] > 0 {
			a.reformulated[pair]++
		}
	}
	if !ok && len(a.sessions) >= maxSessions { // those that are over make room
		maps.DeleteFunc(a.sessions, func(_ string, l lastQuestion) bool { return e.at.Sub(l.at) > reformulatedWithin })
		if len(a.sessions) >= maxSessions {
			return
		}
	}
	a.sessions[session] = lastQuestion{text: text, at: e.at, clicked: clicked}
}

func (a *analysis) report() *Analytics {
	report := &Analytics{
		From: a.req.From, To: a.req.To, KnowledgeBase: a.req.KnowledgeBase,
		Totals: a.now.totals(), Before: a.then.totals(), Truncated: a.truncated, Reformulated: []Reformulation{},
	}
	all := make([]*Question, 0, len(a.questions))
	for _, q := range a.questions {
		if q.Count > 0 {
			q.MeanMS = q.took / float64(q.Count)
			q.ClickThrough = float64(q.Clicked) / float64(q.Count)
		}
		all = append(all, q)
	}
	best := func(of func(q *Question) float64) []Question { return bestQuestions(all, a.req.Limit, of) }
	report.Top = best(func(q *Question) float64 { return float64(q.Count) })
	report.Changed = best(func(q *Question) float64 { return float64(max(q.Count-q.Before, q.Before-q.Count)) })
	report.ZeroResult = best(func(q *Question) float64 { return float64(q.ZeroResult) })
	report.Refused = best(func(q *Question) float64 { return float64(q.Refused) })
	report.Slow = best(func(q *Question) float64 { return q.SlowestMS })
	for pair, n := range a.reformulated {
		from, to := a.questions[pair[0]], a.questions[pair[1]]
		report.Reformulated = append(report.Reformulated, Reformulation{
			From: from.Query, To: to.Query, FromHash: from.TextHash, ToHash: to.TextHash, Count: n,
		})
	}
	slices.SortFunc(report.Reformulated, func(a, b Reformulation) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.From+a.FromHash, b.From+b.FromHash),
			cmp.Compare(a.To+a.ToHash, b.To+b.ToHash))
	})
	report.Reformulated = report.Reformulated[:min(len(report.Reformulated), a.req.Limit)]
	return report
}

// bestQuestions are those with most of something, of those that have any.
func bestQuestions(all []*Question, limit int, of func(q *Question) float64) []Question {
	best := []Question{}
	slices.SortFunc(all, func(a, b *Question) int {
		return cmp.Or(cmp.Compare(of(b), of(a)), cmp.Compare(a.Query+a.TextHash, b.Query+b.TextHash))
	})
	for _, q := range all[:min(len(all), limit)] {
		if of(q) > 0 {
			best = append(best, *q)
		}
	}
	return best
}
