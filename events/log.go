package events

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// Options of a Log. Folder and Keeper are required.
type Options struct {
	Folder string // of the spool, events.db; it must exist
	Keeper engine.RecordKeeper

	Text TextRule // of questions; Keep by default
	// HashKey is the key for hashing questions, which gateways of the same data must share; empty: one per folder.
	HashKey       string
	RetentionDays int    // after which searches and events are deleted; 0: 90
	SpoolBytes    int64  // that may wait to be stored; 0: 256 MiB
	Application   string // of searches

	Logger   *slog.Logger          // nil: nothing is logged
	Registry prometheus.Registerer // nil: nothing is counted
}

const (
	defaultRetention  = 90
	defaultSpoolBytes = 256 << 20

	queued       = 4096                  // searches that wait for the spool
	gatherFor    = 20 * time.Millisecond // until they are written together
	storeEvery   = time.Second           // an engine makes one visible write of what came in the meantime
	firstRetry   = time.Second
	longestRetry = time.Minute
	expireEvery  = time.Hour
)

// Log keeps searches and events of tenants. What it has taken is in a file, the spool, at once, and moved to the
// records of an engine from there: a collection of each tenant and day of the searches, whose items are searches and
// events by the id of the search, so that both are read by one walk, and what is sent again is stored once.
//
// It is safe for concurrent use. Run stores what came; without it Read does.
type Log struct {
	options Options
	log     *slog.Logger
	spool   *spool
	metrics *metrics
	secret  []byte
	now     func() time.Time

	queue  chan recorded
	moving chan struct{} // has one while somebody moves what is spooled
}

// recorded is a search on its way to the spool.
type recorded struct {
	tenant string
	query  *Query
}

// Accepted is the result of a batch.
type Accepted struct {
	Accepted int `json:"accepted" minimum:"0" doc:"Events that were taken; those of the same query and event_id count once."`
}

// Open opens the spool, with what an earlier process has left there. The store need not be there.
func Open(ctx context.Context, o Options) (*Log, error) {
	o.RetentionDays = cmp.Or(o.RetentionDays, defaultRetention)
	o.SpoolBytes = cmp.Or(o.SpoolBytes, defaultSpoolBytes)
	o.Text = cmp.Or(o.Text, Keep)
	if err := o.Text.check(); err != nil {
		return nil, err
	}
	spooled, err := openSpool(ctx, o.Folder, o.SpoolBytes)
	if err != nil {
		return nil, err
	}
	l := &Log{
		options: o, log: o.Logger, spool: spooled, metrics: newMetrics(o.Registry, spooled), secret: []byte(o.HashKey),
		now: time.Now, queue: make(chan recorded, queued), moving: make(chan struct{}, 1),
	}
	if l.log == nil {
		l.log = slog.New(slog.DiscardHandler)
	}
	if len(l.secret) == 0 {
		if l.secret, err = spooled.secret(ctx); err != nil {
			return nil, fault.Wrap(fault.KindOf(err), cmp.Or(spooled.close(), err), "open the log of events")
		}
	}
	return l, nil
}

// Close writes what was recorded to the spool and closes it. Call it when Run has returned.
func (l *Log) Close() error {
	l.spoolRecorded(context.Background())
	return l.spool.close()
}

// Run spools what is recorded, stores what is spooled and deletes what is too old, until the context ends.
func (l *Log) Run(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.runSpool(ctx)
	}()
	l.runStore(ctx)
	<-done
}

func (l *Log) runSpool(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case r := <-l.queue:
			select {
			case <-ctx.Done():
			case <-time.After(gatherFor):
			}
			l.spoolRecorded(ctx, r)
		}
	}
}

func (l *Log) runStore(ctx context.Context) {
	expire := time.NewTimer(0)
	defer expire.Stop()
	retry := firstRetry
	for {
		select {
		case <-ctx.Done():
			return
		case <-expire.C:
			l.expireLogged(ctx)
			expire.Reset(expireEvery)
			continue
		case <-l.spool.filled:
		}
		wait := storeEvery
		if err := l.store(ctx); err != nil {
			if ctx.Err() != nil {
				return
			}
			l.metrics.failures.Inc()
			l.log.Warn("events could not be stored; they wait in the spool", "error", err, "again_in", retry.String())
			l.spool.tell()
			wait, retry = retry, min(2*retry, longestRetry)
		} else {
			retry = firstRetry
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// Record keeps a search, which must not change afterwards. It never waits and never fails: a search that finds no
// room is counted as dropped.
func (l *Log) Record(tenant string, q *Query) {
	select {
	case l.queue <- recorded{tenant, q}:
	default:
		l.metrics.dropped.WithLabelValues(ofQueries, droppedQueue).Inc()
	}
}

// spoolRecorded writes what is in the queue, after what was taken from it. What cannot be written is counted.
func (l *Log) spoolRecorded(ctx context.Context, first ...recorded) {
	var rows batches
	searches := 0
	add := func(r recorded) {
		body, err := encode(r.query)
		if err != nil || len(body) > engine.MaxRecordBody {
			l.metrics.dropped.WithLabelValues(ofQueries, droppedRefused).Inc()
			return
		}
		searches++
		day := keptUnder(r.query.QueryID, r.query.Timestamp, l.oldest())
		rows.add(r.tenant, day, keyOf(r.query.QueryID, ""), body)
	}
	for _, r := range first {
		add(r)
	}
	for range len(l.queue) {
		select {
		case r := <-l.queue:
			add(r)
		default: // another took it
		}
	}
	if searches == 0 {
		return
	}
	if err := l.spool.put(context.WithoutCancel(ctx), rows.all); err != nil {
		l.metrics.dropped.WithLabelValues(ofQueries, droppedSpool).Add(float64(searches))
		l.log.Warn("searches are missing in the log of events", "searches", searches, "error", err)
		return
	}
	l.metrics.accepted.WithLabelValues(ofQueries).Add(float64(searches))
}

// Accept takes events of a tenant, all or none: when it returns they are in the spool, which outlives the process, and
// those that come again count once. Errors name the event and the member; fault.Unavailable: the spool is full.
func (l *Log) Accept(ctx context.Context, tenant string, events []Event) (Accepted, error) {
	if n := len(events); n < 1 || n > MaxBatch {
		return Accepted{}, fault.Invalid("events", fault.Length(n), fmt.Sprintf("a list of 1 to %d events", MaxBatch))
	}
	oldest := l.oldest()
	during := span{oldest: oldest, latest: l.now().Add(clockSkew)}
	var rows batches
	seen := make(map[string]bool, len(events))
	size := 0
	for i := range events {
		e := events[i]
		if err := e.check(fmt.Sprintf("events[%d].", i), during); err != nil {
			return Accepted{}, err
		}
		e.Timestamp = e.Timestamp.UTC()
		if l.options.Text != Keep {
			e.UserQuery = ""
		}
		body, err := encode(&e)
		if err != nil {
			return Accepted{}, fault.Wrap(fault.Internal, err, "write an event")
		}
		if size += len(body); size > MaxBatchBytes {
			return Accepted{}, &fault.Error{
				Kind: fault.TooLarge, Field: "events",
				Detail: fmt.Sprintf("the events are more than %d bytes of JSON; send them in smaller batches", MaxBatchBytes),
			}
		}
		key := keyOf(e.QueryID, e.EventID)
		seen[key] = true
		rows.add(tenant, keptUnder(e.QueryID, e.Timestamp, oldest), key, body)
	}
	if err := l.spool.put(ctx, rows.all); err != nil {
		l.metrics.dropped.WithLabelValues(ofEvents, droppedSpool).Add(float64(len(seen)))
		return Accepted{}, err
	}
	l.metrics.accepted.WithLabelValues(ofEvents).Add(float64(len(seen)))
	return Accepted{len(seen)}, nil
}

// encode writes a search or an event as it is stored.
func encode(value any) ([]byte, error) {
	var to bytes.Buffer
	encoder := json.NewEncoder(&to)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(to.Bytes(), []byte("\n")), nil
}

// oldest is the beginning of what is kept.
func (l *Log) oldest() time.Time { return startOf(l.now().AddDate(0, 0, -l.options.RetentionDays)) }
