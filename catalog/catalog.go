// Package catalog knows which knowledge bases exist and on which engine each
// one lives. It is the one place that turns a caller's scope and an id into a
// knowledge base: what a scope does not allow does not exist for it.
package catalog

import (
	"context"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// defaultRefresh is how long a listing counts as fresh: other gateways may create
// and delete knowledge bases on the same servers.
const defaultRefresh = 5 * time.Second

// forcedInterval bounds how often unknown ids make the engines list.
const forcedInterval = time.Second

// Options of a Catalog. The zero value works.
type Options struct {
	// DefaultEngine names the engine of a Spec that names none; empty: the first.
	DefaultEngine string
	// Dimensions returns the dimension and the name of a configured embedding model, of the
	// usual one for an empty name; none of a name that is not configured. nil: there is none. It
	// may ask the model, so only Create calls it.
	Dimensions func(ctx context.Context, name string) (dim int, model string, err error)
	// OwnIndexes is the prefix of the indexes that the gateway makes. None of them
	// can be attached: a tenant could read another's. Empty: no such rule.
	OwnIndexes string
	// Mirror makes one engine of those with these names, the reference first; nil
	// when knowledge bases have one engine each.
	Mirror func(names []string) (engine.Engine, error)
	// Refresh is the age at which a listing is read again; 0: 5 seconds.
	Refresh time.Duration
}

// Catalog finds, creates and deletes knowledge bases over all engines. It is
// safe for concurrent use.
type Catalog struct {
	listings []*listing // in the order of the engines
	options  Options
	creating sync.Mutex // held from the check that an id is free until it is taken

	mu     sync.Mutex
	forced time.Time // when an unknown id last made the engines list
}

// New makes a catalog of the knowledge bases on these engines.
func New(engines []engine.Engine, options Options) *Catalog {
	if options.Refresh <= 0 {
		options.Refresh = defaultRefresh
	}
	c := &Catalog{options: options}
	for _, e := range engines {
		c.listings = append(c.listings, newListing(e, options.Refresh))
	}
	return c
}

// Get finds a knowledge base and the engine it lives on. One that does not
// exist, and one that the scope does not allow, are the same fault.NotFound.
func (c *Catalog) Get(ctx context.Context, scope access.Scope, id string) (
	engine.KnowledgeBase, engine.Engine, error,
) {
	if !scope.Allows(id) {
		return engine.KnowledgeBase{}, nil, notFound(id)
	}
	kb, l, err := c.find(ctx, engine.Ref{Tenant: scope.Tenant, ID: id})
	if err != nil {
		return engine.KnowledgeBase{}, nil, err
	}
	if len(kb.Engines) > 1 && kb.Engines[0] != l.engine.Name() {
		kb = c.ofReference(ctx, kb)
	}
	e, err := c.engineOf(&kb, l)
	return kb, e, err
}

// ofReference is a knowledge base on several engines as the first of them has it, or as it was found while
// that engine is unavailable: they may differ while it changes shape.
func (c *Catalog) ofReference(ctx context.Context, found engine.KnowledgeBase) engine.KnowledgeBase {
	for _, l := range c.listings {
		if l.engine.Name() != found.Engines[0] {
			continue
		}
		result := make(chan lookUpResult, 1)
		go func() { result <- l.lookUp(ctx, found.Ref) }() // ends with its flight, which has a timeout
		select {
		case r := <-result:
			if r.listing != nil {
				return r.kb
			}
		case <-time.After(patience):
		}
	}
	return found
}

// engineOf returns the engine of a knowledge base, or all of them as one.
func (c *Catalog) engineOf(kb *engine.KnowledgeBase, l *listing) (engine.Engine, error) {
	if len(kb.Engines) < 2 {
		return l.engine, nil
	}
	if c.options.Mirror == nil {
		return nil, fault.New(fault.Unsupported,
			"knowledge base %q lives on several engines (%s), which this gateway does not offer", kb.ID,
			strings.Join(kb.Engines, ", "))
	}
	kb.Engine, kb.Generation = kb.Engines[0], 0 // whichever engine was asked; each counts its own
	return c.options.Mirror(kb.Engines)
}

// List gives the knowledge bases that the scope allows, by id. It fails when an engine is
// unavailable that was never listed.
func (c *Catalog) List(ctx context.Context, scope access.Scope) ([]engine.KnowledgeBase, error) {
	listed := []engine.KnowledgeBase{}
	seen := map[engine.Ref]int{} // one on several engines is in the listing of each
	for _, l := range c.listings {
		s, err := l.current(ctx)
		if err != nil {
			return nil, err
		}
		s.each(func(kb engine.KnowledgeBase) {
			if kb.Tenant != scope.Tenant || !scope.Allows(kb.ID) {
				return
			}
			if len(kb.Engines) > 0 {
				kb.Engine, kb.Generation = kb.Engines[0], 0
			}
			if at, is := seen[kb.Ref]; is {
				if kb.Engine == l.engine.Name() {
					listed[at] = kb
				}
				return
			}
			seen[kb.Ref] = len(listed)
			listed = append(listed, kb)
		})
	}
	sort.Slice(listed, func(i, j int) bool { return listed[i].ID < listed[j].ID })
	return listed, nil
}

// Create makes a knowledge base. The id must be free on every engine
// (fault.Conflict), because a search names knowledge bases by id alone.
func (c *Catalog) Create(ctx context.Context, scope access.Scope, spec Spec) (engine.KnowledgeBase, error) {
	kb, l, err := c.resolve(ctx, scope, spec)
	if err != nil {
		return engine.KnowledgeBase{}, err
	}
	c.creating.Lock()
	defer c.creating.Unlock()
	if err := c.checkFree(ctx, kb.Ref); err != nil {
		return engine.KnowledgeBase{}, err
	}
	e, err := c.engineOf(&kb, l)
	if err != nil {
		return engine.KnowledgeBase{}, err
	}
	if err := e.CreateKnowledgeBase(ctx, kb); err != nil {
		c.expire(&kb, l)
		return engine.KnowledgeBase{}, err
	}
	if err := c.checkAlone(ctx, &kb, e); err != nil {
		c.expire(&kb, l)
		return engine.KnowledgeBase{}, err
	}
	// The engine may have filled in more, such as the dimension of an attached index.
	stored, ok, err := l.get(ctx, kb.Ref)
	if err != nil || !ok {
		c.expire(&kb, l)
		return kb, nil //nolint:nilerr // it was made
	}
	c.note(&kb, l, &stored)
	return stored, nil
}

// Delete removes a knowledge base and all it holds; of an attached one it
// removes the attachment only.
func (c *Catalog) Delete(ctx context.Context, scope access.Scope, id string) error {
	if !scope.Allows(id) {
		return notFound(id)
	}
	ref := engine.Ref{Tenant: scope.Tenant, ID: id}
	kb, l, err := c.find(ctx, ref)
	if err != nil {
		return err
	}
	e, err := c.engineOf(&kb, l)
	if err != nil {
		return err
	}
	err = e.DeleteKnowledgeBase(ctx, ref)
	if err == nil {
		c.note(&kb, l, nil)
		return nil
	}
	c.expire(&kb, l)
	if fault.Is(err, fault.NotFound) {
		return notFound(id)
	}
	return err
}

// note enters what was made or, with now nil, deleted. Each engine of one on several knows it in
// its own way, so they are asked.
func (c *Catalog) note(kb *engine.KnowledgeBase, l *listing, now *engine.KnowledgeBase) {
	if len(kb.Engines) > 1 {
		c.expire(kb, l)
		return
	}
	l.note(kb.Ref, now)
}

// Expire makes the next reader ask all engines, because a knowledge base was changed.
func (c *Catalog) Expire() {
	for _, l := range c.listings {
		l.expire()
	}
}

// Renew reads the listings of known knowledge bases anew, because the storage of one is
// missing, and reports whether one of them was deleted or is in another shape by now.
func (c *Catalog) Renew(ctx context.Context, scope access.Scope, ids []string) (moved bool, err error) {
	for _, l := range c.listings {
		before, _ := l.known()
		known := slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
			_, ok := before.find(engine.Ref{Tenant: scope.Tenant, ID: id})
			return !ok || !scope.Allows(id)
		})
		if len(known) == 0 {
			continue
		}
		now, err := l.read(ctx)
		if err != nil {
			return moved, err
		}
		for _, id := range known {
			ref := engine.Ref{Tenant: scope.Tenant, ID: id}
			was, _ := before.find(ref)
			is, _ := now.find(ref)
			moved = moved || was.Generation != is.Generation
		}
	}
	return moved, nil
}

// expire makes the next reader ask the engines of a knowledge base.
func (c *Catalog) expire(kb *engine.KnowledgeBase, l *listing) {
	l.expire()
	for _, other := range c.listings {
		if slices.Contains(kb.Engines, other.engine.Name()) {
			other.expire()
		}
	}
}

// Check compares what engines store with their checksums, and the engines of a knowledge base
// with each other and, with repair, makes the
// others like the first. fault.Unsupported when it has only one.
func (c *Catalog) Check(ctx context.Context, scope access.Scope, id string, repair bool) (*engine.DriftReport, error) {
	kb, e, err := c.Get(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	checker, ok := e.(engine.Checker)
	if v, verifies := e.(engine.Verifier); !ok && verifies {
		found, err := v.Verify(ctx, kb, repair)
		if err != nil {
			return nil, err
		}
		return &engine.DriftReport{
			Reference: e.Name(), Chunks: found.Chunks, Engines: []engine.Drift{}, Repaired: repair && found.Sound(),
			Integrity: []engine.Integrity{*found},
		}, nil
	}
	if !ok {
		return nil, fault.New(fault.Unsupported, "knowledge base %q lives on engine %s alone: there is nothing to compare",
			id, kb.Engine)
	}
	return checker.Check(ctx, kb, repair)
}

// Invalidate drops the stored keyword indexes of a knowledge base; fault.Unsupported
// where its engines keep none beside the chunks.
func (c *Catalog) Invalidate(ctx context.Context, scope access.Scope, id string) error {
	kb, _, err := c.Get(ctx, scope, id)
	if err != nil {
		return err
	}
	holders, dropped := kb.Engines, false
	if len(holders) == 0 {
		holders = []string{kb.Engine}
	}
	for _, l := range c.listings {
		cache, ok := l.engine.(engine.Invalidator)
		if !ok || !slices.Contains(holders, l.engine.Name()) {
			continue
		}
		dropped = true
		if err := cache.Invalidate(ctx, kb.Ref); err != nil {
			return err
		}
	}
	if !dropped {
		return fault.New(fault.Unsupported, "knowledge base %q lives on %s, which has no stored keyword indexes to drop",
			id, strings.Join(holders, ", "))
	}
	return nil
}

// Described is a knowledge base with what it holds.
type Described struct {
	engine.KnowledgeBase
	engine.Description
}

// Describe gives a knowledge base and counts what it holds.
func (c *Catalog) Describe(ctx context.Context, scope access.Scope, id string) (Described, error) {
	kb, e, err := c.Get(ctx, scope, id)
	if err != nil {
		return Described{}, err
	}
	description, err := e.Describe(ctx, kb)
	if err != nil {
		return Described{}, err
	}
	return Described{KnowledgeBase: kb, Description: *description}, nil
}

// Engines lists the engines in their order.
func (c *Catalog) Engines() []engine.Engine {
	engines := make([]engine.Engine, len(c.listings))
	for i, l := range c.listings {
		engines[i] = l.engine
	}
	return engines
}

// find looks a knowledge base up, and again in new listings when it is unknown.
func (c *Catalog) find(ctx context.Context, ref engine.Ref) (engine.KnowledgeBase, *listing, error) {
	kb, l, err := c.lookUp(ctx, ref)
	if err != nil || l != nil {
		return kb, l, err
	}
	if c.mayForce() {
		for _, l := range c.listings {
			l.expire()
		}
		kb, l, err = c.lookUp(ctx, ref)
		if err != nil || l != nil {
			return kb, l, err
		}
	}
	return engine.KnowledgeBase{}, nil, notFound(ref.ID)
}

// lookUp tries the engine that is known to have it, then all at once, so that one that is
// unavailable does not block the others. The listing is nil when no engine has it; an error
// means that an engine which might have it could not be asked.
func (c *Catalog) lookUp(ctx context.Context, ref engine.Ref) (engine.KnowledgeBase, *listing, error) {
	for _, l := range c.listings {
		last, fresh := l.known()
		kb, ok := last.find(ref)
		if ok && fresh {
			return kb, l, nil
		}
		if !ok {
			continue
		}
		if r := l.lookUp(ctx, ref); r.listing != nil {
			return r.kb, r.listing, nil
		}
	}
	// A goroutine that is not waited for ends with its flight, which has a timeout.
	results := make(chan lookUpResult, len(c.listings))
	for _, l := range c.listings {
		go func() { results <- l.lookUp(ctx, ref) }()
	}
	var failed error
	for range c.listings {
		r := <-results
		if r.listing != nil {
			return r.kb, r.listing, nil
		}
		if r.err != nil {
			failed = r.err
		}
	}
	return engine.KnowledgeBase{}, nil, failed
}

func (c *Catalog) mayForce() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.forced) < forcedInterval {
		return false
	}
	c.forced = time.Now()
	return true
}

// checkFree refuses an id that is taken. It asks every engine: a listing could hide that
// another gateway has taken the id on another engine.
func (c *Catalog) checkFree(ctx context.Context, ref engine.Ref) error {
	for _, l := range c.listings {
		_, taken, err := l.get(ctx, ref)
		if err != nil {
			return err
		}
		if taken {
			err := fault.New(fault.Conflict, "knowledge base %q exists already, on engine %s", ref.ID, l.engine.Name())
			err.Field = "id"
			return err
		}
	}
	return nil
}

// checkAlone takes back what was made when another engine has the id by now: another gateway was making it at the same
// time. Each of the two looks after it has made its own, so at least one sees the other.
func (c *Catalog) checkAlone(ctx context.Context, kb *engine.KnowledgeBase, made engine.Engine) error {
	for _, l := range c.listings {
		name := l.engine.Name()
		if name == kb.Engine || slices.Contains(kb.Engines, name) {
			continue
		}
		_, taken, err := l.get(ctx, kb.Ref)
		if err == nil && taken {
			err = fault.New(fault.Conflict, "knowledge base %q was made at the same time on engine %s: try again", kb.ID, name)
		}
		if err == nil {
			continue
		}
		gone := made.DeleteKnowledgeBase(context.WithoutCancel(ctx), kb.Ref)
		if gone != nil && !fault.Is(gone, fault.NotFound) {
			return gone
		}
		return err
	}
	return nil
}

func (c *Catalog) engineNames() string {
	names := make([]string, len(c.listings))
	for i, l := range c.listings {
		names[i] = l.engine.Name()
	}
	return strings.Join(names, ", ")
}

func notFound(id string) error {
	err := fault.New(fault.NotFound, "knowledge base %q does not exist", clip(id))
	err.Field = "knowledge_base"
	return err
}

// clip bounds how much of an unknown id an error repeats.
func clip(id string) string {
	const shown = 80
	if len(id) <= shown {
		return id
	}
	return strings.ToValidUTF8(id[:shown], "") + "…"
}
