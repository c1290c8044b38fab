package migrate

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/engine/elastic/storage"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/mappings"
)

// createStep makes the new index, to be filled: it is refreshed when it is
// asked for, and remembers deletions for longer than a copy can be behind.
func (s *Steps) createStep(ctx context.Context, m *engine.Migration, env engine.MigrationEnv) error {
	if m.ToIndex == "" {
		if err := s.number(ctx, m); err != nil {
			return err
		}
		m.ToIndex = s.store.Index(&m.Plan.Wanted)
		m.Replayed = -1
		if err := env.Save(ctx); err != nil {
			return err
		}
	}
	index, err := s.store.DesiredIndex(&m.Plan.Wanted)
	if err != nil {
		return err
	}
	index.Settings.Index.RefreshInterval = "-1"
	err = s.store.EnsureIndex(ctx, m.ToIndex, index)
	if fault.Is(err, fault.InvalidArgument) && mappings.NeedsIK(m.Plan.Wanted.Analyzer) {
		return storage.MissingIK(m.Plan.Wanted.Analyzer, err)
	}
	if err != nil {
		return err
	}
	return s.setIndex(ctx, m.ToIndex, map[string]any{"index.gc_deletes": "1h"})
}

// versionRoom is for the writes of one migration.
const versionRoom = 1 << 32

// number gives the migration a generation that never was, and versions above all
// that there are: microseconds since 1970 go up faster than anybody writes.
func (s *Steps) number(ctx context.Context, m *engine.Migration) error {
	last, err := s.lastGeneration(ctx, &m.From)
	if err != nil {
		return err
	}
	m.Base = time.Now().UnixMicro()
	before, err := s.store.MigrationHistory(ctx, m.Ref, 1)
	if err != nil {
		return err
	}
	if len(before) > 0 {
		last = max(last, before[0].Plan.Wanted.Generation)
		m.Base = max(m.Base, before[0].Base+versionRoom)
	}
	m.Plan.Wanted.Generation = last + 1
	return nil
}

// lastGeneration finds the highest that an index exists of.
func (s *Steps) lastGeneration(ctx context.Context, kb *engine.KnowledgeBase) (int, error) {
	name := s.store.Alias(kb)
	live, err := s.liveIndices(ctx, name+"-v*,"+name+"-log-v*")
	if err != nil && !fault.Is(err, fault.NotFound) {
		return 0, err
	}
	last := kb.Generation
	for index := range maps.Keys(live) {
		if n, err := strconv.Atoi(index[strings.LastIndex(index, "-v")+2:]); err == nil {
			last = max(last, n)
		}
	}
	return last, nil
}

// fenceStep begins the change log. Whoever does not know of it writes to an
// alias that takes no writes from now on; the block in between waits for writes
// that are under way.
func (s *Steps) fenceStep(ctx context.Context, m *engine.Migration, env engine.MigrationEnv) error {
	log := strings.Replace(m.ToIndex, s.store.Alias(&m.From), s.store.Alias(&m.From)+"-log", 1)
	if err := s.store.EnsureIndex(ctx, log, mappings.ChangeLog()); err != nil {
		return err
	}
	m.Log = log
	if err := env.Save(ctx); err != nil {
		return err
	}
	name := s.store.Alias(&m.From)
	live, err := s.liveIndices(ctx, name)
	if err != nil {
		return err
	}
	if len(live) != 1 || live[m.FromIndex] == nil {
		return manyIndices(name, live)
	}
	err = s.aliases(ctx,
		aliasAction{Add: &aliasOf{Index: m.FromIndex, Alias: name, Write: new(false)}},
		aliasAction{Add: &aliasOf{Index: m.FromIndex, Alias: s.store.WriteAlias(&m.From), Write: new(false)}},
	)
	if err != nil {
		return err
	}
	if err := s.block(ctx, m.FromIndex); err != nil {
		return err
	}
	if m.Fence, err = s.written(ctx, m.FromIndex); err != nil {
		return err
	}
	m.Plan.Diff.Digest = liveDigest(m.FromIndex, live[m.FromIndex])
	if err := env.Save(ctx); err != nil {
		return err
	}
	if err := s.unblock(ctx, m.FromIndex); err != nil {
		return err
	}
	return s.refreshIndex(ctx, m.FromIndex)
}

// written gives the highest sequence number of every shard of an index, by the
// shard's number: each counts for itself.
func (s *Steps) written(ctx context.Context, index string) ([]int64, error) {
	var stats struct {
		Indices map[string]struct {
			Shards map[string][]shardCopy `json:"shards"`
		} `json:"indices"`
	}
	if err := s.client.Read(ctx, rest.Get(rest.IndexPath(index, "_stats/docs?level=shards")), &stats); err != nil {
		return nil, err
	}
	var settings map[string]struct {
		Settings map[string]string `json:"settings"`
	}
	const shardCount = "index.number_of_shards"
	path := rest.IndexPath(index, "_settings/"+shardCount+"?flat_settings")
	if err := s.client.Read(ctx, rest.Get(path), &settings); err != nil {
		return nil, err
	}
	count, err := strconv.Atoi(settings[index].Settings[shardCount])
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "read how many shards index %s has", index)
	}
	all := make([]int64, count)
	for shard := range all {
		copies := stats.Indices[index].Shards[strconv.Itoa(shard)]
		i := slices.IndexFunc(copies, func(c shardCopy) bool { return c.Routing.Primary })
		if i < 0 {
			return nil, fault.New(fault.Unavailable, "shard %d of index %s is not there", shard, index)
		}
		all[shard] = copies[i].SeqNo.Max
	}
	return all, nil
}

// shardCopy is a copy of a shard in _stats.
type shardCopy struct {
	Routing struct {
		Primary bool `json:"primary"`
	} `json:"routing"`
	SeqNo struct {
		Max int64 `json:"max_seq_no"`
	} `json:"seq_no"`
}

// copyStep brings the documents into the new index.
func (s *Steps) copyStep(ctx context.Context, m *engine.Migration, env engine.MigrationEnv) error {
	if err := s.countTotal(ctx, m); err != nil {
		return err
	}
	if m.Plan.Diff.Copy == engine.CopyReindex {
		return s.reindex(ctx, m, env)
	}
	return s.rebuild(ctx, m, env)
}

func (s *Steps) countTotal(ctx context.Context, m *engine.Migration) error {
	n, err := s.countAll(ctx, m.FromIndex)
	m.Progress.Total = n
	return err
}

func (s *Steps) countAll(ctx context.Context, index string) (int, error) {
	var answer struct {
		Count int `json:"count"`
	}
	err := s.client.Read(ctx, rest.Get(rest.IndexPath(index, "_count")), &answer)
	return answer.Count, err
}

// pace measures a copy.
type pace struct {
	began time.Time
	done  int
}

func (p *pace) tell(m *engine.Migration, done int) {
	m.Progress.Done = done
	if seconds := time.Since(p.began).Seconds(); seconds > 0 {
		m.Progress.Rate = float64(done-p.done) / seconds
	}
	m.Progress.Remaining = 0
	if m.Progress.Rate > 0 {
		m.Progress.Remaining = float64(max(0, m.Progress.Total-done)) / m.Progress.Rate
	}
}

const (
	copyPage  = 200 // documents that are rebuilt at a time
	taskEvery = 300 * time.Millisecond
)

// rebuild makes the documents anew, in the order of their ids. Where it was cut
// short it goes on after the last id.
func (s *Steps) rebuild(ctx context.Context, m *engine.Migration, env engine.MigrationEnv) error {
	from, to := s.store.Sides(m)
	p := pace{time.Now(), m.Progress.Done}
	if m.Cursor == "" {
		p.done, m.Progress.Done = 0, 0
	}
	for {
		search := page{Search: esquery.Search{
			Query: esquery.MatchAll{}, Size: copyPage, Sort: ascending(mappings.FieldID), WholeSource: true,
		}}
		if m.Cursor != "" {
			search.SearchAfter = []any{m.Cursor}
		}
		docs, err := s.read(ctx, from.Index, search)
		if err != nil || len(docs) == 0 {
			return err
		}
		made, err := s.transform(ctx, m, from, to, docs)
		if err != nil {
			return err
		}
		ops := make([]storage.Operation, len(docs))
		for i := range docs {
			ops[i] = storage.Versioned(to.Index, docs[i].ID, docs[i].Version, made[i])
		}
		if err := s.store.Apply(ctx, ops); err != nil {
			return err
		}
		m.Cursor, _ = docs[len(docs)-1].Sort[0].(string)
		p.tell(m, m.Progress.Done+len(docs))
		if err := env.Save(ctx); err != nil {
			return err
		}
		if err := p.hold(ctx, m); err != nil {
			return err
		}
	}
}

// hold waits until the rate is within the limit.
func (p *pace) hold(ctx context.Context, m *engine.Migration) error {
	if m.Progress.Throttle <= 0 {
		return nil
	}
	due := time.Duration(float64(m.Progress.Done-p.done) / m.Progress.Throttle * float64(time.Second))
	select {
	case <-time.After(min(due-time.Since(p.began), 5*time.Second)):
		return nil
	case <-ctx.Done():
		return rest.GivenUp(ctx)
	}
}

// reindex lets Elasticsearch copy, as a task that outlives this gateway.
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/docs-reindex.html
func (s *Steps) reindex(ctx context.Context, m *engine.Migration, env engine.MigrationEnv) error {
	if m.Task == "" {
		found, err := s.findTask(ctx, m)
		if err != nil {
			return err
		}
		if found == "" {
			found, err = s.startTask(ctx, m)
		}
		if err != nil {
			return err
		}
		m.Task = found
		if err := env.Save(ctx); err != nil {
			return err
		}
	}
	p := pace{began: time.Now(), done: m.Progress.Done}
	throttle := m.Progress.Throttle
	for {
		t, err := s.task(ctx, m.Task)
		if fault.Is(err, fault.NotFound) { // its node has ended: begin again, what is there stays
			m.Task = ""
			return fault.Wrap(fault.Unavailable, err, "the task of the copy has gone with its node")
		}
		if err != nil {
			return err
		}
		p.tell(m, t.done())
		err = env.Save(ctx)
		switch {
		case fault.Is(err, fault.Canceled):
			s.cancelTask(ctx, m.Task)
			return err
		case err != nil:
			return err
		case t.Completed:
			return t.err(m)
		}
		if m.Progress.Throttle != throttle {
			throttle = m.Progress.Throttle
			if err := s.rethrottle(ctx, m); err != nil {
				return err
			}
		}
		select {
		case <-time.After(taskEvery):
		case <-ctx.Done():
			return rest.GivenUp(ctx)
		}
	}
}

// task is a _reindex under way.
type task struct {
	Completed bool          `json:"completed"`
	Task      taskInfo      `json:"task"`
	Error     *rest.Refusal `json:"error"`
	Response  taskOutcome   `json:"response"`
	children  int
}

type taskInfo struct {
	Node        string     `json:"node"`
	ID          int64      `json:"id"`
	Description string     `json:"description"`
	Status      taskStatus `json:"status"`
}

type taskStatus struct {
	Created   int          `json:"created"`
	Updated   int          `json:"updated"`
	Conflicts int          `json:"version_conflicts"`
	Slices    []taskStatus `json:"slices"`
}

type taskOutcome struct {
	taskStatus
	Failures []struct {
		Status int           `json:"status"`
		Cause  *rest.Refusal `json:"cause"`
		Reason *rest.Refusal `json:"reason"` // of a search
	} `json:"failures"`
	Canceled string `json:"canceled"`
}

func (s *taskStatus) done() int { return s.Created + s.Updated + s.Conflicts }

func (t *task) done() int {
	if t.Completed {
		return t.Response.done()
	}
	return max(t.Task.Status.done(), t.children)
}

// err of a task that has ended.
func (t *task) err(m *engine.Migration) error {
	switch {
	case t.Error != nil:
		m.Task = ""
		return t.Error.Fault(http.StatusInternalServerError)
	case len(t.Response.Failures) > 0:
		m.Task = ""
		f := &t.Response.Failures[0]
		if f.Cause == nil {
			return fault.Wrap(fault.Unavailable, f.Reason, "the old index could not be read to its end")
		}
		return f.Cause.Fault(f.Status)
	case t.Response.Canceled != "":
		m.Task = ""
		return fault.New(fault.Conflict, "somebody cancelled the task of the copy; resume the migration")
	}
	return nil
}

// task asks for a task and, for one of slices, for those under way: the parent
// counts only what slices have ended with.
func (s *Steps) task(ctx context.Context, id string) (*task, error) {
	var t task
	if err := s.client.Read(ctx, rest.Get("/_tasks/"+url.PathEscape(id)), &t); err != nil || t.Completed {
		return &t, err
	}
	var children struct {
		Nodes map[string]struct {
			Tasks map[string]taskInfo `json:"tasks"`
		} `json:"nodes"`
	}
	path := "/_tasks?detailed&actions=*reindex&parent_task_id=" + url.QueryEscape(id)
	if err := s.client.Read(ctx, rest.Get(path), &children); err != nil {
		return nil, err
	}
	t.children = t.Task.Status.done()
	for _, node := range children.Nodes {
		for _, child := range node.Tasks {
			t.children += child.Status.done()
		}
	}
	return &t, nil
}

// findTask finds the task of a gateway that ended before it could note its id.
func (s *Steps) findTask(ctx context.Context, m *engine.Migration) (string, error) {
	var answer struct {
		Nodes map[string]struct {
			Tasks map[string]taskInfo `json:"tasks"`
		} `json:"nodes"`
	}
	if err := s.client.Read(ctx, rest.Get("/_tasks?detailed&actions=indices:data/write/reindex"), &answer); err != nil {
		return "", err
	}
	for _, node := range answer.Nodes {
		for id, t := range node.Tasks {
			if strings.Contains(t.Description, "["+m.FromIndex+"]") && strings.Contains(t.Description, "["+m.ToIndex+"]") {
				return id, nil
			}
		}
	}
	return "", nil
}

type reindexBody struct {
	Conflicts string `json:"conflicts"`
	Source    struct {
		Index string `json:"index"`
		Size  int    `json:"size"`
	} `json:"source"`
	Dest struct {
		Index       string `json:"index"`
		VersionType string `json:"version_type"`
	} `json:"dest"`
}

func (s *Steps) startTask(ctx context.Context, m *engine.Migration) (string, error) {
	body := reindexBody{Conflicts: "proceed"}
	body.Source.Index, body.Source.Size = m.FromIndex, copyPage
	body.Dest.Index, body.Dest.VersionType = m.ToIndex, esquery.External
	params := url.Values{"wait_for_completion": {"false"}, "slices": {"auto"}}
	if m.Plan.Options.Slices > 0 {
		params.Set("slices", strconv.Itoa(m.Plan.Options.Slices))
	}
	if m.Progress.Throttle > 0 {
		params.Set("requests_per_second", perSecond(m))
	}
	request := rest.PostJSON("/_reindex?"+params.Encode(), body)
	var answer struct {
		Task string `json:"task"`
	}
	err := s.client.Change(ctx, request, &answer)
	return answer.Task, err
}

func perSecond(m *engine.Migration) string {
	if m.Progress.Throttle <= 0 {
		return "-1"
	}
	return strconv.FormatFloat(m.Progress.Throttle, 'f', -1, 64)
}

func (s *Steps) rethrottle(ctx context.Context, m *engine.Migration) error {
	path := fmt.Sprintf("/_reindex/%s/_rethrottle?requests_per_second=%s", url.PathEscape(m.Task), perSecond(m))
	return s.client.Change(ctx, rest.Post(path, nil), nil)
}

// cancelTask ends the copy and waits for its end; what it wrote is dropped with
// the index.
func (s *Steps) cancelTask(ctx context.Context, id string) {
	path := "/_tasks/" + url.PathEscape(id) + "/_cancel?wait_for_completion=true"
	var answer json.RawMessage
	_ = s.client.Change(ctx, rest.Post(path, nil), &answer) // else it fails without its index
}

func (s *Steps) replayStep(ctx context.Context, m *engine.Migration, env engine.MigrationEnv) error {
	return s.replay(ctx, m, env.Save)
}
