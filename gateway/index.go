package gateway

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
)

// Index lists the routes.
type Index struct {
	Name    string   `json:"name"`
	Version string   `json:"version,omitempty"`
	Routes  []string `json:"routes" doc:"Method and path of every route."`
	OpenAPI string   `json:"openapi" doc:"Where their description is."`
	UI      bool     `json:"ui" doc:"Whether the web application is in this binary; browsers get it here."`
	Events  bool     `json:"events" doc:"Whether searches are logged, and events of users are taken by POST /v1/events."`
	Answers bool     `json:"answers" doc:"Whether a model answers questions, by POST /v1/answer."`
}

// registerIndex must be called last, as it lists the routes registered before.
func registerIndex(api *endpoint.API, version string, answer *Index) {
	answer.Name, answer.OpenAPI = "Hybridge", "/openapi.json"
	for path, item := range api.Document.Paths {
		for method, present := range map[string]bool{
			http.MethodGet: item.Get != nil, http.MethodPost: item.Post != nil,
			http.MethodPut: item.Put != nil, http.MethodDelete: item.Delete != nil,
		} {
			if present {
				answer.Routes = append(answer.Routes, method+" "+path)
			}
		}
	}
	slices.SortFunc(answer.Routes, func(a, b string) int {
		_, pathA, _ := strings.Cut(a, " ")
		_, pathB, _ := strings.Cut(b, " ")
		return strings.Compare(pathA+a, pathB+b)
	})
	endpoint.Register(api, endpoint.Route{
		Method: http.MethodGet, Path: "/", Tag: "operation", ID: "index", Summary: "The routes",
		About: "For people and machines that came to the address without a path: what there is, by method " +
			"and path. Browsers get the page.",
	}, func(ctx context.Context, _ access.Scope, _ *struct{}) (*Index, error) {
		told := *answer
		told.Version = versionFor(ctx, version)
		return &told, nil
	})
}
