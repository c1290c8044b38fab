package runs

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/catalog/jobs"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/evaluation/library"
	"github.com/hybridge-search/hybridge/fault"
)

// State of an evaluation or a tuning.
type State string

// The states. An evaluation that was interrupted, failed or was cancelled can be gone on with.
const (
	Running     State = "running"
	Done        State = "done"
	Failed      State = "failed"
	Cancelled   State = "cancelled"
	Interrupted State = "interrupted"
)

// silence is after how long without a sign work is taken for interrupted.
const silence = time.Minute

// Work holds the fields shared by evaluations and tunings.
type Work struct {
	ID         string    `json:"id"`
	State      State     `json:"state" enum:"running,done,failed,cancelled,interrupted" doc:"interrupted: its gateway ended."`
	Error      string    `json:"error,omitempty" doc:"Why it failed." locale:"text"`
	By         string    `json:"by,omitempty" doc:"Name of the key."`
	CreatedAt  time.Time `json:"created_at"`
	UpdatedAt  time.Time `json:"updated_at"`
	FinishedAt time.Time `json:"finished_at,omitzero"`

	// bases are the knowledge bases that it is of: who does not see them all does not see it.
	bases []string
	// removed is work that is being deleted: whoever goes on with it at the same time is refused.
	removed bool
}

func newWork(by string, now time.Time) Work {
	id := now.UTC().Format("20060102-150405-") + strings.ToLower(rand.Text()[:6])
	return Work{ID: id, State: Running, By: by}
}

func (w *Work) work() *Work { return w }

// end says how work has ended, which its context and its error tell.
func (w *Work) end(ctx context.Context, err error, now time.Time) {
	w.Error, w.FinishedAt = "", now.UTC()
	switch {
	case err == nil:
		w.State = Done
	case errors.Is(context.Cause(ctx), jobs.ErrCancelled):
		w.State = Cancelled
	case ctx.Err() != nil: // the gateway ends
		w.State = Interrupted
	default:
		w.State, w.Error = Failed, publicDetail(err)
	}
}

func publicDetail(err error) string {
	var f *fault.Error
	if errors.As(err, &f) && f.Kind != fault.Internal {
		return f.Detail
	}
	return "the gateway failed; its log says why"
}

// book keeps work of one kind: *T is a *Work by embedding it.
type book[T any, P interface {
	*T
	work() *Work
}] struct {
	keeper engine.RecordKeeper
	jobs   *jobs.Manager
	now    func() time.Time

	kind                       string
	absent, running, elsewhere func(id string) error
}

// page is the stored form of T.
type page[T any] struct {
	Work    *T       `json:"work"`
	Bases   []string `json:"bases"`
	Removed bool     `json:"removed,omitempty"`
}

func (b *book[T, P]) ref(tenant, id string) engine.RecordRef {
	return engine.RecordRef{Tenant: tenant, Kind: b.kind, ID: id}
}

// save stores it: version 0 makes it.
func (b *book[T, P]) save(ctx context.Context, tenant string, of *T, version int64) (engine.Records, error) {
	w := P(of).work()
	text, err := json.Marshal(&page[T]{Work: of, Bases: w.bases, Removed: w.removed})
	if err != nil {
		return engine.Records{}, fault.Wrap(fault.Internal, err, "write %s %q", b.kind, w.ID)
	}
	return b.keeper.SaveRecords(ctx, engine.Records{RecordRef: b.ref(tenant, w.ID), Version: version, Head: text})
}

func (b *book[T, P]) open(tenant string, records *engine.Records) (*T, error) {
	stored := &page[T]{Work: new(T)}
	if err := json.Unmarshal(records.Head, stored); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "read %s %q", b.kind, records.ID)
	}
	w := P(stored.Work).work()
	w.CreatedAt, w.UpdatedAt, w.bases = records.CreatedAt, records.UpdatedAt, stored.Bases
	w.removed = stored.Removed
	if w.State == Running && b.gone(tenant, records) {
		w.State = Interrupted
	}
	return stored.Work, nil
}

// gone reports whether nobody works any more on what is said to be running.
func (b *book[T, P]) gone(tenant string, records *engine.Records) bool {
	if b.now().Sub(records.UpdatedAt) <= silence {
		return false
	}
	job, err := b.jobs.Get(tenant, records.ID)
	return err != nil || job.State != jobs.Running
}

// read gives what the caller sees; fault.NotFound.
func (b *book[T, P]) read(ctx context.Context, scope access.Scope, id string) (*T, engine.Records, error) {
	of, records, err := b.stored(ctx, scope, id)
	if err == nil && P(of).work().removed {
		return nil, engine.Records{}, b.absent(id)
	}
	return of, records, err
}

// stored gives what the caller sees, also of what is being deleted.
func (b *book[T, P]) stored(ctx context.Context, scope access.Scope, id string) (*T, engine.Records, error) {
	if library.CheckID("id", id) != nil { // nothing was ever called so
		return nil, engine.Records{}, b.absent(id)
	}
	records, err := b.keeper.Records(ctx, b.ref(scope.Tenant, id))
	if fault.Is(err, fault.NotFound) {
		return nil, engine.Records{}, b.absent(id)
	}
	if err != nil {
		return nil, engine.Records{}, err
	}
	of, err := b.open(scope.Tenant, &records)
	if err == nil && !sees(scope, P(of).work().bases) {
		return nil, engine.Records{}, b.absent(id)
	}
	return of, records, err
}

// list gives what the caller sees, the latest first.
func (b *book[T, P]) list(ctx context.Context, scope access.Scope) ([]T, error) {
	all, err := b.keeper.ListRecords(ctx, scope.Tenant, b.kind)
	if err != nil {
		return nil, err
	}
	seen := []T{}
	for i := range all {
		of, err := b.open(scope.Tenant, &all[i])
		if err != nil {
			return nil, err
		}
		if w := P(of).work(); !w.removed && sees(scope, w.bases) {
			seen = append(seen, *of)
		}
	}
	slices.SortStableFunc(seen, func(x, y T) int {
		return P(&y).work().CreatedAt.Compare(P(&x).work().CreatedAt)
	})
	return seen, nil
}

// cancel ends the job, if this gateway has it.
func (b *book[T, P]) cancel(ctx context.Context, scope access.Scope, id string) (*T, error) {
	of, _, err := b.read(ctx, scope, id)
	if err != nil || P(of).work().State != Running {
		return of, err
	}
	if _, err := b.jobs.Cancel(scope.Tenant, id); err != nil {
		return nil, b.elsewhere(id)
	}
	return of, nil
}

// remove deletes what is not running.
func (b *book[T, P]) remove(ctx context.Context, scope access.Scope, id string) error {
	of, records, err := b.stored(ctx, scope, id)
	if err != nil {
		return err
	}
	w := P(of).work()
	if w.State == Running {
		return b.running(id)
	}
	if !w.removed {
		w.removed = true
		_, err = b.save(ctx, scope.Tenant, of, records.Version)
	}
	if err == nil {
		err = b.keeper.DeleteRecords(ctx, records.RecordRef)
	}
	switch {
	case fault.Is(err, fault.Conflict): // somebody goes on with it at this moment
		return b.running(id)
	case fault.Is(err, fault.NotFound):
		return b.absent(id)
	default:
		return err
	}
}

// launch stores it and starts its job, of job's tenant and knowledge base, from a version; it returns the stored
// state. If the job cannot start it is not stored as running.
func (b *book[T, P]) launch(ctx context.Context, of *T, version *int64, job jobs.Job, do jobs.Work) (*T, error) {
	w := P(of).work()
	saved, err := b.save(ctx, job.Tenant, of, *version)
	switch {
	case fault.Is(err, fault.Conflict): // at the same time
		return nil, b.running(w.ID)
	case fault.Is(err, fault.NotFound):
		return nil, b.absent(w.ID)
	case err != nil:
		return nil, err
	}
	*version, w.CreatedAt, w.UpdatedAt = saved.Version, saved.CreatedAt, saved.UpdatedAt
	answer := *of
	job.ID, job.Kind = w.ID, b.kind
	if _, err := b.jobs.Start(job, do); err != nil {
		w.State = Interrupted
		_, ended := b.save(context.WithoutCancel(ctx), job.Tenant, of, *version)
		return nil, errors.Join(err, ended)
	}
	return &answer, nil
}

func sees(scope access.Scope, bases []string) bool {
	return !slices.ContainsFunc(bases, func(kb string) bool { return !scope.Allows(kb) })
}
