package search

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"sort"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// Planner turns a request and the fields of a knowledge base into a plan; it
// is pure.
type Planner func(req *Request, fields []engine.Field) (Plan, error)

// Catalog finds a knowledge base and the engine that holds it; fault.NotFound
// when the scope does not know it.
type Catalog interface {
	Get(ctx context.Context, scope access.Scope, id string) (engine.KnowledgeBase, engine.Engine, error)
}

// Analyzer turns text into tokens, and a question into its terms.
type Analyzer interface {
	Parse(query string) analysis.Query
	ParsePlain(query string) analysis.Query
	Tokens(text string) []analysis.Token
	Select(text string, w *analysis.Wanted) []analysis.Token
	Terms(text string) []string
}

// Embedder turns a question into a vector, [dim]float32.
type Embedder interface {
	Query(ctx context.Context, text string) ([]float32, error)
	Model() string
}

// Synonyms gives the expander of a knowledge base, nil where it has no synonyms.
type Synonyms interface {
	For(kb engine.Ref) analysis.Expander
}

// Reranker scores texts against a question, one score in [0, 1] per text.
type Reranker interface {
	Rerank(ctx context.Context, query string, texts []string) ([]float64, error)
}

// Options are what a Searcher works with. Embedder, Synonyms and Rerankers may
// be nil.
type Options struct {
	Catalog       Catalog
	Analyzer      Analyzer
	Embedder      Embedder
	Synonyms      Synonyms
	Rerankers     map[string]Reranker
	Planners      map[string]Planner
	DefaultPreset string
}

// Searcher answers questions. It holds no state between them and is safe for
// concurrent use.
type Searcher struct{ Options }

// New makes a Searcher.
func New(o Options) *Searcher { return &Searcher{Options: o} }

// parallelTargets bounds how many knowledge bases one request searches at a
// time.
const parallelTargets = 8

// Search answers a request within a scope. A leg that fails costs its leg and
// is listed in Degraded; the search fails when no leg is left.
func (s *Searcher) Search(ctx context.Context, scope access.Scope, req Request) (*Response, error) {
	started := time.Now()
	r, err := s.prepare(ctx, scope, &req)
	if err != nil {
		return nil, err
	}
	return s.finish(ctx, r, started)
}

// finish runs what was prepared.
func (s *Searcher) finish(ctx context.Context, r *run, started time.Time) (*Response, error) {
	response, set, err := s.found(ctx, r, started)
	set.release()
	return response, err
}

// found runs what was prepared. The answer is good as long as the set is not released.
func (s *Searcher) found(ctx context.Context, r *run, started time.Time) (*Response, *answerSet, error) {
	for i := range r.targets {
		r.targets[i].shows, r.targets[i].passing = true, r.passing
	}
	if len(r.targets) == 1 && !r.rearranges() {
		r.targets[0].shown = r.pageEnd()
	}
	set, err := s.answerSet(ctx, r)
	if err != nil {
		return nil, set, err
	}
	if err := s.rerank(ctx, r, set); err != nil {
		return nil, set, err
	}
	response, err := s.respond(ctx, r, set)
	if err != nil {
		return nil, set, err
	}
	response.TookMS = milliseconds(time.Since(started))
	return response, set, nil
}

// run is one search under way: the request, what it asks of each knowledge
// base, and what the question came to.
type run struct {
	req      *Request
	targets  []target
	away     []Degraded // knowledge bases that nobody could be asked for
	question question
	timings  Timings
	passing  bool // nothing of the answer is looked at once its set is released
}

// target is one knowledge base with the plan for it.
type target struct {
	kb      engine.KnowledgeBase
	engine  engine.Engine
	plan    Plan
	shows   bool // a page of what is found is shown
	shown   int  // so many of its best hits; 0: that depends on more than their ranking
	passing bool // see run
}

// rearranges reports whether the page is of other hits than the best ranked.
func (r *run) rearranges() bool {
	return r.req.Rerank != nil || r.plan().GroupBy != "" || len(r.plan().Distinct) > 0
}

// pageEnd is how many of the best are shown or in front of what is.
func (r *run) pageEnd() int {
	_, end := r.pageOf(r.plan().TopK)
	return end
}

// pageOf is the part of an answer of n chunks that is shown: from offset on, at most
// limit.
func (r *run) pageOf(n int) (from, to int) {
	to = n
	if r.req.Offset != nil {
		from = min(*r.req.Offset, n)
	}
	if r.req.Limit != nil {
		to = min(from+*r.req.Limit, n)
	}
	return from, to
}

// plan of the whole answer: the first target's, all have the same preset.
func (r *run) plan() *Plan { return &r.targets[0].plan }

// prepare validates, plans, analyses and embeds; it runs no leg.
func (s *Searcher) prepare(ctx context.Context, scope access.Scope, req *Request) (*run, error) {
	r, err := s.planned(ctx, scope, req)
	if err != nil {
		return nil, err
	}
	return r, s.ask(ctx, r)
}

// planned validates and plans.
func (s *Searcher) planned(ctx context.Context, scope access.Scope, req *Request) (*run, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	if name := req.Rerank; name != nil && s.Rerankers[*name] == nil {
		return nil, fault.Invalid("rerank", *name, "null, or one of the configured rerankers: "+names(s.Rerankers))
	}
	r := &run{req: req, targets: make([]target, 0, len(req.KnowledgeBases)), timings: Timings{Legs: map[string]float64{}}}
	return r, s.aim(ctx, scope, r)
}

// aim resolves and plans each knowledge base of the request. Of several, one
// whose engine cannot be asked where it is costs its own hits only.
func (s *Searcher) aim(ctx context.Context, scope access.Scope, r *run) error {
	preset := r.req.Preset
	if preset == "" {
		preset = s.DefaultPreset
	}
	planner := s.Planners[preset]
	if planner == nil {
		return fault.Invalid("preset", preset, "one of "+names(s.Planners))
	}
	var away error
	for _, id := range r.req.KnowledgeBases {
		kb, holder, err := s.Catalog.Get(ctx, scope, id)
		if isAway(err) {
			away = err
			r.away = append(r.away, Degraded{Leg: stepCatalog, KnowledgeBase: id, Reason: reason(err)})
			continue
		}
		if err != nil {
			return err
		}
		t, err := plannedFor(r.req, kb, holder, planner)
		if err != nil {
			return err
		}
		r.targets = append(r.targets, t)
	}
	if len(r.targets) == 0 {
		return away
	}
	return nil
}

// isAway reports whether an error says that somebody cannot be asked for now.
func isAway(err error) bool {
	if err == nil {
		return false
	}
	kind := fault.KindOf(err)
	return kind == fault.Unavailable || kind == fault.Timeout || kind == fault.Overloaded
}

// several is the engines of a knowledge base that lives on more than one.
type several interface {
	Member(name string) (engine.Engine, bool)
}

// reader is the engine that answers: the one asked for, of several else the first.
func reader(asked string, kb *engine.KnowledgeBase, holder engine.Engine) (engine.Engine, error) {
	accepted := holder.Name()
	if all, ok := holder.(several); ok {
		name := asked
		if name == "" {
			name = kb.Engines[0]
		}
		if member, ok := all.Member(name); ok {
			kb.Engine = name
			return member, nil
		}
		accepted = "one of " + strings.Join(kb.Engines, ", ")
	}
	if asked != "" && asked != holder.Name() {
		return nil, fault.Invalid("engine", asked, accepted+", which holds knowledge base "+kb.ID)
	}
	return holder, nil
}

// plannedFor plans a request for one knowledge base.
func plannedFor(req *Request, kb engine.KnowledgeBase, holder engine.Engine, planner Planner) (target, error) {
	holder, err := reader(req.Engine, &kb, holder)
	if err != nil {
		return target{}, err
	}
	if n := len(req.Vector); n > 0 && kb.Dimensions > 0 && n != kb.Dimensions {
		return target{}, &fault.Error{
			Kind: fault.InvalidArgument, Field: "vector",
			Detail: dimensionDetail(n, kb),
		}
	}
	plan, err := planner(req, kb.Fields())
	return target{kb: kb, engine: holder, plan: plan}, err
}

// answers searches all targets, each on its own and at the same time.
func (s *Searcher) answers(ctx context.Context, r *run) []answer {
	found := make([]answer, len(r.targets))
	for i := range found {
		found[i].target = &r.targets[i]
	}
	if len(found) == 1 {
		s.answer(ctx, &found[0], &r.question)
		return found
	}
	var group errgroup.Group
	group.SetLimit(parallelTargets)
	for i := range r.targets {
		group.Go(func() error {
			s.answer(ctx, &found[i], &r.question)
			return nil
		})
	}
	_ = group.Wait() // each answer carries its own error
	return found
}

// answerSet runs the legs, fuses, cuts and groups.
func (s *Searcher) answerSet(ctx context.Context, r *run) (*answerSet, error) {
	found := s.answers(ctx, r)
	if err := failure(ctx, found); err != nil {
		return nil, err
	}
	for i := range found {
		r.timings.add(&found[i])
	}
	started := time.Now()
	set := collect(r, found)
	if err := s.distinct(ctx, r, set); err != nil {
		return nil, err
	}
	set.close(r.plan().Candidates)
	set.degraded = append(set.degraded, r.away...)
	r.timings.Fuse += milliseconds(time.Since(started))
	return set, nil
}

// add takes over the times of an answer; of a leg on several knowledge bases, the longest.
func (t *Timings) add(a *answer) {
	for i := range a.legs {
		if l := &a.legs[i]; l.ran {
			t.Legs[l.Name] = max(t.Legs[l.Name], l.took)
		}
	}
	t.Fuse += a.fuse
}

// failure is the error of a search in which no leg of any knowledge base could
// be run.
func failure(ctx context.Context, found []answer) error {
	var reasons []string
	kind := fault.Kind("")
	for i := range found {
		if found[i].err == nil {
			return nil
		}
		if kind == "" {
			kind = fault.KindOf(found[i].err)
		}
		for _, d := range found[i].degraded {
			reasons = append(reasons, d.KnowledgeBase+"/"+d.Leg+": "+d.Reason)
		}
	}
	if ctx.Err() != nil {
		return ContextFault(ctx)
	}
	return fault.New(kind, "no leg of the search could be run: %s", strings.Join(reasons, "; "))
}

// ContextFault is the error of a search whose context has ended.
func ContextFault(ctx context.Context) error {
	if ctx.Err() == context.DeadlineExceeded {
		return fault.Wrap(fault.Timeout, ctx.Err(), "the search took longer than its time limit")
	}
	return fault.Wrap(fault.Canceled, ctx.Err(), "the search was given up by its caller")
}

func names[V any](m map[string]V) string {
	if len(m) == 0 {
		return "(none)"
	}
	list := make([]string, 0, len(m))
	for name := range m {
		list = append(list, name)
	}
	sort.Strings(list)
	return strings.Join(list, ", ")
}

// newQueryID is a random UUID. It names and opens nothing, so the quick generator will do.
func newQueryID() string {
	var id uuid.UUID
	binary.NativeEndian.PutUint64(id[:8], rand.Uint64())
	binary.NativeEndian.PutUint64(id[8:], rand.Uint64())
	id[6] = id[6]&0x0f | 0x40 // version 4
	id[8] = id[8]&0x3f | 0x80 // of RFC 9562
	return id.String()
}

func milliseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
