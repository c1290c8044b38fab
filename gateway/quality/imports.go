package quality

import (
	"context"
	"net/http"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/access/keys"
	files "github.com/hybridge-search/hybridge/evaluation/exchange"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
)

type importQueriesInput struct {
	Set  string `path:"set" doc:"Id of the query set."`
	Body files.QueryFile
}

type importJudgmentsInput struct {
	List string `path:"list" doc:"Id of the judgment list."`
	Body files.JudgmentFile
}

// importRoutes take whole files of other programs.
func (of part) importRoutes(api *endpoint.API) {
	endpoint.RegisterWith(api, of, endpoint.Route{
		Method: http.MethodPost, Path: querySetPath + "/import", Tag: evaluationTag, Access: endpoint.Governs,
		Role: keys.Write, BodyBytes: rowsBody, Timeout: api.Limits.Ingest, ID: "import-queries",
		Summary: "Add the queries of a file to a set",
		About: "In the forms that other programs have. A row that cannot be read, or is refused, is told by its line, and " +
			"the others are stored.",
	}, importQueries)
	endpoint.RegisterWith(api, of, endpoint.Route{
		Method: http.MethodPost, Path: judgmentListPath + "/import", Tag: evaluationTag, Access: endpoint.Governs,
		Role: keys.Write, BodyBytes: rowsBody, Timeout: api.Limits.Ingest, ID: "import-judgments",
		Summary: "Add the judgments of a file to a list",
		About: "In the forms that other programs have. A row that cannot be read, is beyond the scale of the list, or is " +
			"refused, is told by its line, and the others are stored.",
	}, importJudgments)
}

func importQueries(
	ctx context.Context, l Library, scope access.Scope, in *importQueriesInput,
) (*files.Imported, error) {
	return l.ImportQueries(ctx, scope, in.Set, in.Body)
}

func importJudgments(
	ctx context.Context, l Library, scope access.Scope, in *importJudgmentsInput,
) (*files.Imported, error) {
	return l.ImportJudgments(ctx, scope, in.List, in.Body)
}
