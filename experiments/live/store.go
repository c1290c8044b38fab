package live

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/events"
	"github.com/hybridge-search/hybridge/experiments"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// Planner plans searches; *search.Searcher is one.
type Planner interface {
	Subjects(ctx context.Context, scope access.Scope, req *search.Request) ([]search.Subject, error)
}

// Catalog knows which knowledge bases there are; *catalog.Catalog is one.
type Catalog interface {
	List(ctx context.Context, scope access.Scope) ([]engine.KnowledgeBase, error)
}

// Log is the log of searches and of what users did with the answers.
type Log interface {
	// Read gives the queries of a tenant in [from, to), in the order of their ids, each with its events.
	Read(ctx context.Context, tenant string, from, to time.Time) iter.Seq2[events.Entry, error]
}

// Options of a Store. Log and Logger may be nil.
type Options struct {
	Keeper  engine.RecordKeeper
	Planner Planner
	Catalog Catalog
	Log     Log      // nil: nothing is logged, and so nothing reported
	Tenants []string // whose experiments are cached before they search
	Logger  *slog.Logger
	Now     func() time.Time // nil: time.Now
}

// Store keeps experiments. It is safe for concurrent use; Run it.
type Store struct {
	options Options
	tenants sync.Map      // name to *tenant: tenants that searched lately
	wake    chan struct{} // there is a new one
}

// New makes the store of the experiments that a keeper of records has.
func New(o Options) *Store {
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Store{options: o, wake: make(chan struct{}, 1)}
}

const (
	kind      = "experiments"
	maxReason = 1000 // bytes
	maxLive   = 100  // experiments of a tenant that are not over: each search looks at all of them
)

// page is the stored form of an experiment.
type page struct {
	Definition Definition `json:"definition"`
	By         string     `json:"by,omitempty"`
	Stopped    *Stop      `json:"stopped,omitempty"`
	// Proposed is one that is being made: it is in the way of others, and not there otherwise.
	Proposed bool `json:"proposed,omitempty"`
}

func refOf(tenant, id string) engine.RecordRef {
	return engine.RecordRef{Tenant: tenant, Kind: kind, ID: id}
}

// clash is the conflict of an experiment with others: their changes could not be told apart.
func (s *Store) clash(e *Experiment, others []*Experiment) error {
	mine := e.sets()
	isLive := func(o *Experiment) bool { return o.State == Scheduled || o.State == Running }
	if n := len(slices.DeleteFunc(slices.Clone(others), func(o *Experiment) bool { return !isLive(o) })); n >= maxLive {
		return fault.New(fault.Conflict, "%d experiments run or are to come, the most at a time: stop one", n)
	}
	for _, o := range others {
		isBeside := e.Start.Before(o.over()) && o.Start.Before(e.over()) && o.over().After(s.options.Now())
		if !isBeside || !e.meets(o) {
			continue
		}
		if e.Mode == experiments.Interleave && o.Mode == experiments.Interleave {
			return fault.New(fault.Conflict, "experiment %q interleaves the same searches at the same time: "+
				"stop it, or begin after its end", o.ID)
		}
		for _, name := range o.sets() {
			if slices.Contains(mine, name) {
				return fault.New(fault.Conflict, "experiment %q sets %s of the same searches at the same time: "+
					"stop it, or begin after its end", o.ID, name)
			}
		}
	}
	return nil
}

// sets are the members of a search that the variants change.
func (e *Experiment) sets() (names []string) {
	for i := range e.Variants {
		if c, err := parseChanges(e.Variants[i].Request); err == nil {
			names = append(names, c.names...)
		}
	}
	return names
}

// meets reports whether a search can be part of both.
func (e *Experiment) meets(o *Experiment) bool {
	if len(e.KnowledgeBases) == 0 || len(o.KnowledgeBases) == 0 {
		return true
	}
	return slices.ContainsFunc(e.KnowledgeBases, func(kb string) bool { return slices.Contains(o.KnowledgeBases, kb) })
}

// save stores it after its version: 0 makes it.
func (s *Store) save(ctx context.Context, tenant string, e *Experiment) error {
	text, err := json.Marshal(&page{Definition: e.Definition, By: e.By, Stopped: e.Stopped, Proposed: e.proposed})
	if err != nil {
		return fault.Wrap(fault.Internal, err, "write experiment %q", e.ID)
	}
	saved, err := s.options.Keeper.SaveRecords(ctx, engine.Records{
		RecordRef: refOf(tenant, e.ID), Version: e.version, Head: text,
	})
	if err == nil {
		e.version, e.CreatedAt = saved.Version, saved.CreatedAt
	}
	return err
}

func open(records *engine.Records, now time.Time) (*Experiment, error) {
	var stored page
	if err := json.Unmarshal(records.Head, &stored); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "read experiment %q", records.ID)
	}
	e := &Experiment{
		Definition: stored.Definition, Stopped: stored.Stopped, By: stored.By,
		CreatedAt: records.CreatedAt, version: records.Version, proposed: stored.Proposed,
	}
	e.State = e.state(now)
	return e, nil
}

// all gives the experiments of a tenant, in the order of their ids, and separately the proposed ones.
func (s *Store) all(ctx context.Context, tenant string) (all, proposed []*Experiment, err error) {
	records, err := s.options.Keeper.ListRecords(ctx, tenant, kind)
	if err != nil {
		return nil, nil, err
	}
	for i := range records {
		e, err := open(&records[i], s.options.Now())
		switch {
		case err != nil:
			return nil, nil, err
		case e.proposed:
			proposed = append(proposed, e)
		default:
			all = append(all, e)
		}
	}
	return all, proposed, nil
}

// List gives the experiments that the caller sees, the latest first.
func (s *Store) List(ctx context.Context, scope access.Scope) ([]Experiment, error) {
	all, _, err := s.all(ctx, scope.Tenant)
	if err != nil {
		return nil, err
	}
	seen := []Experiment{}
	for _, e := range all {
		if e.visible(scope) {
			seen = append(seen, *e)
		}
	}
	slices.SortStableFunc(seen, func(a, b Experiment) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return seen, nil
}

// Get gives an experiment; fault.NotFound where the caller sees none of the id.
func (s *Store) Get(ctx context.Context, scope access.Scope, id string) (*Experiment, error) {
	absent := fault.New(fault.NotFound, "experiment %q does not exist", id)
	ref := refOf(scope.Tenant, id)
	if ref.Check() != nil { // none was ever called so
		return nil, absent
	}
	records, err := s.options.Keeper.Records(ctx, ref)
	if fault.Is(err, fault.NotFound) {
		return nil, absent
	}
	if err != nil {
		return nil, err
	}
	e, err := open(&records, s.options.Now())
	if err == nil && (e.proposed || !e.visible(scope)) {
		return nil, absent
	}
	return e, err
}

// Stop ends an experiment before its time, on other gateways some seconds later. One that is over stays as it is.
func (s *Store) Stop(ctx context.Context, scope access.Scope, id, reason string) (*Experiment, error) {
	if len(reason) > maxReason || !utf8.ValidString(reason) {
		return nil, fault.Invalid("reason", reason, "at most 1000 bytes of UTF-8")
	}
	for {
		e, err := s.Get(ctx, scope, id)
		if err != nil {
			return nil, err
		}
		err = s.stop(ctx, scope.Tenant, e, Stop{Reason: reason, By: scope.Key})
		if !fault.Is(err, fault.Conflict) { // else somebody has stopped it at the same time
			return e, err
		}
	}
}

func (s *Store) stop(ctx context.Context, tenant string, e *Experiment, why Stop) error {
	now := s.options.Now()
	if state := e.state(now); state == Stopped || state == Ended {
		return nil
	}
	why.At = now.UTC()
	e.Stopped, e.State = &why, Stopped
	if err := s.save(ctx, tenant, e); err != nil {
		return err
	}
	return s.renew(ctx, s.tenantOf(tenant))
}

// Delete forgets an experiment; fault.Conflict while it runs. The log keeps which searches were part of it.
func (s *Store) Delete(ctx context.Context, scope access.Scope, id string) error {
	e, err := s.Get(ctx, scope, id)
	if err != nil {
		return err
	}
	if e.State == Running {
		return fault.New(fault.Conflict, "experiment %q is running: stop it first", id)
	}
	if err := s.options.Keeper.DeleteRecords(ctx, refOf(scope.Tenant, id)); err != nil {
		return err
	}
	return s.renew(ctx, s.tenantOf(scope.Tenant))
}
