package quality

import (
	"context"
	"net/http"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/evaluation/clicks"
	"github.com/hybridge-search/hybridge/events"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
)

// Events keeps searches and what users did with their answers.
type Events interface {
	Accept(ctx context.Context, tenant string, batch []events.Event) (events.Accepted, error)
	DeleteClient(ctx context.Context, tenant, client string) (events.Deleted, error)
	Analytics(ctx context.Context, scope access.Scope, req events.AnalyticsRequest) (*events.Analytics, error)
}

// Clicks makes judgments of clicks.
type Clicks interface {
	Judge(ctx context.Context, scope access.Scope, req clicks.Request) (*clicks.Report, error)
}

// EventBatch are events that are sent together.
type EventBatch struct {
	Events []events.Event `json:"events" minItems:"1" maxItems:"1000" doc:"All are taken, or none; at most 1 MiB."`
}

type postEventsInput struct {
	Body EventBatch
}

type deleteEventsInput struct {
	Client string `query:"client_id" doc:"Whose searches and events are deleted."`
}

type analyticsInput struct {
	From  string `query:"from" doc:"Time (RFC 3339) or day from which on searches are counted; the default is 7 days before to."`
	To    string `query:"to" doc:"Time or day up to which; the default is now."`
	KB    string `query:"knowledge_base" doc:"Searches of this knowledge base alone."`
	Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"20" doc:"Rows of each list at most."`
}

const (
	eventsPath = "/v1/events"
	eventsTag  = "events"
)

var errNoEvents = fault.New(fault.Unsupported,
	"this gateway logs neither searches nor events; events.enabled of its configuration turns that on")

func registerEvents(api *endpoint.API, log Events, judge Clicks) {
	logged, judged := endpoint.Need(log, errNoEvents), endpoint.Need(judge, errNoEvents)
	endpoint.RegisterWith(api, logged, endpoint.Route{
		Method: http.MethodPost, Path: eventsPath, Tag: eventsTag, Access: endpoint.Reads, Status: http.StatusAccepted,
		BodyBytes: events.MaxBatchBytes, ID: "post-events", Summary: "Tell what users did with answers",
		About: "Impressions, clicks, dwell times, conversions and others, in the schema of User Behavior Insights 1.3 with " +
			"an event_id, by which an event that is sent again counts once. They are safe on disk when the answer comes, " +
			"also while the store is away. One that is wrong refuses the batch, and is named. Events on a query that is not " +
			"in the log, as one of another tenant, are kept and counted as orphans.",
	}, postEvents)
	endpoint.RegisterWith(api, logged, endpoint.Route{
		Method: http.MethodDelete, Path: eventsPath, Tag: eventsTag, Access: endpoint.Governs, Role: keys.Manage,
		ID: "delete-events", Summary: "Delete what is logged of a client",
		About: "Its searches with all events on them, and its events on searches of others. It needs a key of all " +
			"knowledge bases. Ask again later where another gateway had events that were not stored yet.",
	}, deleteEvents)
	endpoint.RegisterWith(api, logged, endpoint.Route{
		Method: http.MethodGet, Path: eventsPath + "/analytics", Tag: eventsTag, Access: endpoint.Reads, Role: keys.Manage,
		Whole: true, Timeout: api.Limits.Ingest, ID: "analyze-events", Summary: "What users searched for, and what changed",
		About: "Totals, and the questions that were asked most, that found nothing, whose hits were all refused by a " +
			"threshold, that were slow, and that were put in other words; each beside the period of equal length before. " +
			"A key that is bound to knowledge bases sees searches of these alone.",
	}, analyzeEvents)
	endpoint.RegisterWith(api, judged, endpoint.Route{
		Method: http.MethodPost, Path: eventsPath + "/judgments", Tag: eventsTag, Access: endpoint.Governs, Role: keys.Manage,
		Timeout: api.Limits.Ingest, ID: "judge-clicks", Summary: "Make judgments of clicks",
		About: "By the simplified dynamic Bayesian network of Chapelle and Zhang (2009), which takes out where hits stood: " +
			"a hit is as relevant as often as it was the last click of those who read it. The questions become a query set, " +
			"the grades a judgment list of source clicks; nothing is made where clicks say nothing.",
	}, withBody(Clicks.Judge))
}

func postEvents(ctx context.Context, e Events, scope access.Scope, in *postEventsInput) (*events.Accepted, error) {
	accepted, err := e.Accept(ctx, scope.Tenant, in.Body.Events)
	return &accepted, err
}

func deleteEvents(ctx context.Context, e Events, scope access.Scope, in *deleteEventsInput) (*events.Deleted, error) {
	if scope.KnowledgeBases != nil {
		return nil, fault.New(fault.Forbidden, "this key is bound to knowledge bases; events of a client are of all of them")
	}
	deleted, err := e.DeleteClient(ctx, scope.Tenant, in.Client)
	return &deleted, err
}

func analyzeEvents(ctx context.Context, e Events, scope access.Scope, in *analyticsInput) (*events.Analytics, error) {
	req := events.AnalyticsRequest{KnowledgeBase: in.KB, Limit: in.Limit}
	var err error
	if req.From, err = timeParameter("from", in.From); err != nil {
		return nil, err
	}
	if req.To, err = timeParameter("to", in.To); err != nil {
		return nil, err
	}
	return e.Analytics(ctx, scope, req)
}

// timeParameter reads a time, or a day in UTC; the zero time where there is none.
func timeParameter(name, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fault.Invalid(name, text, "a time as 2026-11-28T12:00:00Z, or a day as 2026-11-28")
}
