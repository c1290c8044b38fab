// Package clicks makes judgments of what users clicked on, by a model that takes out where hits stood. They are of a
// source of their own, so that nobody takes them for those of people.
package clicks

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/evaluation/library"
	"github.com/hybridge-search/hybridge/events"
	"github.com/hybridge-search/hybridge/fault"
)

const (
	modelName = "simplified dynamic Bayesian network (Chapelle and Zhang, 2009)"
	// judge is the name of the judge in these judgments.
	judge = "clicks"

	defaultPeriod    = 30 * 24 * time.Hour
	defaultExamined  = 10
	maxExamined      = 1_000_000
	defaultQuestions = 1000
	maxQuestions     = 10_000
	maxGrade         = 10
	maxBases         = 16 // of a query set
	// heldQuestions are counted at a time; those that come up later are left out.
	heldQuestions = 100_000
)

// defaultThresholds make grades of 0 to 3.
var defaultThresholds = []float64{.1, .3, .6}

// Request asks for judgments from the clicks of a period.
type Request struct {
	QuerySet       string    `json:"query_set" doc:"Id of the query set that gets the questions; it is made where there is none."`
	JudgmentList   string    `json:"judgment_list" doc:"Id of the judgment list, of source clicks; it is made where there is none."`
	KnowledgeBases []string  `json:"knowledge_bases" minItems:"1" maxItems:"16" doc:"Searches that asked these and no others are looked at."`
	From           time.Time `json:"from,omitzero" doc:"The default is 30 days before to."`
	To             time.Time `json:"to,omitzero" doc:"The default is now."`
	MinImpressions int       `json:"min_impressions,omitempty" minimum:"0" maximum:"1000000" doc:"Times that users must have read a hit, which is at or above their last click; 0, as if left out, is 10."`
	Thresholds     []float64 `json:"thresholds,omitempty" maxItems:"10" doc:"The relevance, in [0, 1], from which a hit has grade 1, 2 and so on, ascending; the default is 0.1, 0.3, 0.6."`
	MaxQueries     int       `json:"max_queries,omitempty" minimum:"0" maximum:"10000" doc:"Questions at most, those with most clicked searches first; 0, as if left out, is 1000."`
}

// Report says what was made of clicks.
type Report struct {
	QuerySet     string    `json:"query_set"`
	JudgmentList string    `json:"judgment_list"`
	Model        string    `json:"model"`
	From         time.Time `json:"from"`
	To           time.Time `json:"to"`
	Searches     int       `json:"searches" minimum:"0" doc:"Searches with clicks that were counted."`
	Queries      int       `json:"queries" minimum:"0" doc:"Questions that have a judgment now."`
	Judgments    int       `json:"judgments" minimum:"0" doc:"Judgments that were stored."`
	TooFew       int       `json:"too_few" minimum:"0" doc:"Hits that users read fewer times than min_impressions."`
	Gone         int       `json:"gone" minimum:"0" doc:"Hits that are no longer in the knowledge base."`
}

// Log is the source of searches and events; *events.Log is one.
type Log interface {
	Read(ctx context.Context, tenant string, from, to time.Time) iter.Seq2[events.Entry, error]
}

// Judges makes judgments of clicks. It is safe for concurrent use.
type Judges struct {
	log     Log
	library *library.Library
	now     func() time.Time
}

// New gives the judges of a log, whose judgments go into a library.
func New(log Log, kept *library.Library) *Judges {
	return &Judges{log: log, library: kept, now: time.Now}
}

// question counts the searches with one text, and those with a click.
type question struct {
	key, text string
	searches  int
}

// judged are questions and their judgments.
type judged struct {
	queries   []library.Query
	judgments []library.Judgment
}

// Judge stores the questions and what clicks say of their hits; nothing is made where they say nothing. Judgments of
// earlier calls are replaced where there are new ones.
func (j *Judges) Judge(ctx context.Context, scope access.Scope, req Request) (*Report, error) {
	if err := req.complete(j.now()); err != nil {
		return nil, err
	}
	for _, kb := range req.KnowledgeBases {
		if !scope.Allows(kb) {
			return nil, &fault.Error{
				Kind: fault.NotFound, Field: "knowledge_bases", Detail: fmt.Sprintf("knowledge base %q does not exist", kb),
			}
		}
	}
	report := &Report{
		QuerySet: req.QuerySet, JudgmentList: req.JudgmentList, Model: modelName, From: req.From, To: req.To,
	}
	var model Model
	asked, err := j.count(ctx, scope.Tenant, &req, &model)
	if err != nil {
		return nil, err
	}
	var made judged
	for _, q := range asked {
		report.Searches += q.searches
		of := req.judgmentsOf(q, &model, report)
		if len(of) > 0 && len(made.queries) < req.MaxQueries {
			made.queries = append(made.queries, library.Query{ID: idOf(q.key), Text: q.text})
			made.judgments = append(made.judgments, of...)
		}
	}
	if len(made.judgments) == 0 {
		return report, nil
	}
	return report, j.keep(ctx, scope, &req, made, report)
}

func (r *Request) complete(now time.Time) error {
	if err := events.CompletePeriod(&r.From, &r.To, defaultPeriod, now); err != nil {
		return err
	}
	r.MinImpressions = cmp.Or(r.MinImpressions, defaultExamined)
	r.MaxQueries = cmp.Or(r.MaxQueries, defaultQuestions)
	if len(r.Thresholds) == 0 {
		r.Thresholds = defaultThresholds
	}
	if err := library.CheckID("query_set", r.QuerySet); err != nil {
		return err
	}
	if err := library.CheckID("judgment_list", r.JudgmentList); err != nil {
		return err
	}
	if n := len(r.KnowledgeBases); n < 1 || n > maxBases {
		return fault.Invalid("knowledge_bases", fault.Length(n), fmt.Sprintf("1 to %d knowledge bases", maxBases))
	}
	if r.MinImpressions < 1 || r.MinImpressions > maxExamined {
		return fault.Invalid("min_impressions", r.MinImpressions, fmt.Sprintf("1 to %d", maxExamined))
	}
	if r.MaxQueries < 1 || r.MaxQueries > maxQuestions {
		return fault.Invalid("max_queries", r.MaxQueries, fmt.Sprintf("1 to %d", maxQuestions))
	}
	return r.checkThresholds()
}

func (r *Request) checkThresholds() error {
	if n := len(r.Thresholds); n > maxGrade {
		return fault.Invalid("thresholds", fault.Length(n), fmt.Sprintf("at most %d, one for each grade above 0", maxGrade))
	}
	last := 0.0
	for i, t := range r.Thresholds {
		if t <= last || t > 1 {
			return fault.Invalid(fmt.Sprintf("thresholds[%d]", i), t, fmt.Sprintf("more than %v and at most 1", last))
		}
		last = t
	}
	return nil
}

// count adds the searches of the period to the model and gives the questions, those with most clicked searches first.
func (j *Judges) count(ctx context.Context, tenant string, req *Request, model *Model) ([]*question, error) {
	asked := map[string]*question{}
	clicked, unknown := 0, 0
	for e, err := range j.log.Read(ctx, tenant, req.From, req.To) {
		if err != nil {
			return nil, err
		}
		if !req.concerns(&e) {
			continue
		}
		places := clicksOf(&e)
		if len(places) == 0 {
			continue
		}
		clicked++
		key := events.Normalized(e.Query.UserQuery)
		if key == "" {
			unknown++
			continue
		}
		q := asked[key]
		if q == nil {
			if len(asked) == heldQuestions {
				continue
			}
			q = &question{key: key, text: e.Query.UserQuery}
			asked[key] = q
		}
		q.searches++
		model.Add(key, e.Query.HitIDs, places)
	}
	if clicked > 0 && clicked == unknown {
		return nil, fault.New(fault.Unsupported,
			"the log has clicks and not the questions, which a query set needs: events.text must be keep")
	}
	all := slices.Collect(maps.Values(asked))
	slices.SortFunc(all, func(a, b *question) int {
		return cmp.Or(cmp.Compare(b.searches, a.searches), strings.Compare(a.key, b.key))
	})
	return all, nil
}

// concerns reports whether a search is one of those that the model is of: first pages of answers with hits.
func (r *Request) concerns(e *events.Entry) bool {
	if e.Query == nil || len(e.Query.HitIDs) == 0 || e.Query.Attributes.Offset > 0 {
		return false
	}
	bases := e.Query.Attributes.KnowledgeBases
	return len(bases) > 0 &&
		!slices.ContainsFunc(bases, func(kb string) bool { return !slices.Contains(r.KnowledgeBases, kb) })
}

// clicksOf are the places of the hits that were clicked: told by their id, else by their rank.
func clicksOf(e *events.Entry) (places []int) {
	for i := range e.Events {
		if e.Events[i].ActionName != events.ActionClick {
			continue
		}
		a := &e.Events[i].Attributes
		place := -1
		if a.Object != nil && a.Object.ObjectIDField == "" {
			place = slices.Index(e.Query.HitIDs, a.Object.ObjectID)
		}
		if place < 0 && a.Position != nil {
			place = a.Position.Ordinal - 1
		}
		if place >= 0 && place < len(e.Query.HitIDs) {
			places = append(places, place)
		}
	}
	return places
}

// judgmentsOf returns the judgments of a question's hits, best first.
func (r *Request) judgmentsOf(q *question, model *Model, report *Report) (judgments []library.Judgment) {
	of := model.Of(q.key)
	hits := slices.SortedFunc(maps.Keys(of), func(a, b string) int {
		return cmp.Or(cmp.Compare(of[b].Relevance(), of[a].Relevance()), strings.Compare(a, b))
	})
	for _, hit := range hits {
		counts := of[hit]
		if counts.Examined < r.MinImpressions {
			report.TooFew++
			continue
		}
		kb, chunk, _ := strings.Cut(hit, "/")
		judgments = append(judgments, library.Judgment{
			QueryID: idOf(q.key), KnowledgeBase: kb, ChunkID: chunk, Grade: r.grade(counts.Relevance()), Judge: judge,
			Note: fmt.Sprintf("relevance %.3f: clicked %d of the %d times it was read, the last click %d times",
				counts.Relevance(), counts.Clicked, counts.Examined, counts.Last),
		})
	}
	return judgments
}

// grade is the number of thresholds that are reached.
func (r *Request) grade(relevance float64) (grade int) {
	for _, t := range r.Thresholds {
		if relevance >= t {
			grade++
		}
	}
	return grade
}

// idOf is the id of a question in a query set: the same each time.
func idOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "clicks-" + hex.EncodeToString(sum[:8])
}

// keep stores the questions and their judgments.
func (j *Judges) keep(ctx context.Context, scope access.Scope, req *Request, made judged, report *Report) error {
	_, err := j.library.QuerySet(ctx, scope, req.QuerySet)
	if fault.Is(err, fault.NotFound) {
		_, err = j.library.SaveQuerySet(ctx, scope, req.QuerySet, library.QuerySetSpec{
			Note: "Questions of users, from the log of searches.", KnowledgeBases: req.KnowledgeBases,
		}, new(int64))
		if fault.Is(err, fault.Conflict) { // somebody else has made it meanwhile
			_, err = j.library.QuerySet(ctx, scope, req.QuerySet)
		}
	}
	if err != nil {
		return err
	}
	_, err = j.library.SaveJudgmentList(ctx, scope, req.JudgmentList, library.JudgmentListSpec{
		QuerySet: req.QuerySet, MaxGrade: len(req.Thresholds), Source: library.Clicks,
		Note: fmt.Sprintf("By the %s: %d searches with clicks from %s to %s, hits read at least %d times.", modelName,
			report.Searches, req.From.Format(time.DateOnly), req.To.Format(time.DateOnly), req.MinImpressions),
	}, nil)
	if err != nil {
		return err
	}
	for page := range slices.Chunk(made.queries, library.MaxPage) {
		outcome, err := j.library.PutQueries(ctx, scope, req.QuerySet, page, false)
		if err != nil {
			return err
		}
		report.Queries += outcome.Stored
	}
	for page := range slices.Chunk(made.judgments, library.MaxPage) {
		outcome, err := j.library.PutJudgments(ctx, scope, req.JudgmentList, page, false)
		if err != nil {
			return err
		}
		report.Judgments += outcome.Stored
		report.Gone += len(outcome.Failed)
	}
	return nil
}
