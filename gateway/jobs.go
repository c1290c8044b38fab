package gateway

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/catalog/jobs"
	"github.com/hybridge-search/hybridge/catalog/migration"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/locale"
)

// Jobs are long-running tasks.
type Jobs interface {
	Start(job jobs.Job, work jobs.Work) (jobs.Job, error)
	Find(ctx context.Context, tenant, id string) (jobs.Job, error)
	List(tenant string) []jobs.Job
	All(ctx context.Context, tenant string) []jobs.Job
	Cancel(tenant, id string) (jobs.Job, error)
	Watch(ctx context.Context, tenant, id string, see func(jobs.Job) error) error
}

// JobList lists the jobs that the key may see.
type JobList struct {
	Jobs []jobs.Job `json:"jobs" doc:"Latest first, of the last 90 days, at most 1,000; of all gateways of the same data."`
}

type jobInput struct {
	Job string `path:"job" doc:"Id of the job."`
}

const (
	jobsTag = "jobs"
	jobPath = "/v1/jobs/{job}"
	// streamTime is how long events are sent over one connection. Clients reconnect, as a
	// browser's EventSource does by itself.
	streamTime = 100 * time.Second
)

// jobService tells of long work, and cancels it.
type jobService struct {
	api      *endpoint.API
	jobs     Jobs     // nil: there are none
	mappings Mappings // nil: they are not managed
}

func (s *jobService) register() {
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodGet, Path: "/v1/jobs", Tag: jobsTag, Access: endpoint.Reads, Role: keys.Operate,
		ID: "list-jobs", Summary: "List jobs",
		About: "Jobs of the tenant, the newest first. Those that have ended are kept for 90 days, at most 1,000; one " +
			"that was running when its gateway ended has failed, unless its work goes on, as migrations do.",
	}, s.list)
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodGet, Path: jobPath, Tag: jobsTag, Access: endpoint.Reads, Role: keys.Operate,
		ID: "get-job", Summary: "State, progress and errors of a job",
		About: "How far it is, what it has done, and why it failed.",
	}, s.get)
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodPost, Path: jobPath + "/cancel", Tag: jobsTag, Access: endpoint.Governs, Role: keys.Operate,
		Status: http.StatusAccepted, ID: "cancel-job", Summary: "Cancel a job",
		About: "A job that runs ends at its next step and leaves behind what its kind promises; one that has " +
			"ended stays as it is.",
	}, s.cancel)
	s.jobEvents()
}

func (s *jobService) list(ctx context.Context, scope access.Scope, _ *struct{}) (*JobList, error) {
	answer := &JobList{Jobs: []jobs.Job{}}
	if s.jobs == nil {
		return answer, nil
	}
	for _, job := range s.jobs.All(ctx, scope.Tenant) {
		if visible(scope, job) {
			answer.Jobs = append(answer.Jobs, job)
		}
	}
	return answer, nil
}

// visible reports whether the key may see the knowledge base of a job.
func visible(scope access.Scope, job jobs.Job) bool {
	return job.KnowledgeBase == "" || scope.Allows(job.KnowledgeBase)
}

func (s *jobService) get(ctx context.Context, scope access.Scope, in *jobInput) (*jobs.Job, error) {
	job, err := s.job(ctx, scope, in.Job)
	return &job, err
}

func (s *jobService) job(ctx context.Context, scope access.Scope, id string) (jobs.Job, error) {
	absent := fault.New(fault.NotFound, "there is no such job")
	if s.jobs == nil {
		return jobs.Job{}, absent
	}
	job, err := s.jobs.Find(ctx, scope.Tenant, id)
	if err == nil && !visible(scope, job) {
		return jobs.Job{}, absent
	}
	return job, err
}

// cancel cancels a migration through Mappings, which can undo it.
func (s *jobService) cancel(ctx context.Context, scope access.Scope, in *jobInput) (*jobs.Job, error) {
	job, err := s.job(ctx, scope, in.Job)
	if err != nil {
		return nil, err
	}
	if job.Kind == migration.JobKind && s.mappings != nil {
		if _, err := s.mappings.Direct(ctx, callerOf(ctx, scope), job.KnowledgeBase, migration.Cancel); err != nil {
			return nil, err
		}
		return s.get(ctx, scope, in)
	}
	cancelled, err := s.jobs.Cancel(scope.Tenant, in.Job)
	if fault.Is(err, fault.NotFound) { // of another gateway, or of before this one started
		if job.State != jobs.Running {
			return &job, nil
		}
		err = fault.New(fault.Conflict, "job %q runs at another gateway; cancel it there", in.Job)
	}
	return &cancelled, err
}

// jobEvents adds the route that sends a job as server-sent events: one at once and one at
// each change, until the job has ended.
func (s *jobService) jobEvents() {
	r := endpoint.Route{
		Method: http.MethodGet, Path: jobPath + "/events", Tag: jobsTag, Access: endpoint.Reads,
		ID: "job-events", Summary: "Progress of a job as server-sent events",
		About: "Each event is named job and its data is the job. The stream ends with the job, or after 100 seconds: " +
			"ask again, as EventSource does.",
	}
	in := s.api.Document.InputOf(reflect.TypeFor[jobInput]())
	op := s.api.Document.Operation(&r, in)
	op.Responses["200"] = &huma.Response{
		Description: http.StatusText(http.StatusOK),
		Content:     map[string]*huma.MediaType{endpoint.EventStream: {Schema: &huma.Schema{Type: "string"}}},
	}
	s.api.Document.AddOperation(op)
	s.api.Mount(&r, func(ctx context.Context, scope access.Scope, c *fiber.Ctx) error {
		var input jobInput
		if err := in.Bind(c, &input, 0); err != nil {
			return err
		}
		if _, err := s.job(ctx, scope, input.Job); err != nil {
			return err
		}
		c.Set(fiber.HeaderContentType, endpoint.EventStream)
		c.Set("X-Accel-Buffering", "no") // a proxy must not buffer them
		stream := jobStream{tenant: scope.Tenant, job: input.Job, language: endpoint.LanguageOf(c)}
		c.Context().SetBodyStreamWriter(func(w *bufio.Writer) { s.sendEvents(w, stream) })
		return nil
	})
}

// heartbeat is how often a silent stream is written to, as only a write shows that the client
// has gone.
const heartbeat = 5 * time.Second

// jobStream is a stream's job and language.
type jobStream struct {
	tenant, job string
	language    *locale.Language
}

// sendEvents runs after the handler has returned, until the job has ended, the stream's time
// is over, the server stops or the client has gone.
func (s *jobService) sendEvents(w *bufio.Writer, of jobStream) {
	ctx, cancel := context.WithTimeout(s.api.Base, streamTime)
	defer cancel()
	if _, err := io.WriteString(w, "retry: 1000\n\n"); err != nil {
		return
	}
	for ctx.Err() == nil && !s.api.Draining.Load() {
		wait, stop := context.WithTimeout(ctx, heartbeat)
		err := s.jobs.Watch(wait, of.tenant, of.job, func(job jobs.Job) error {
			if err := endpoint.NewEvent("job", job).Write(w, of.language); err != nil {
				return err
			}
			return w.Flush()
		})
		stop()
		if !errors.Is(err, context.DeadlineExceeded) {
			return // the job ended, or the client has gone
		}
	}
}
