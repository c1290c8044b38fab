package gateway

import (
	"context"
	"net/http"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/access/keys"
	files "github.com/hybridge-search/hybridge/evaluation/exchange"
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
func (s *Server) importRoutes() {
	registerWith(s, s.library, route{
		method: http.MethodPost, path: querySetPath + "/import", tag: evaluationTag, access: governs, role: keys.Write,
		bodyBytes: rowsBody, timeout: s.limits.Ingest,
		id: "import-queries", summary: "Add the queries of a file to a set",
		about: "In the forms that other programs have. A row that cannot be read, or is refused, is told by its line, and " +
			"the others are stored.",
	}, importQueries)
	registerWith(s, s.library, route{
		method: http.MethodPost, path: judgmentListPath + "/import", tag: evaluationTag, access: governs, role: keys.Write,
		bodyBytes: rowsBody, timeout: s.limits.Ingest,
		id: "import-judgments", summary: "Add the judgments of a file to a list",
		about: "In the forms that other programs have. A row that cannot be read, is beyond the scale of the list, or is " +
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
