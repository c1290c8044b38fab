package jobs

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

const (
	// recordsKind is the kind of a tenant's collection whose items are jobs by id.
	recordsKind = "job"
	recordsID   = "history"

	// keptFor is how long a job is kept after it has ended; of one tenant at most maxJobs.
	keptFor = 90 * 24 * time.Hour
	// signOfLife is how often jobs that run are stored again, silence after how long without it their
	// gateway is taken for ended.
	signOfLife = 20 * time.Second
	silence    = time.Minute
	// patience is how long storing may take when the gateway ends.
	patience = 5 * time.Second
)

// kept is a job as it is stored.
type kept struct {
	Job
	Gateway   string    `json:"gateway"` // that runs it
	Seen      time.Time `json:"seen"`    // by that gateway
	Continues bool      `json:"continues,omitempty"`
}

// Options say where jobs are kept. All are required.
type Options struct {
	Keeper engine.RecordKeeper
	// Alone: no other gateway has this data, so a job that another one is said to run has ended.
	Alone  bool
	Logger *slog.Logger
}

// history stores jobs beside the work: storing delays no job and fails none.
type history struct {
	keeper  engine.RecordKeeper
	alone   bool
	log     *slog.Logger
	gateway string
	running func() []Job

	stop context.CancelFunc
	done chan struct{}
	wake chan struct{} // has room for one

	mu      sync.Mutex
	changed map[string]map[string]Job // by tenant and id: to be stored
}

// Open makes a Manager whose jobs are kept as records: by tenant, of the last 90 days and at most 1,000. Those that
// could not be stored are logged, and tried again. Close it before the keeper.
func Open(options Options) *Manager {
	m := New()
	ctx, stop := context.WithCancel(context.Background())
	m.history = &history{
		keeper: options.Keeper, alone: options.Alone, log: options.Logger, gateway: rand.Text(),
		running: m.runningJobs, stop: stop,
		done: make(chan struct{}), wake: make(chan struct{}, 1), changed: map[string]map[string]Job{},
	}
	go m.history.run(ctx)
	return m
}

func (m *Manager) runningJobs() []Job {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []Job
	for _, r := range m.jobs {
		if r.job.State == Running {
			all = append(all, r.job.copy())
		}
	}
	return all
}

// keep has jobs stored soon.
func (h *history) keep(jobs ...Job) {
	if h == nil {
		return
	}
	h.mu.Lock()
	for _, job := range jobs {
		h.of(job.Tenant)[job.ID] = job
	}
	h.mu.Unlock()
	select {
	case h.wake <- struct{}{}:
	default: // it is awake already
	}
}

// of gives the jobs of a tenant that are to be stored; the lock is held.
func (h *history) of(tenant string) map[string]Job {
	if h.changed[tenant] == nil {
		h.changed[tenant] = map[string]Job{}
	}
	return h.changed[tenant]
}

// run stores what changes until the context ends.
func (h *history) run(ctx context.Context) {
	defer close(h.done)
	beat := time.NewTicker(signOfLife)
	defer beat.Stop()
	for {
		select {
		case <-h.wake:
			h.store(ctx)
		case <-beat.C:
			h.keep(h.running()...)
		case <-ctx.Done():
			return
		}
	}
}

// close stores what is left.
func (h *history) close() {
	if h == nil {
		return
	}
	h.stop()
	<-h.done
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	h.store(ctx)
}

// store writes what has changed; what cannot be written is tried again at the next sign of life.
func (h *history) store(ctx context.Context) {
	h.mu.Lock()
	changed := h.changed
	h.changed = map[string]map[string]Job{}
	h.mu.Unlock()
	for tenant, jobs := range changed {
		err := h.storeOf(ctx, tenant, jobs)
		if err == nil {
			continue
		}
		h.log.WarnContext(ctx, "jobs are not in the history yet", slog.Int("jobs", len(jobs)), slog.Any("error", err))
		h.mu.Lock()
		maps.Copy(jobs, h.of(tenant)) // which are newer
		h.changed[tenant] = jobs
		h.mu.Unlock()
	}
}

func refOf(tenant string) engine.RecordRef {
	return engine.RecordRef{Tenant: tenant, Kind: recordsKind, ID: recordsID}
}

func (h *history) storeOf(ctx context.Context, tenant string, jobs map[string]Job) error {
	var items []engine.RecordItem
	ended := false
	for id, job := range jobs {
		ended = ended || job.State != Running
		body, err := json.Marshal(&kept{Job: job, Gateway: h.gateway, Seen: time.Now().UTC(), Continues: job.Continues})
		if err != nil {
			return fault.Wrap(fault.Internal, err, "write job %q", id)
		}
		items = append(items, engine.RecordItem{Key: id, Body: body})
	}
	ref := refOf(tenant)
	err := engine.PutAllItems(ctx, h.keeper, ref, items)
	if fault.Is(err, fault.NotFound) { // the first of the tenant
		_, err = h.keeper.SaveRecords(ctx, engine.Records{RecordRef: ref, Head: json.RawMessage("{}")})
		if err == nil || fault.Is(err, fault.Conflict) {
			err = engine.PutAllItems(ctx, h.keeper, ref, items)
		}
	}
	if err != nil || !ended {
		return err
	}
	return h.forget(ctx, tenant)
}

// forget deletes jobs that are too old, or too many.
func (h *history) forget(ctx context.Context, tenant string) error {
	all, err := h.read(ctx, tenant)
	if err != nil {
		return err
	}
	var gone []string
	for i := range all {
		if i >= maxJobs || time.Since(all[i].UpdatedAt) > keptFor {
			gone = append(gone, all[i].ID)
		}
	}
	for ids := range slices.Chunk(gone, engine.MaxRecordBatch) {
		if _, err := h.keeper.DeleteItems(ctx, refOf(tenant), ids); err != nil {
			return err
		}
	}
	return nil
}

// read gives what is stored, the latest first.
func (h *history) read(ctx context.Context, tenant string) ([]kept, error) {
	var all []kept
	for item, err := range engine.AllItems(ctx, h.keeper, refOf(tenant), "") {
		if fault.Is(err, fault.NotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		k, err := open(tenant, &item)
		if err != nil {
			return nil, err
		}
		all = append(all, k)
	}
	slices.SortStableFunc(all, func(x, y kept) int { return y.StartedAt.Compare(x.StartedAt) })
	return all, nil
}

func open(tenant string, item *engine.RecordItem) (kept, error) {
	var k kept
	if err := json.Unmarshal(item.Body, &k); err != nil {
		return k, fault.Wrap(fault.Corrupt, err, "a stored job cannot be read")
	}
	k.Tenant, k.Job.Continues = tenant, k.Continues
	return k, nil
}

// errGatewayEnded is why a job failed that was running when its gateway ended.
var errGatewayEnded = fault.New(fault.Canceled, "the gateway ended before the job did")

// known is a stored job as it is shown: false for one whose work goes on elsewhere under its id, or did.
func (h *history) known(k *kept) (Job, bool) {
	elsewhere := h.alone && k.Gateway != h.gateway
	if k.State != Running || time.Since(k.Seen) <= silence && !elsewhere {
		return k.Job, true
	}
	k.State, k.FinishedAt, k.Errors = Failed, k.Seen, append(k.Errors, publicError(errGatewayEnded))
	return k.Job, !k.Continues
}

// All gives the tenant's jobs with those that are kept, also of other gateways and of before this one started, latest
// first and at most 1,000. Where they cannot be read it logs that and gives those of this gateway.
func (m *Manager) All(ctx context.Context, tenant string) []Job {
	list := m.List(tenant)
	if m.history == nil {
		return list
	}
	stored, err := m.history.read(ctx, tenant)
	if err != nil {
		m.history.log.WarnContext(ctx, "the history of jobs cannot be read", slog.Any("error", err))
		return list
	}
	here := make(map[string]bool, len(list))
	for i := range list {
		here[list[i].ID] = true
	}
	for i := range stored {
		k := &stored[i]
		if here[k.ID] || time.Since(k.UpdatedAt) > keptFor {
			continue
		}
		if job, shown := m.history.known(k); shown {
			list = append(list, job)
		}
	}
	slices.SortStableFunc(list, func(x, y Job) int { return y.StartedAt.Compare(x.StartedAt) })
	return list[:min(len(list), maxJobs)]
}

// Find gives a job of this gateway, or one that is kept; fault.NotFound when there is none.
func (m *Manager) Find(ctx context.Context, tenant, id string) (Job, error) {
	job, absent := m.Get(tenant, id)
	if absent == nil || m.history == nil || id == "" || len(id) > engine.MaxRecordKey {
		return job, absent
	}
	items, err := m.history.keeper.Items(ctx, refOf(tenant), engine.ItemPage{Prefix: id, Limit: 1})
	switch {
	case fault.Is(err, fault.NotFound), fault.Is(err, fault.InvalidArgument): // no job, or none that has such an id
		return Job{}, absent
	case err != nil:
		return Job{}, err
	case len(items) == 0 || items[0].Key != id:
		return Job{}, absent
	}
	k, err := open(tenant, &items[0])
	if err != nil {
		return Job{}, err
	}
	job, shown := m.history.known(&k)
	if !shown || time.Since(job.UpdatedAt) > keptFor {
		return Job{}, absent
	}
	return job, nil
}
