package migration

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/catalog/jobs"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// JobKind is the kind of the jobs that migrate.
const JobKind = "mapping"

// Catalog finds knowledge bases. Expire makes it read them anew.
type Catalog interface {
	Get(ctx context.Context, scope access.Scope, id string) (engine.KnowledgeBase, engine.Engine, error)
	Engines() []engine.Engine
	Expire()
}

var _ Catalog = (*catalog.Catalog)(nil)

// Options of a Service. Catalog and Jobs are required.
type Options struct {
	Catalog Catalog
	Jobs    *jobs.Manager
	// Answer returns the ids of the k best chunks. The schema of the knowledge base
	// need not be the one that the catalog knows. Nil: plans with a gate are refused.
	Answer func(ctx context.Context, kb engine.KnowledgeBase, e engine.Engine, query string, k int) ([]string, error)
	// ModelDimensions returns the dimension of an embedding model; fault.Unsupported
	// for one that is not configured. Nil: none is.
	ModelDimensions func(ctx context.Context, model string) (int, error)
	Logger          *slog.Logger // nil: nothing is logged
	// Takeover is the silence after which another gateway's migration is taken
	// over; 0: 15 s.
	Takeover time.Duration
	// Patience bounds how long a step is repeated while the engine is unavailable; 0: 10 min.
	Patience time.Duration
}

// Service plans and runs migrations. It is safe for concurrent use.
type Service struct {
	Options
	id string // of this gateway, as owner

	mu      sync.Mutex
	running map[engine.Ref]bool
}

// New makes a Service.
func New(o Options) *Service {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Takeover == 0 {
		o.Takeover = 15 * time.Second
	}
	if o.Patience == 0 {
		o.Patience = 10 * time.Minute
	}
	return &Service{Options: o, id: rand.Text(), running: map[engine.Ref]bool{}}
}

// Caller is who asks, within which scope.
type Caller struct {
	Scope access.Scope
	Key   string // its name, for the history
}

// Order is a user's command for a migration.
type Order string

// The orders.
const (
	Resume   Order = "resume"
	Cancel   Order = "cancel"
	Rollback Order = "rollback"
	Cleanup  Order = "cleanup"
)

// Orders lists those that the state of a migration allows.
func Orders(m *engine.Migration) []Order {
	switch {
	case m.State == engine.MigrationRunning && m.Direction == engine.GoForward && !m.Cancel:
		return []Order{Cancel}
	case m.State == engine.MigrationFailed && m.Direction == engine.GoForward:
		return []Order{Resume, Cancel}
	case m.State == engine.MigrationFailed && m.Direction == engine.GoRollback && m.Switched:
		return []Order{Resume, Cleanup}
	case m.State == engine.MigrationFailed:
		return []Order{Resume}
	case m.State == engine.MigrationSwitched:
		return []Order{Rollback, Cleanup}
	default:
		return nil
	}
}

// find returns a knowledge base as its engine has it, which must be able to migrate.
func (s *Service) find(
	ctx context.Context, scope access.Scope, id string,
) (engine.KnowledgeBase, engine.Migrator, error) {
	kb, e, err := s.Catalog.Get(ctx, scope, id)
	if err != nil {
		return kb, nil, err
	}
	m, ok := e.(engine.Migrator)
	if !ok {
		return kb, nil, fault.New(fault.Unsupported,
			"knowledge base %q lives on engine %s, whose storage has no mapping to manage", id, e.Name())
	}
	kb, err = m.KnowledgeBase(ctx, kb.Ref) // the catalog's may be seconds old
	return kb, m, err
}

// Desired returns the mapping that the schema needs.
func (s *Service) Desired(ctx context.Context, scope access.Scope, id string) (json.RawMessage, error) {
	kb, m, err := s.find(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	return m.DesiredMapping(ctx, kb)
}

// Live returns the mapping that the index has.
func (s *Service) Live(ctx context.Context, scope access.Scope, id string) (json.RawMessage, error) {
	kb, m, err := s.find(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	return m.LiveMapping(ctx, kb)
}

// Diff compares the live mapping with the schema after a change.
func (s *Service) Diff(
	ctx context.Context, scope access.Scope, id string, change Change,
) (*engine.MappingDiff, error) {
	kb, m, err := s.find(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	wanted, err := s.wanted(ctx, kb, &change)
	if err != nil {
		return nil, err
	}
	return diff(ctx, m, kb, wanted)
}

// wanted is the schema after the change. The model decides the dimension.
func (s *Service) wanted(ctx context.Context, kb engine.KnowledgeBase, c *Change) (engine.KnowledgeBase, error) {
	wanted, err := c.apply(kb)
	if err != nil {
		return wanted, err
	}
	moved := wanted.EmbeddingModel != kb.EmbeddingModel || wanted.Dimensions != kb.Dimensions
	if wanted.EmbeddingModel != "" && (moved || len(engine.NewRefit(&kb, &wanted).Made) > 0) {
		if wanted.Dimensions, err = s.dimensions(ctx, &wanted, c); err != nil {
			return wanted, err
		}
	}
	return wanted, wanted.CheckVectorFields()
}

// dimensions returns the dimension of the wanted model.
func (s *Service) dimensions(ctx context.Context, wanted *engine.KnowledgeBase, c *Change) (int, error) {
	if s.ModelDimensions == nil {
		return 0, fault.Invalid("changes.embedding_model", wanted.EmbeddingModel,
			"left out: no embedding model is configured")
	}
	n, err := s.ModelDimensions(ctx, wanted.EmbeddingModel)
	if err != nil {
		return 0, err
	}
	if c.Dimensions != nil && *c.Dimensions != n {
		return 0, fault.Invalid("changes.dimensions", *c.Dimensions,
			"the dimension of the embedding model, or left out")
	}
	return n, nil
}

// diff adds to the engine's diff the conflicts over vectors that no engine can make.
func diff(ctx context.Context, m engine.Migrator, kb, wanted engine.KnowledgeBase) (*engine.MappingDiff, error) {
	d, err := m.DiffMapping(ctx, kb, wanted)
	if err != nil {
		return nil, err
	}
	refit := engine.NewRefit(&kb, &wanted)
	for _, field := range refit.Lost {
		conflict(d, field, "brought",
			"its vectors are of the model and dimension that there are now, and were brought: nothing says "+
				"what to make new ones of; plan without this field, or with a source, or write the chunks with new vectors into "+
				"another knowledge base")
	}
	if wanted.EmbeddingModel != "" {
		return d, nil
	}
	for _, field := range refit.Made {
		if slices.ContainsFunc(wanted.VectorFields, func(v engine.VectorField) bool { return v.Name == field.Name }) {
			conflict(d, field.Name, "no_model",
				"the knowledge base names no embedding model that could make its vectors; name one, or "+
					"plan the field without a source and bring them")
		}
	}
	return d, nil
}

func conflict(d *engine.MappingDiff, field, code, reason string) {
	d.Class = engine.ChangeConflict
	d.Changes = append(d.Changes, engine.MappingChange{
		Path: "vector_fields." + field, Class: engine.ChangeConflict, Code: code, Reason: reason,
	})
}

// Plan finds out what a change takes, and stores that under an id.
func (s *Service) Plan(ctx context.Context, who Caller, id string, req Request) (*engine.MappingPlan, error) {
	if err := checkOptions(&req.Options); err != nil {
		return nil, err
	}
	if len(req.Options.Gate.Queries) > 0 && s.Answer == nil {
		return nil, fault.Invalid("options.gate", "set", "left out: this gateway has no relevance gate")
	}
	kb, m, err := s.find(ctx, who.Scope, id)
	if err != nil {
		return nil, err
	}
	wanted, err := s.wanted(ctx, kb, &req.Changes)
	if err != nil {
		return nil, err
	}
	changed, err := diff(ctx, m, kb, wanted)
	if err != nil {
		return nil, err
	}
	plan := &engine.MappingPlan{
		ID: strings.ToLower(rand.Text()), Ref: kb.Ref, State: engine.PlanOpen, Wanted: wanted, Diff: *changed,
		Options: req.Options, CreatedAt: now(), CreatedBy: who.Key,
	}
	plan.Steps = m.MigrationSteps(&engine.Migration{Direction: engine.GoForward, Plan: *plan})
	return plan, m.SavePlan(ctx, plan)
}

func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// Apply runs a plan as a job. A plan is applied only once, and only to the state
// that it was made for.
func (s *Service) Apply(ctx context.Context, who Caller, id, planID string) (*engine.Migration, error) {
	kb, m, err := s.find(ctx, who.Scope, id)
	if err != nil {
		return nil, err
	}
	switch found, err := m.Migration(ctx, kb.Ref); {
	case err == nil:
		return nil, fault.New(fault.Conflict, "a migration of knowledge base %q is %s; %s first",
			id, found.State, allowedOrders(found))
	case !fault.Is(err, fault.NotFound):
		return nil, err
	}
	plan, err := m.TakePlan(ctx, kb.Ref, planID)
	if err != nil {
		return nil, err
	}
	changed, err := diff(ctx, m, kb, plan.Wanted)
	switch {
	case err != nil:
		return nil, err
	case changed.Digest != plan.Diff.Digest || changed.Class != plan.Diff.Class:
		return nil, fault.New(fault.Conflict,
			"the index of knowledge base %q was changed since the plan was made; nothing was done, make a new plan", id)
	case changed.Class == engine.ChangeConflict:
		return nil, fault.New(fault.Conflict, "the plan has a conflict that no migration resolves: %s",
			firstConflict(changed))
	case changed.Class == engine.ChangeNone:
		return nil, fault.New(fault.Conflict, "the plan has nothing to change")
	}
	run := &engine.Migration{
		ID: plan.ID, Ref: kb.Ref, State: engine.MigrationRunning, Direction: engine.GoForward, Plan: *plan,
		From: kb, FromIndex: changed.Index, StartedBy: who.Key, StartedAt: now(), UpdatedAt: now(),
		Owner: s.id, Beat: now(), Progress: engine.MigrationProgress{
			Total: changed.Estimate.Documents, Throttle: plan.Options.Throttle,
		},
	}
	run.Step = m.MigrationSteps(run)[0]
	if err := m.StartMigration(ctx, run); err != nil {
		return nil, err
	}
	return run, s.start(m, run)
}

func firstConflict(d *engine.MappingDiff) string {
	i := slices.IndexFunc(d.Changes, func(c engine.MappingChange) bool { return c.Class == engine.ChangeConflict })
	if i < 0 {
		return d.Class
	}
	return d.Changes[i].Path + ": " + d.Changes[i].Reason
}

// allowedOrders words what may be done with a migration.
func allowedOrders(m *engine.Migration) string {
	orders := Orders(m)
	if len(orders) == 0 {
		return "wait for its end"
	}
	words := make([]string, len(orders))
	for i, order := range orders {
		words[i] = string(order)
	}
	return strings.Join(words, " or ") + " it"
}

// Status gives the migration under way or, without one, the last; nil when there
// was none.
func (s *Service) Status(ctx context.Context, scope access.Scope, id string) (*engine.Migration, error) {
	kb, m, err := s.find(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	found, err := m.Migration(ctx, kb.Ref)
	if !fault.Is(err, fault.NotFound) {
		return found, err
	}
	last, err := m.MigrationHistory(ctx, kb.Ref, 1)
	if err != nil || len(last) == 0 {
		return nil, err
	}
	return &last[0], nil
}

// History lists the migrations that ended, latest first.
func (s *Service) History(
	ctx context.Context, scope access.Scope, id string, limit int,
) ([]engine.Migration, error) {
	kb, m, err := s.find(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	return m.MigrationHistory(ctx, kb.Ref, limit)
}

// Throttle changes the rate of a copy under way.
func (s *Service) Throttle(
	ctx context.Context, scope access.Scope, id string, perSecond float64,
) (*engine.Migration, error) {
	if !(perSecond >= 0 && perSecond <= 1e9) {
		return nil, fault.Invalid("requests_per_second", perSecond, "from 0 (no limit) to 1e9")
	}
	return s.edit(ctx, scope, id, func(m *engine.Migration) error {
		if m.State != engine.MigrationRunning && m.State != engine.MigrationFailed {
			return fault.New(fault.Conflict, "the migration is %s; there is nothing to throttle", m.State)
		}
		m.Progress.Throttle = perSecond
		m.Progress.Estimate()
		return nil
	})
}

// editTries: an edit competes with the progress that the owner of a migration saves.
const editTries = 20

// edit changes the stored migration, again when somebody else was faster.
func (s *Service) edit(
	ctx context.Context, scope access.Scope, id string, apply func(*engine.Migration) error,
) (*engine.Migration, error) {
	kb, m, err := s.find(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		found, err := m.Migration(ctx, kb.Ref)
		if fault.Is(err, fault.NotFound) {
			return nil, fault.New(fault.Conflict, "no migration of knowledge base %q is under way", id)
		}
		if err != nil {
			return nil, err
		}
		if err := apply(found); err != nil {
			return nil, err
		}
		found.UpdatedAt = now()
		err = m.SaveMigration(ctx, found)
		if err == nil || !fault.Is(err, fault.Conflict) || try == editTries {
			return found, err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// Direct carries out an order on a migration.
func (s *Service) Direct(ctx context.Context, who Caller, id string, order Order) (*engine.Migration, error) {
	_, migrator, err := s.find(ctx, who.Scope, id)
	if err != nil {
		return nil, err
	}
	begin := false
	m, err := s.edit(ctx, who.Scope, id, func(m *engine.Migration) error {
		if !slices.Contains(Orders(m), order) {
			return fault.New(fault.Conflict, "the migration is %s; %s is not possible, %s", m.State, order, allowedOrders(m))
		}
		begin = order != Cancel || m.State != engine.MigrationRunning || !s.alive(m)
		if !begin {
			m.Cancel = true // its owner sees it
			return nil
		}
		s.redirect(migrator, m, order)
		return nil
	})
	if err != nil || !begin {
		return m, err
	}
	return m, s.start(migrator, m)
}

// alive reports whether a gateway runs the migration.
func (s *Service) alive(m *engine.Migration) bool { return time.Since(m.Beat) < s.Takeover }

// redirect makes this gateway the owner of a migration, in the direction of the order.
func (s *Service) redirect(migrator engine.Migrator, m *engine.Migration, order Order) {
	m.State, m.Error, m.Owner, m.Beat = engine.MigrationRunning, nil, s.id, now()
	if order != Resume {
		m.Direction = map[Order]string{
			Resume: m.Direction, Cancel: engine.GoCancel, Rollback: engine.GoRollback, Cleanup: engine.GoCleanup,
		}[order]
		m.Step, m.Cancel = migrator.MigrationSteps(m)[0], false
	}
}
