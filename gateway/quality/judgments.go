package quality

import (
	"context"
	"net/http"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/evaluation/library"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
)

// JudgmentLists is the answer to listing them.
type JudgmentLists struct {
	Lists []library.JudgmentList `json:"judgment_lists" nullable:"false"`
}

// Judgments is a page of a list.
type Judgments struct {
	Judgments []library.Judgment `json:"judgments" nullable:"false" doc:"In the order of queries."`
	Next      string             `json:"next,omitempty" doc:"after of the next page; left out where there are no more."`
}

type judgmentListsInput struct {
	QuerySet string `query:"query_set" doc:"Those of this query set alone."`
}

type judgmentListInput struct {
	List string `path:"list" doc:"Id of the judgment list."`
}

func (in judgmentListInput) id() string { return in.List }

// JudgmentListEdit makes or changes a judgment list.
type JudgmentListEdit struct {
	library.JudgmentListSpec

	BaseVersion *int64 `json:"base_version,omitempty" minimum:"0" doc:"The version that was edited, 0: there was none; a conflict when another is stored by now."`
}

type saveJudgmentListInput struct {
	List string `path:"list" doc:"Id of the judgment list: 1 to 64 of a-z, 0-9, _ and -."`
	Body JudgmentListEdit
}

type judgmentsInput struct {
	List  string `path:"list" doc:"Id of the judgment list."`
	Query string `query:"query" doc:"Id of a query: its judgments alone."`
	After string `query:"after" doc:"next of the page before."`
	Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"Judgments at most."`
}

// JudgmentRows are judgments to be stored.
type JudgmentRows struct {
	Judgments []library.Judgment `json:"judgments" minItems:"1" maxItems:"1000" doc:"They take the place of those of the same query and chunk."`
	OnlyNew   bool               `json:"only_new,omitempty" doc:"They take nobody's place: what is judged already is refused with conflict, and by whom it is."`
}

type putJudgmentsInput struct {
	List string `path:"list" doc:"Id of the judgment list."`
	Body JudgmentRows
}

// JudgmentOf names a judgment.
type JudgmentOf struct {
	QueryID       string `json:"query_id"`
	KnowledgeBase string `json:"knowledge_base,omitempty" doc:"May be left out where the query set has one."`
	DocumentID    string `json:"document_id,omitempty" doc:"Of a judgment of a whole document."`
	ChunkID       string `json:"chunk_id,omitempty"`

	Time time.Time `json:"time,omitzero" doc:"When it was judged: one that was judged anew since stays."`
}

// JudgmentNames name judgments to be deleted.
type JudgmentNames struct {
	Judgments []JudgmentOf `json:"judgments" minItems:"1" maxItems:"1000"`
}

type deleteJudgmentsInput struct {
	List string `path:"list" doc:"Id of the judgment list."`
	Body JudgmentNames
}

const (
	judgmentListsPath = "/v1/judgments"
	judgmentListPath  = judgmentListsPath + "/{list}"
)

func (of part) judgmentRoutes(api *endpoint.API) {
	endpoint.RegisterWith(api, of, endpoint.Route{
		Method: http.MethodGet, Path: judgmentListsPath, Tag: evaluationTag, Access: endpoint.Reads, Whole: true,
		ID: "list-judgment-lists", Summary: "List judgment lists",
		About: "Those of the query sets that the key sees, by their ids.",
	}, listJudgmentLists)
	endpoint.RegisterWith(api, of, endpoint.Route{
		Method: http.MethodGet, Path: judgmentListPath, Tag: evaluationTag, Access: endpoint.Reads, Whole: true,
		ID: "get-judgment-list", Summary: "Get a judgment list",
		About: "Without its judgments, which have pages of their own.",
	}, byID[judgmentListInput](Library.JudgmentList))
	endpoint.RegisterWith(api, of, endpoint.Route{
		Method: http.MethodPut, Path: judgmentListPath, Tag: evaluationTag, Access: endpoint.Governs, Role: keys.Write,
		ID: "save-judgment-list", Summary: "Make a judgment list, or change its name and note",
		About: "A list has the grades of one source: people, a model, or clicks, so that they are never mixed unseen. " +
			"Its query set, scale and source do not change.",
	}, saveJudgmentList)
	endpoint.RegisterWith(api, of, endpoint.Route{
		Method: http.MethodDelete, Path: judgmentListPath, Tag: evaluationTag, Access: endpoint.Governs, Role: keys.Write,
		Status: http.StatusNoContent, ID: "delete-judgment-list", Summary: "Delete a judgment list with its judgments",
		About: "Evaluations keep the judgments that they were made with.",
	}, deleting[judgmentListInput](Library.DeleteJudgmentList))
	endpoint.RegisterWith(api, of, endpoint.Route{
		Method: http.MethodGet, Path: judgmentListPath + "/judgments", Tag: evaluationTag, Access: endpoint.Reads,
		Whole: true, ID: "list-judgments", Summary: "List the judgments of a list",
		About: "In the order of queries, a page at a time, or of one query.",
	}, listJudgments)
	endpoint.RegisterWith(api, of, endpoint.Route{
		Method: http.MethodPost, Path: judgmentListPath + "/judgments", Tag: evaluationTag, Access: endpoint.Governs,
		Role: keys.Write, BodyBytes: rowsBody, ID: "put-judgments", Summary: "Add judgments to a list, or change them",
		About: "Each is stored, or refused, by itself and told by its place. Of a chunk that is judged without a hash the " +
			"text must be there: the judgment then says when that has changed, and finds it under another id.",
	}, putJudgments)
	endpoint.RegisterWith(api, of, endpoint.Route{
		Method: http.MethodPost, Path: judgmentListPath + "/judgments/delete", Tag: evaluationTag, Access: endpoint.Governs,
		Role: keys.Write, ID: "delete-judgments", Summary: "Delete judgments of a list",
		About: "By query and chunk, or document; the answer counts those that were there.",
	}, deleteJudgments)
}

func listJudgmentLists(
	ctx context.Context, l Library, scope access.Scope, in *judgmentListsInput,
) (*JudgmentLists, error) {
	all, err := l.JudgmentLists(ctx, scope, in.QuerySet)
	return &JudgmentLists{all}, err
}

func saveJudgmentList(
	ctx context.Context, l Library, scope access.Scope, in *saveJudgmentListInput,
) (*library.JudgmentList, error) {
	return l.SaveJudgmentList(ctx, scope, in.List, in.Body.JudgmentListSpec, in.Body.BaseVersion)
}

func listJudgments(
	ctx context.Context, l Library, scope access.Scope, in *judgmentsInput,
) (*Judgments, error) {
	page := library.JudgmentPage{Query: in.Query, After: in.After, Limit: in.Limit}
	judgments, next, err := l.Judgments(ctx, scope, in.List, page)
	return &Judgments{judgments, next}, err
}

func putJudgments(
	ctx context.Context, l Library, scope access.Scope, in *putJudgmentsInput,
) (*library.Outcome, error) {
	return l.PutJudgments(ctx, scope, in.List, in.Body.Judgments, in.Body.OnlyNew)
}

func deleteJudgments(
	ctx context.Context, l Library, scope access.Scope, in *deleteJudgmentsInput,
) (*DeletedRows, error) {
	of := make([]library.Judgment, len(in.Body.Judgments))
	for i, j := range in.Body.Judgments {
		of[i] = library.Judgment{
			QueryID: j.QueryID, KnowledgeBase: j.KnowledgeBase, DocumentID: j.DocumentID, ChunkID: j.ChunkID,
			Time: j.Time,
		}
	}
	n, err := l.DeleteJudgments(ctx, scope, in.List, of)
	return &DeletedRows{n}, err
}
