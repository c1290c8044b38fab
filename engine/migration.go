package engine

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/hybridge-search/hybridge/fault"
)

// Migrator is implemented by engines whose knowledge bases can change shape while they are
// searched and written to. Without it a migration is fault.Unsupported. Every method is
// safe for concurrent use, also by several gateways: stored state is changed by
// compare-and-set.
type Migrator interface {
	// Finder: plans are based on the stored state, not on a cached list.
	Finder

	// DesiredMapping and LiveMapping describe the storage's shape for people, as the schema
	// requires it and as it is.
	DesiredMapping(ctx context.Context, kb KnowledgeBase) (json.RawMessage, error)
	LiveMapping(ctx context.Context, kb KnowledgeBase) (json.RawMessage, error)
	// DiffMapping compares the live mapping with the one that wanted requires.
	DiffMapping(ctx context.Context, kb, wanted KnowledgeBase) (*MappingDiff, error)

	// SavePlan stores a plan; TakePlan hands it out at most once: fault.Conflict to all
	// later callers, fault.NotFound if there is none.
	SavePlan(ctx context.Context, plan *MappingPlan) error
	TakePlan(ctx context.Context, ref Ref, id string) (*MappingPlan, error)

	// StartMigration stores a migration; fault.Conflict if one is under way.
	StartMigration(ctx context.Context, m *Migration) error
	// Migration returns the migration of a knowledge base; fault.NotFound if none is under way.
	Migration(ctx context.Context, ref Ref) (*Migration, error)
	Migrations(ctx context.Context) ([]Migration, error)
	// SaveMigration fails with fault.Conflict if the migration was changed since it was read.
	SaveMigration(ctx context.Context, m *Migration) error
	// EndMigration moves it to the history.
	EndMigration(ctx context.Context, m *Migration) error
	// MigrationHistory lists ended migrations, latest first.
	MigrationHistory(ctx context.Context, ref Ref, limit int) ([]Migration, error)

	// MigrationSteps lists the steps of a direction. Each is idempotent; Migration.Step is
	// the one to resume at.
	MigrationSteps(m *Migration) []string
	// MigrationStep executes one step, saving its progress.
	MigrationStep(ctx context.Context, m *Migration, env MigrationEnv) error
}

// MigrationEnv supplies a step with the functions of higher layers.
type MigrationEnv struct {
	// Save stores the migration with its progress and adopts a user's changes (Cancel,
	// Throttle); it fails if another gateway has taken over or the migration was cancelled.
	Save func(ctx context.Context) error
	// Gate compares the answers of both shapes; nil: no gate was requested.
	Gate func(ctx context.Context) error
}

// Change classes of a mapping.
const (
	ChangeInPlace  = "in_place"
	ChangeReindex  = "needs_reindex"
	ChangeConflict = "conflict"
	ChangeNone     = "none" // of a diff without changes
)

// MappingChange is one difference between the live and the desired mapping.
type MappingChange struct {
	Path    string          `json:"path" doc:"As mappings.properties.vector.dims or settings.index.refresh_interval."`
	Live    json.RawMessage `json:"live,omitempty" doc:"Absent: the live index has no such thing."`
	Desired json.RawMessage `json:"desired,omitempty" doc:"Absent: the schema knows no such thing."`
	Class   string          `json:"class" enum:"in_place,needs_reindex,conflict"`
	Code    string          `json:"code" doc:"What the reason says, stable."`
	Reason  string          `json:"reason" locale:"text"`
}

// How documents are copied into a new index.
const (
	CopyReindex = "reindex" // Elasticsearch copies them
	CopyRebuild = "rebuild" // the gateway rebuilds them from the stored chunks
	CopyEmbed   = "embed"   // the same, with new vectors
)

// MappingDiff lists all differences and the effort of changing them.
type MappingDiff struct {
	KnowledgeBase string          `json:"knowledge_base"`
	Index         string          `json:"index" doc:"The live index."`
	Class         string          `json:"class" enum:"none,in_place,needs_reindex,conflict" doc:"The heaviest of the changes."`
	Changes       []MappingChange `json:"changes"`
	Copy          string          `json:"copy,omitempty" doc:"reindex: the server copies; rebuild: the gateway makes the documents anew; embed: with new vectors."`
	Estimate      MappingEstimate `json:"estimate"`
	Digest        string          `json:"digest" doc:"Of the live state; a plan is refused when it has changed."`
	// Engines holds the diff by engine if the knowledge base lives on several.
	Engines map[string]*MappingDiff `json:"engines,omitempty" doc:"Of each engine, where the knowledge base lives on several."`
}

// MappingEstimate estimates the amount and duration of a copy.
type MappingEstimate struct {
	Documents int     `json:"documents"`
	Bytes     int64   `json:"bytes" doc:"On disk now; the same again is needed until cleanup."`
	Minutes   float64 `json:"minutes"`
}

// MappingOptions bound a migration.
type MappingOptions struct {
	Slices   int         `json:"slices,omitempty" minimum:"0" maximum:"64" doc:"Of _reindex; 0: one per shard."`
	Throttle float64     `json:"requests_per_second,omitempty" minimum:"0" doc:"Documents copied per second; 0: no limit."`
	Sample   int         `json:"sample,omitempty" minimum:"0" maximum:"10000" doc:"Documents compared field by field; 0: 200."`
	Gate     MappingGate `json:"gate,omitzero" doc:"Refuses the switch when answers get worse; without queries there is none."`
}

// MappingGate is a list of queries that both indices answer.
type MappingGate struct {
	Queries    []GateQuery `json:"queries,omitempty"`
	K          int         `json:"k,omitempty" minimum:"0" maximum:"100" doc:"Hits compared; 0: 10."`
	MinOverlap float64     `json:"min_overlap,omitempty" minimum:"0" maximum:"1" doc:"Mean share of the k hits that both find; 0: 0.8, or not asked when every query has judgements."`
	MaxLoss    float64     `json:"max_ndcg_loss,omitempty" minimum:"0" maximum:"1" doc:"Mean nDCG@k that judged queries may lose; 0: 0.02."`
}

// GateQuery is one question; Relevant holds judgments by chunk id, > 0 is relevant.
type GateQuery struct {
	Query    string         `json:"query"`
	Relevant map[string]int `json:"relevant,omitempty" doc:"Gain by chunk id."`
}

// GateResult compares the answers of both indices.
type GateResult struct {
	Passed  bool    `json:"passed"`
	Queries int     `json:"queries"`
	Overlap float64 `json:"overlap" doc:"Mean share of hits in common."`
	Judged  int     `json:"judged" doc:"Queries with judgements."`
	Before  float64 `json:"ndcg_before"`
	After   float64 `json:"ndcg_after"`
	Detail  string  `json:"detail" locale:"text"`
}

// States of a plan.
const (
	PlanOpen    = "planned"
	PlanApplied = "applied"
)

// MappingPlan is a dry run: the intended changes, and the state they apply to.
type MappingPlan struct {
	ID        string         `json:"id"`
	Ref       Ref            `json:"-"`
	State     string         `json:"state" enum:"planned,applied"`
	Wanted    KnowledgeBase  `json:"schema" doc:"The knowledge base as it would be."`
	Diff      MappingDiff    `json:"diff"`
	Steps     []string       `json:"steps" doc:"What apply would do, in order."`
	Options   MappingOptions `json:"options"`
	CreatedAt time.Time      `json:"created_at"`
	CreatedBy string         `json:"created_by,omitempty" doc:"Name of the key."`
}

// States of a migration.
const (
	MigrationRunning    = "running"
	MigrationFailed     = "failed"      // resume or cancel it
	MigrationSwitched   = "switched"    // the old index is kept: roll back or clean up
	MigrationDone       = "done"        // ended
	MigrationCancelled  = "cancelled"   // ended
	MigrationRolledBack = "rolled_back" // ended
)

// Directions of a migration: which steps it takes.
const (
	GoForward  = "apply"
	GoCancel   = "cancel"
	GoRollback = "rollback"
	GoCleanup  = "cleanup"
)

// Migration is a plan being applied. It is stored, so that any gateway can resume it.
type Migration struct {
	ID        string            `json:"id" doc:"Also of its job."`
	Ref       Ref               `json:"-"`
	State     string            `json:"state" enum:"running,failed,switched,done,cancelled,rolled_back"`
	Direction string            `json:"direction" enum:"apply,cancel,rollback,cleanup" doc:"What its steps are for."`
	Step      string            `json:"step" doc:"The one under way, or that failed."`
	Plan      MappingPlan       `json:"plan"`
	From      KnowledgeBase     `json:"-"`
	FromIndex string            `json:"from_index"`
	ToIndex   string            `json:"to_index,omitempty"`
	Progress  MigrationProgress `json:"progress"`
	Timeline  []StepTime        `json:"timeline,omitempty" doc:"Steps that were begun, the first one first."`
	Checks    []MigrationCheck  `json:"checks,omitempty"`
	Gate      *GateResult       `json:"gate,omitempty"`
	Error     *MigrationError   `json:"error,omitempty"`
	// Where the copy stands: the task of Elasticsearch, or the last id rebuilt.
	Task   string `json:"task,omitempty"`
	Cursor string `json:"-"`
	// Replayed is the position up to which the change log was applied to the other index.
	Replayed int64 `json:"-"`
	// Log is the change log; Switched says that the new storage is authoritative; Fence is
	// the sequence number of each shard of the old one when the log began.
	Log      string  `json:"-"`
	Switched bool    `json:"-"`
	Fence    []int64 `json:"-"`
	// Base is the first version of writes during the migration.
	Base int64 `json:"-"`
	// MovedAt is the time when the catalog was last pointed to another storage.
	MovedAt time.Time `json:"-"`

	Owner      string    `json:"-"` // the gateway that runs it
	Beat       time.Time `json:"-"` // its last heartbeat
	Cancel     bool      `json:"cancelling,omitempty" doc:"Somebody asked for it to be cancelled."`
	StartedBy  string    `json:"started_by,omitempty" doc:"Name of the key."`
	StartedAt  time.Time `json:"started_at"`
	UpdatedAt  time.Time `json:"updated_at"`
	FinishedAt time.Time `json:"finished_at,omitzero"`

	// Revision is the storage's, for compare-and-set.
	Revision [2]int64 `json:"-"`
}

// StepTime is the start and duration of a step.
type StepTime struct {
	Step      string    `json:"step"`
	Direction string    `json:"direction" enum:"apply,cancel,rollback,cleanup"`
	StartedAt time.Time `json:"started_at"`
	Seconds   float64   `json:"seconds" minimum:"0" doc:"How long it took; 0 while it is under way, and where it failed."`
}

// Begin records the start of a step; a repeated step is recorded once.
func (m *Migration) Begin(step string, at time.Time) {
	began := StepTime{Step: step, Direction: m.Direction, StartedAt: at}
	m.Timeline = slices.Clone(m.Timeline) // copies of the migration share the list
	if last := len(m.Timeline) - 1; last >= 0 {
		if t := m.Timeline[last]; t.Step == step && t.Direction == m.Direction && t.Seconds == 0 {
			m.Timeline[last] = began
			return
		}
	}
	m.Timeline = append(m.Timeline, began)
}

// End records the end of the latest step.
func (m *Migration) End(at time.Time) {
	m.Timeline = slices.Clone(m.Timeline)
	last := &m.Timeline[len(m.Timeline)-1]
	last.Seconds = max(at.Sub(last.StartedAt).Seconds(), 0.001)
}

// MigrationProgress counts documents.
type MigrationProgress struct {
	Done      int     `json:"done"`
	Total     int     `json:"total"`
	Rate      float64 `json:"rate" doc:"Documents per second."`
	Remaining float64 `json:"remaining_seconds" doc:"At this rate, or at the limit if that is slower; 0: not known."`
	Replayed  int     `json:"replayed" doc:"Documents of the change log."`
	Throttle  float64 `json:"requests_per_second" doc:"0: no limit."`
}

// Measure sets the rate from a number of copied documents and the time taken.
func (p *MigrationProgress) Measure(copied int, took time.Duration) {
	p.Rate = 0
	if took > 0 {
		p.Rate = float64(copied) / took.Seconds()
	}
	p.Estimate()
}

// Estimate sets the remaining time, at the rate or the limit, whichever is slower.
func (p *MigrationProgress) Estimate() {
	rate := p.Rate
	if p.Throttle > 0 && (rate == 0 || p.Throttle < rate) {
		rate = p.Throttle
	}
	p.Remaining = 0
	if rate > 0 {
		p.Remaining = float64(max(0, p.Total-p.Done)) / rate
	}
}

// MigrationCheck is one comparison made before the switch.
type MigrationCheck struct {
	Name   string `json:"name"`
	Passed bool   `json:"passed"`
	Detail string `json:"detail" locale:"text"`
}

// MigrationError says why a step failed, and how to proceed.
type MigrationError struct {
	Code   fault.Kind `json:"code"`
	Detail string     `json:"detail" locale:"text"`
	WayOut string     `json:"way_out" locale:"text" doc:"What to do next."`
}

// Steps that mean the same on every engine. With several engines, a step is named engine/step.
const (
	StepCreate = "create" // the new storage
	StepGate   = "gate"   // relevance
	StepSwitch = "switch" // to the new storage
)

// OwnStep is the current step without the prefix of an engine.
func (m *Migration) OwnStep() string { return m.Step[strings.LastIndexByte(m.Step, '/')+1:] }

// Diff returns the diff of the migrating engine.
func (m *Migration) Diff() *MappingDiff {
	if d, ok := m.Plan.Diff.Engines[m.Plan.Wanted.Engine]; ok {
		return d
	}
	return &m.Plan.Diff
}

// Active reports whether steps remain.
func (m *Migration) Active() bool { return m.State == MigrationRunning }
