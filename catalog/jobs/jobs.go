// Package jobs runs long work beside the requests that ask for it. A job has a
// state and progress, and can be watched and cancelled. Jobs live in this
// process; work that has to survive it keeps its own state and is started again
// under the same id. What became of jobs is kept beside them (Open).
package jobs

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/hybridge-search/hybridge/fault"
)

// State of a job.
type State string

// A job is running until it has ended in one of three ways.
const (
	Running   State = "running"
	Succeeded State = "succeeded"
	Failed    State = "failed"
	Cancelled State = "cancelled"
)

// Progress of a job.
type Progress struct {
	Step      string  `json:"step,omitempty" doc:"What is under way."`
	Done      int     `json:"done"`
	Total     int     `json:"total" doc:"0: not known."`
	Rate      float64 `json:"rate" doc:"Per second."`
	Remaining float64 `json:"remaining_seconds" doc:"At this rate; 0: not known."`
}

// Job is a snapshot of a job.
type Job struct {
	ID            string     `json:"id"`
	Kind          string     `json:"kind" doc:"What it does, as mapping."`
	Tenant        string     `json:"-"`
	KnowledgeBase string     `json:"knowledge_base,omitempty"`
	State         State      `json:"state" enum:"running,succeeded,failed,cancelled"`
	Progress      Progress   `json:"progress"`
	Errors        []JobError `json:"errors" doc:"Why it failed, or what failed within it."`
	StartedAt     time.Time  `json:"started_at"`
	UpdatedAt     time.Time  `json:"updated_at"`
	FinishedAt    time.Time  `json:"finished_at,omitzero"`

	// Continues says that the work goes on under this id when the gateway has ended: it has not failed then.
	Continues bool `json:"-"`
}

// JobError is an error as the API shows it.
type JobError struct {
	Code   fault.Kind `json:"code"`
	Field  string     `json:"field,omitempty"`
	Detail string     `json:"detail" locale:"text"`
}

// Work runs a job. It may report at any time and returns when its context ends; joined
// errors are shown one by one.
type Work func(ctx context.Context, report func(Progress)) error

// ErrCancelled is the context.Cause of a job stopped by Cancel; a shutdown of the gateway has none.
var ErrCancelled = errors.New("the job was cancelled")

// maxJobs is how many jobs are remembered, unless more are running.
const maxJobs = 1000

// Manager runs jobs. It is safe for concurrent use.
type Manager struct {
	ctx  context.Context
	stop context.CancelFunc
	work sync.WaitGroup

	history *history // nil: there is none

	mu    sync.Mutex
	jobs  map[string]*running
	order []string // by start
}

type running struct {
	job       Job
	cancel    context.CancelCauseFunc
	cancelled bool          // by Cancel
	changed   chan struct{} // closed at each change
}

// New makes a Manager. Close it.
func New() *Manager {
	m := &Manager{jobs: map[string]*running{}}
	m.ctx, m.stop = context.WithCancel(context.Background())
	return m
}

// Start runs work as a job. An empty id is replaced by a new one; the id of a running
// job is a fault.Conflict.
func (m *Manager) Start(job Job, work Work) (Job, error) {
	if job.ID == "" {
		job.ID = rand.Text()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ctx.Err() != nil {
		return Job{}, fault.New(fault.Unavailable, "the gateway is shutting down")
	}
	if old, ok := m.jobs[job.ID]; ok && old.job.State == Running {
		return Job{}, fault.New(fault.Conflict, "job %q is running", job.ID)
	} else if ok {
		m.order = slices.DeleteFunc(m.order, func(id string) bool { return id == job.ID })
	}
	now := time.Now().UTC()
	job.State, job.StartedAt, job.UpdatedAt, job.Errors = Running, now, now, []JobError{}
	ctx, cancel := context.WithCancelCause(m.ctx)
	r := &running{job: job, cancel: cancel, changed: make(chan struct{})}
	m.jobs[job.ID] = r
	m.order = append(m.order, job.ID)
	m.forget()
	m.history.keep(job.copy())
	m.work.Go(func() {
		defer cancel(nil)
		m.end(r, work(ctx, func(p Progress) { m.update(r, func(j *Job) { j.Progress = p }) }))
	})
	return job, nil
}

// forget drops the oldest jobs that have ended.
func (m *Manager) forget() {
	for i := 0; len(m.order) > maxJobs && i < len(m.order); {
		id := m.order[i]
		if m.jobs[id].job.State == Running {
			i++
			continue
		}
		delete(m.jobs, id)
		m.order = slices.Delete(m.order, i, i+1)
	}
}

func (m *Manager) update(r *running, change func(*Job)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(&r.job)
	r.job.UpdatedAt = time.Now().UTC()
	close(r.changed)
	r.changed = make(chan struct{})
}

func (m *Manager) end(r *running, err error) {
	ended := m.ctx.Err() != nil && !r.cancelled && (fault.Is(err, fault.Canceled) || errors.Is(err, context.Canceled))
	if ended {
		err = errGatewayEnded
	}
	m.update(r, func(j *Job) {
		j.FinishedAt = time.Now().UTC()
		switch {
		case err == nil:
			j.State = Succeeded
		case r.cancelled && (fault.Is(err, fault.Canceled) || errors.Is(err, context.Canceled)):
			j.State = Cancelled
		default:
			j.State, j.Errors = Failed, append(j.Errors, publicErrors(err)...)
		}
		if !ended || !j.Continues {
			j.UpdatedAt = j.FinishedAt
			m.history.keep(j.copy())
		}
	})
}

// publicErrors converts joined errors one by one: failures that did not stop the job.
func publicErrors(err error) []JobError {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []JobError{publicError(err)}
	}
	var all []JobError
	for _, one := range joined.Unwrap() {
		all = append(all, publicError(one))
	}
	return all
}

// publicError omits details that are only for the log.
func publicError(err error) JobError {
	var f *fault.Error
	if errors.As(err, &f) && f.Kind != fault.Internal {
		return JobError{Code: f.Kind, Field: f.Field, Detail: f.Detail}
	}
	return JobError{Code: fault.Internal, Detail: "the gateway failed; its log says why"}
}

// Get gives a job of the tenant; fault.NotFound when there is none.
func (m *Manager) Get(tenant, id string) (Job, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.find(tenant, id)
	if err != nil {
		return Job{}, err
	}
	return r.job.copy(), nil
}

func (m *Manager) find(tenant, id string) (*running, error) {
	if r, ok := m.jobs[id]; ok && r.job.Tenant == tenant {
		return r, nil
	}
	return nil, fault.New(fault.NotFound, "there is no such job")
}

func (j Job) copy() Job {
	j.Errors = slices.Clone(j.Errors)
	return j
}

// List gives the tenant's jobs, latest first.
func (m *Manager) List(tenant string) []Job {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := []Job{}
	for _, id := range slices.Backward(m.order) {
		if r := m.jobs[id]; r.job.Tenant == tenant {
			list = append(list, r.job.copy())
		}
	}
	return list
}

// Cancel ends a job's context; one that has ended is left as it is.
func (m *Manager) Cancel(tenant, id string) (Job, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.find(tenant, id)
	if err != nil {
		return Job{}, err
	}
	if r.job.State == Running {
		r.cancelled = true
		r.cancel(ErrCancelled)
	}
	return r.job.copy(), nil
}

// Watch calls show with the job now and at each change, until the job has ended,
// show fails, or the context ends; of a job that is not this gateway's, as Find gives it, once.
func (m *Manager) Watch(ctx context.Context, tenant, id string, show func(Job) error) error {
	for {
		m.mu.Lock()
		r, err := m.find(tenant, id)
		if err != nil {
			m.mu.Unlock()
			if job, err := m.Find(ctx, tenant, id); err == nil {
				return show(job)
			}
			return err
		}
		job, changed := r.job.copy(), r.changed
		m.mu.Unlock()
		if err := show(job); err != nil || job.State != Running {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Close ends all jobs and waits for them, and until they are kept.
func (m *Manager) Close() {
	m.mu.Lock()
	m.stop()
	m.mu.Unlock()
	m.work.Wait()
	m.history.close()
}
