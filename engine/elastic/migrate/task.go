package migrate

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
)

// reindex lets Elasticsearch copy the documents, as a task that outlives this gateway.
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
	p, throttle := pace{}, m.Progress.Throttle
	for {
		t, err := s.getTask(ctx, m.Task)
		if fault.Is(err, fault.NotFound) { // with its node: start again, what was copied stays
			m.Task = ""
			return fault.Wrap(fault.Unavailable, err, "the task of the copy has gone with its node")
		}
		if err != nil {
			return err
		}
		if p.began.IsZero() { // what a task did before that was taken over is not of this time
			p = pace{time.Now(), t.done()}
		}
		p.update(m, t.done())
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
			p = pace{time.Now(), t.done()}
			if err := s.rethrottle(ctx, m); err != nil {
				return err
			}
		}
		select {
		case <-time.After(taskEvery):
		case <-ctx.Done():
			return rest.ContextFault(ctx)
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

// err returns the error of a task that has ended. After one, the migration needs a new task.
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

// getTask reads a task. It adds up the slices under way of a sliced one, whose own status
// counts only finished slices.
func (s *Steps) getTask(ctx context.Context, id string) (*task, error) {
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

// findTask finds a task whose id a gateway could not save before it ended.
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

// cancelTask cancels the copy and waits for its end; what it wrote is dropped with
// the index.
func (s *Steps) cancelTask(ctx context.Context, id string) {
	path := "/_tasks/" + url.PathEscape(id) + "/_cancel?wait_for_completion=true"
	var answer json.RawMessage
	_ = s.client.Change(ctx, rest.Post(path, nil), &answer) // a task that goes on fails once its index is gone
}
