// Package live runs experiments on the searches of a gateway: it keeps their definitions in the records of an engine,
// gives each user or session its variant, or a list of both, and reports what the log of events says of them.
//
// Store keeps and reports, Searcher replaces the plain searcher. Whose searches take part is a function of
// the definition alone, so every gateway on the same data assigns alike.
package live

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/experiments"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// Definition defines an experiment. It never changes.
type Definition struct {
	experiments.Experiment

	KnowledgeBases []string `json:"knowledge_bases,omitempty" doc:"Searches whose knowledge bases are all among these take part; left out, all searches."`
}

// State of an experiment.
type State string

// The states.
const (
	Scheduled State = "scheduled" // before its start
	Running   State = "running"
	Ended     State = "ended"
	Stopped   State = "stopped" // before its end
)

// Experiment is a definition with its state.
type Experiment struct {
	Definition

	State     State     `json:"state" enum:"scheduled,running,ended,stopped"`
	Stopped   *Stop     `json:"stopped,omitempty" doc:"Where it was stopped before its end."`
	By        string    `json:"by,omitempty" doc:"Name of the key that made it."`
	CreatedAt time.Time `json:"created_at"`

	version  int64 // of its records
	proposed bool  // it is being made
}

// Stop is the end of an experiment before its time.
type Stop struct {
	At     time.Time `json:"at"`
	Reason string    `json:"reason,omitempty" locale:"text" doc:"What whoever stopped it said, or the guard rail that was crossed."`
	By     string    `json:"by,omitempty" doc:"Name of the key; left out where a guard rail stopped it."`
}

// state is that at a time.
func (e *Experiment) state(now time.Time) State {
	switch {
	case e.Stopped != nil:
		return Stopped
	case now.Before(e.Start):
		return Scheduled
	case now.Before(e.End):
		return Running
	default:
		return Ended
	}
}

// over is when units are no longer assigned.
func (e *Experiment) over() time.Time {
	if e.Stopped != nil && e.Stopped.At.Before(e.End) {
		return e.Stopped.At
	}
	return e.End
}

// covers reports whether searches of these knowledge bases take part.
func (d *Definition) covers(bases []string) bool {
	if len(d.KnowledgeBases) == 0 {
		return true
	}
	for _, kb := range bases {
		if !slices.Contains(d.KnowledgeBases, kb) {
			return false
		}
	}
	return true
}

// unitOf is the key that a search is assigned by; empty: it takes no part.
func (d *Definition) unitOf(client, session string) string {
	if d.Unit == experiments.BySession {
		return session
	}
	return client
}

// visible reports whether a caller sees the experiment: one of all knowledge bases is for those who see all.
func (d *Definition) visible(scope access.Scope) bool {
	if len(d.KnowledgeBases) == 0 {
		return scope.KnowledgeBases == nil
	}
	return !slices.ContainsFunc(d.KnowledgeBases, func(kb string) bool { return !scope.Allows(kb) })
}

// check refuses invalid definitions.
func (s *Store) check(ctx context.Context, scope access.Scope, d *Definition, now time.Time) error {
	if err := d.Check(); err != nil {
		return err
	}
	if !d.End.After(now) {
		return fault.Invalid("end", d.End.Format(time.RFC3339), "a time to come")
	}
	if n := len(d.KnowledgeBases); n > search.MaxKnowledgeBases {
		return fault.Invalid("knowledge_bases", fault.Length(n), "a list of at most 64 ids")
	}
	if len(d.KnowledgeBases) == 0 && scope.KnowledgeBases != nil {
		return fault.Invalid("knowledge_bases", fault.Length(0), "some of those that the key is limited to")
	}
	there, err := s.bases(ctx, scope)
	if err != nil {
		return err
	}
	for i, kb := range d.KnowledgeBases {
		if slices.Contains(d.KnowledgeBases[:i], kb) {
			return fault.Invalid("knowledge_bases", kb, "named once")
		}
		if !slices.Contains(there, kb) {
			return fault.New(fault.NotFound, "knowledge base %q does not exist", kb)
		}
	}
	if len(d.KnowledgeBases) > 0 {
		there = d.KnowledgeBases
	}
	return s.checkVariants(ctx, scope, d, there)
}

// bases are the ids of the knowledge bases that a caller sees.
func (s *Store) bases(ctx context.Context, scope access.Scope) ([]string, error) {
	all, err := s.options.Catalog.List(ctx, scope)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(all))
	for i := range all {
		ids[i] = all[i].ID
	}
	return ids, nil
}

// maxPlanned is how many of all knowledge bases variants are planned for, to see whether they can run.
const maxPlanned = 64

// checkVariants plans a search by each variant on each knowledge base, so that one that cannot run is refused at once.
func (s *Store) checkVariants(ctx context.Context, scope access.Scope, d *Definition, bases []string) error {
	bases = bases[:min(len(bases), maxPlanned)]
	for i := range d.Variants {
		at := fmt.Sprintf("variants[%d].", i)
		c, err := parseChanges(d.Variants[i].Request)
		if err != nil {
			return err.Within(at)
		}
		if len(bases) == 0 { // what a search is, if not of what
			req := c.over(search.Request{Query: "q", KnowledgeBases: []string{"any"}})
			if err := req.Validate(); err != nil {
				return fault.Within(at+"request.", err)
			}
		}
		for _, kb := range bases {
			req := c.over(search.Request{Query: "q", KnowledgeBases: []string{kb}})
			if _, err := s.options.Planner.Subjects(ctx, scope, &req); err != nil {
				return fault.Within(at+"request.", err)
			}
		}
	}
	return nil
}
