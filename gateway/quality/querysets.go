package quality

import (
	"context"
	"net/http"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/access/keys"
	files "github.com/hybridge-search/hybridge/evaluation/exchange"
	"github.com/hybridge-search/hybridge/evaluation/library"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
)

// Library keeps query sets and judgments.
type Library interface {
	QuerySets(ctx context.Context, scope access.Scope) ([]library.QuerySet, error)
	QuerySet(ctx context.Context, scope access.Scope, set string) (*library.QuerySet, error)
	SaveQuerySet(
		ctx context.Context, scope access.Scope, set string, spec library.QuerySetSpec, base *int64,
	) (*library.QuerySet, error)
	DeleteQuerySet(ctx context.Context, scope access.Scope, set string) error
	Queries(ctx context.Context, scope access.Scope, set, after string, limit int) ([]library.Query, string, error)
	PutQueries(
		ctx context.Context, scope access.Scope, set string, queries []library.Query, replace bool,
	) (*library.Outcome, error)
	DeleteQueries(ctx context.Context, scope access.Scope, set string, ids []string) (int, error)

	JudgmentLists(ctx context.Context, scope access.Scope, set string) ([]library.JudgmentList, error)
	JudgmentList(ctx context.Context, scope access.Scope, list string) (*library.JudgmentList, error)
	SaveJudgmentList(
		ctx context.Context, scope access.Scope, list string, spec library.JudgmentListSpec, base *int64,
	) (*library.JudgmentList, error)
	DeleteJudgmentList(ctx context.Context, scope access.Scope, list string) error
	Judgments(
		ctx context.Context, scope access.Scope, list string, page library.JudgmentPage,
	) ([]library.Judgment, string, error)
	PutJudgments(
		ctx context.Context, scope access.Scope, list string, judgments []library.Judgment, onlyNew bool,
	) (*library.Outcome, error)
	DeleteJudgments(ctx context.Context, scope access.Scope, list string, of []library.Judgment) (int, error)

	ImportQueries(ctx context.Context, scope access.Scope, set string, file files.QueryFile) (*files.Imported, error)
	ImportJudgments(ctx context.Context, scope access.Scope, list string, file files.JudgmentFile) (*files.Imported, error)
}

// QuerySets is the answer to listing them.
type QuerySets struct {
	QuerySets []library.QuerySet `json:"query_sets" nullable:"false"`
}

// Queries is a page of a set's queries.
type Queries struct {
	Queries []library.Query `json:"queries" nullable:"false" doc:"In the order of their ids."`
	Next    string          `json:"next,omitempty" doc:"after of the next page; left out where there are no more."`
}

// DeletedRows counts the deleted rows.
type DeletedRows struct {
	Deleted int `json:"deleted" minimum:"0"`
}

type querySetInput struct {
	Set string `path:"set" doc:"Id of the query set."`
}

func (in querySetInput) id() string { return in.Set }

// QuerySetEdit makes or changes a query set.
type QuerySetEdit struct {
	library.QuerySetSpec

	BaseVersion *int64 `json:"base_version,omitempty" minimum:"0" doc:"The version that was edited, 0: there was none; a conflict when another is stored by now."`
}

type saveQuerySetInput struct {
	Set  string `path:"set" doc:"Id of the query set: 1 to 64 of a-z, 0-9, _ and -."`
	Body QuerySetEdit
}

type queriesInput struct {
	Set   string `path:"set" doc:"Id of the query set."`
	After string `query:"after" doc:"Id of a query: those after it."`
	Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"Queries at most."`
}

// QueryRows are queries to be stored.
type QueryRows struct {
	Queries []library.Query `json:"queries" minItems:"1" maxItems:"1000" doc:"Those of ids that are there take their place."`
	Replace bool            `json:"replace,omitempty" doc:"Replace the text of queries that have judgments too; these will count for the new text."`
}

type putQueriesInput struct {
	Set  string `path:"set" doc:"Id of the query set."`
	Body QueryRows
}

// QueryIDs name queries to be deleted.
type QueryIDs struct {
	IDs []string `json:"ids" minItems:"1" maxItems:"1000" doc:"Of queries; their judgments stay."`
}

type deleteQueriesInput struct {
	Set  string `path:"set" doc:"Id of the query set."`
	Body QueryIDs
}

const (
	evaluationTag = "evaluation"
	querySetsPath = "/v1/query-sets"
	querySetPath  = querySetsPath + "/{set}"
	// rowsBody is room for a thousand rows of some length.
	rowsBody = 16 << 20
)

var errNoLibrary = fault.New(fault.Unsupported,
	"this gateway keeps no query sets: its default engine has no place for them")

// part gives the library, if there is one.
type part func() (Library, error)

func registerLibrary(api *endpoint.API, store Library) {
	of := part(endpoint.Need(store, errNoLibrary))
	of.querySetRoutes(api)
	of.judgmentRoutes(api)
	of.importRoutes(api)
}

func (of part) querySetRoutes(api *endpoint.API) {
	endpoint.RegisterWith(api, of, endpoint.Route{
		Method: http.MethodGet, Path: querySetsPath, Tag: evaluationTag, Access: endpoint.Reads, Whole: true,
		ID: "list-query-sets", Summary: "List query sets",
		About: "Those whose knowledge bases the key sees, by their ids.",
	}, listing(Library.QuerySets, func(all []library.QuerySet) *QuerySets {
		return &QuerySets{all}
	}))
	endpoint.RegisterWith(api, of, endpoint.Route{
		Method: http.MethodGet, Path: querySetPath, Tag: evaluationTag, Access: endpoint.Reads, Whole: true,
		ID: "get-query-set", Summary: "Get a query set",
		About: "Without its queries, which have pages of their own.",
	}, byID[querySetInput](Library.QuerySet))
	endpoint.RegisterWith(api, of, endpoint.Route{
		Method: http.MethodPut, Path: querySetPath, Tag: evaluationTag, Access: endpoint.Governs, Role: keys.Write,
		ID: "save-query-set", Summary: "Make a query set, or change its name, note and knowledge bases",
		About: "Its queries stay. A query set is kept when a knowledge base of it is deleted, and serves the next one.",
	}, saveQuerySet)
	endpoint.RegisterWith(api, of, endpoint.Route{
		Method: http.MethodDelete, Path: querySetPath, Tag: evaluationTag, Access: endpoint.Governs, Role: keys.Write,
		Status: http.StatusNoContent, ID: "delete-query-set", Summary: "Delete a query set with its queries and judgments",
		About: "Evaluations that were made with it stay.",
	}, deleting[querySetInput](Library.DeleteQuerySet))
	endpoint.RegisterWith(api, of, endpoint.Route{
		Method: http.MethodGet, Path: querySetPath + "/queries", Tag: evaluationTag, Access: endpoint.Reads, Whole: true,
		ID: "list-queries", Summary: "List the queries of a set",
		About: "In the order of their ids, a page at a time.",
	}, listQueries)
	endpoint.RegisterWith(api, of, endpoint.Route{
		Method: http.MethodPost, Path: querySetPath + "/queries", Tag: evaluationTag, Access: endpoint.Governs,
		Role: keys.Write, BodyBytes: rowsBody, ID: "put-queries", Summary: "Add queries to a set, or change them",
		About: "Each is stored, or refused, by itself and told by its place; sending them again changes nothing. Another " +
			"text for a query that has judgments in any list is refused, unless replace is set: they would count for another " +
			"question.",
	}, putQueries)
	endpoint.RegisterWith(api, of, endpoint.Route{
		Method: http.MethodPost, Path: querySetPath + "/queries/delete", Tag: evaluationTag, Access: endpoint.Governs,
		Role: keys.Write, ID: "delete-queries", Summary: "Delete queries of a set",
		About: "By their ids; the answer counts those that were there.",
	}, deleteQueries)
}

func saveQuerySet(
	ctx context.Context, l Library, scope access.Scope, in *saveQuerySetInput,
) (*library.QuerySet, error) {
	return l.SaveQuerySet(ctx, scope, in.Set, in.Body.QuerySetSpec, in.Body.BaseVersion)
}

func listQueries(
	ctx context.Context, l Library, scope access.Scope, in *queriesInput,
) (*Queries, error) {
	queries, next, err := l.Queries(ctx, scope, in.Set, in.After, in.Limit)
	return &Queries{queries, next}, err
}

func putQueries(
	ctx context.Context, l Library, scope access.Scope, in *putQueriesInput,
) (*library.Outcome, error) {
	return l.PutQueries(ctx, scope, in.Set, in.Body.Queries, in.Body.Replace)
}

func deleteQueries(
	ctx context.Context, l Library, scope access.Scope, in *deleteQueriesInput,
) (*DeletedRows, error) {
	n, err := l.DeleteQueries(ctx, scope, in.Set, in.Body.IDs)
	return &DeletedRows{n}, err
}
