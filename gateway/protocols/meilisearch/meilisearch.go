// Package meilisearch speaks Meilisearch's searches.
//
//	meilisearch.go  queries, and the searches they stand for
//	filter.go       Meilisearch's filter expressions
//	answer.go       answers
package meilisearch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/search"
)

// MeiliQuery is a search in Meilisearch's format; the preset is this gateway's own.
// https://www.meilisearch.com/docs/reference/api/search
type MeiliQuery struct {
	Index       string       `json:"indexUid,omitempty" doc:"Id of the knowledge base."`
	Query       string       `json:"q,omitempty" doc:"The question; left out, every chunk that passes the filter, by id."`
	Filter      *meiliFilter `json:"filter,omitempty"`
	Facets      []string     `json:"facets,omitempty" doc:"Fields whose values are counted, over the best 200 chunks, or without a question over 10000."`
	Offset      int          `json:"offset,omitempty" minimum:"0" maximum:"10000"`
	Limit       *int         `json:"limit,omitempty" minimum:"0" maximum:"1000" doc:"Hits at most; the default is 20."`
	Page        *int         `json:"page,omitempty" minimum:"0" maximum:"10000" doc:"In place of offset and limit: the page, from 1."`
	HitsPerPage *int         `json:"hitsPerPage,omitempty" minimum:"0" maximum:"1000"`
	Retrieve    []string     `json:"attributesToRetrieve,omitempty" doc:"Members of hits; all of them when left out, or with *."`
	Highlight   []string     `json:"attributesToHighlight,omitempty" doc:"title and content may be named, or *."`
	Pre         *string      `json:"highlightPreTag,omitempty" doc:"The default is <em>."`
	Post        *string      `json:"highlightPostTag,omitempty" doc:"The default is </em>."`
	Crop        []string     `json:"attributesToCrop,omitempty" doc:"content may be named, with a length of its own behind a colon, or *."`
	CropLength  *int         `json:"cropLength,omitempty" minimum:"1" maximum:"300" doc:"In words; the default is 10."`
	CropMarker  *string      `json:"cropMarker,omitempty" doc:"The default is …."`
	Hybrid      *meiliHybrid `json:"hybrid,omitempty"`
	Vector      []float32    `json:"vector,omitempty"`
	Distinct    string       `json:"distinct,omitempty" doc:"document_id: the best chunk of each document only."`
	Sort        []string     `json:"sort,omitempty" doc:"Nothing can be sorted by."`
	SearchOn    []string     `json:"attributesToSearchOn,omitempty" doc:"Only *, everything that is searched."`
	ShowScore   bool         `json:"showRankingScore,omitempty" doc:"Adds _rankingScore, the relevance of a hit."`
	Threshold   *float64     `json:"rankingScoreThreshold,omitempty" minimum:"0" maximum:"1" doc:"Least relevance of a hit."`
	Preset      string       `json:"preset,omitempty" doc:"How it is ranked."`
}

// meiliHybrid weighs words against vectors: 0 words alone, 1 vectors alone, and between both, as the
// default preset weighs them.
type meiliHybrid struct {
	Ratio *float64 `json:"semanticRatio,omitempty" minimum:"0" maximum:"1"`
}

// MeiliQueries are several searches, which are answered together.
type MeiliQueries struct {
	Queries    []MeiliQuery    `json:"queries" minItems:"1" maxItems:"64"`
	Federation *map[string]any `json:"federation,omitempty" doc:"Refused: search knowledge bases together by POST /v1/search."`
}

// MeiliAnswers has an answer for each query, in their order.
type MeiliAnswers struct {
	Results []MeiliAnswer `json:"results"`
}

// MeiliAnswer is an answer to a query. It has either the members of pages, or offset and limit.
type MeiliAnswer struct {
	Index       string                        `json:"indexUid"`
	Hits        []map[string]any              `json:"hits"`
	Query       string                        `json:"query"`
	TookMS      int64                         `json:"processingTimeMs"`
	Offset      *int                          `json:"offset,omitempty"`
	Limit       *int                          `json:"limit,omitempty"`
	Estimated   *int                          `json:"estimatedTotalHits,omitempty"`
	Page        *int                          `json:"page,omitempty"`
	HitsPerPage *int                          `json:"hitsPerPage,omitempty"`
	TotalPages  *int                          `json:"totalPages,omitempty"`
	TotalHits   *int                          `json:"totalHits,omitempty"`
	Facets      map[string]map[string]int     `json:"facetDistribution,omitempty"`
	Stats       map[string]map[string]float64 `json:"facetStats,omitempty"`
	Degraded    []search.Degraded             `json:"degraded,omitempty" doc:"This gateway's own: legs that took no part, and why."`
}

// MeiliFacetQuery asks for the values of a field that contain a text.
type MeiliFacetQuery struct {
	MeiliQuery
	Name string `json:"facetName"`
	Text string `json:"facetQuery,omitempty"`
}

// MeiliFacetAnswer has the values, the most frequent first.
type MeiliFacetAnswer struct {
	Hits   []MeiliFacet `json:"facetHits"`
	Text   string       `json:"facetQuery"`
	TookMS int64        `json:"processingTimeMs"`
}

// MeiliFacet is a value and how many chunks have it.
type MeiliFacet struct {
	Value string `json:"value"`
	Count int    `json:"count"`
}

// MeiliError is an error in Meilisearch's form.
type MeiliError struct {
	Message string `json:"message"`
	Code    string `json:"code"`
	Type    string `json:"type" enum:"invalid_request,auth,system,internal"`
	Link    string `json:"link"`
}

type (
	meiliQueriesInput struct{ Body MeiliQueries }
	meiliQueryInput   struct {
		KB   string `path:"kb" doc:"Id of the knowledge base."`
		Body MeiliQuery
	}
	meiliFacetInput struct {
		KB   string `path:"kb" doc:"Id of the knowledge base."`
		Body MeiliFacetQuery
	}
)

// Searcher answers several questions at once.
type Searcher interface {
	// Several gives the outcome of each search to take, on several goroutines. It fails when the answers together are
	// larger than one may be.
	Several(
		ctx context.Context, scope access.Scope, requests []search.Request,
		take func(i int, response *search.Response, err error),
	) error
}

type protocol struct{ searcher Searcher }

// Register adds the protocol.
func Register(api *endpoint.API, searcher Searcher) {
	p := &protocol{searcher}
	add := func(path, id, summary, about string) endpoint.Route {
		return endpoint.Route{
			Method: http.MethodPost, Path: path, Tag: "protocols", Access: endpoint.Reads, ID: id, Summary: summary,
			About:   about,
			Dialect: dialect(),
		}
	}
	endpoint.Register(api, add("/multi-search", "meilisearch-multi-search",
		"Meilisearch's searches, several at once",
		"What an InstantSearch page asks for by @meilisearch/instant-meilisearch. The first wrong query refuses all."),
		p.searchAll)
	endpoint.Register(api, add("/indexes/{kb}/search", "meilisearch-search", "Meilisearch's search",
		"An index is a knowledge base, a document is a chunk, its ranking score is the relevance."), p.search)
	endpoint.Register(api, add("/indexes/{kb}/facet-search", "meilisearch-facet-search",
		"Meilisearch's search among the values of a field",
		"The values that have a text in them, of the chunks that the search finds, with how many have each."), p.facets)
}

func dialect() *endpoint.Dialect {
	return &endpoint.Dialect{Refusal: refusal, Problems: reflect.TypeFor[MeiliError](), Members: map[string]string{
		"query": "q", "knowledge_bases": "indexUid", "knowledge_base": "indexUid", "filter": "filter",
		"threshold": "rankingScoreThreshold", "group_by": "distinct",
	}}
}

// meiliCodes are the error codes of fields that have their own.
var meiliCodes = map[string]string{
	"q": "invalid_search_q", "filter": "invalid_search_filter",
	"facets": "invalid_search_facets",
	"offset": "invalid_search_offset", "limit": "invalid_search_limit", "page": "invalid_search_page",
	"hitsPerPage": "invalid_search_hits_per_page", "sort": "invalid_search_sort", "distinct": "invalid_search_distinct",
	"attributesToSearchOn": "invalid_search_attributes_to_search_on", "vector": "invalid_search_vector",
	"rankingScoreThreshold": "invalid_search_ranking_score_threshold", "cropLength": "invalid_search_crop_length",
	"hybrid.semanticRatio": "invalid_search_semantic_ratio", "federation": "invalid_multi_search_federation",
	"queries": "invalid_multi_search_queries", "indexUid": "invalid_index_uid",
	"facetName": "invalid_facet_search_facet_name",
}

func refusal(c *fiber.Ctx, p endpoint.Problem) (status int, body any) {
	told := MeiliError{Message: p.Detail, Code: p.Code, Type: "invalid_request"}
	_, member, within := strings.Cut(p.Field, "].")
	if !within {
		member = p.Field
	}
	switch {
	case p.Status == http.StatusUnauthorized && c.Get(fiber.HeaderAuthorization) == "":
		told.Type, told.Code = "auth", "missing_authorization_header"
	case p.Status == http.StatusUnauthorized, p.Status == http.StatusForbidden:
		p.Status, told.Type, told.Code = http.StatusForbidden, "auth", "invalid_api_key"
	case p.Status == http.StatusNotFound:
		told.Code = "index_not_found"
	case p.Status == http.StatusRequestEntityTooLarge:
		told.Code = "payload_too_large"
	case p.Status >= http.StatusInternalServerError, p.Status == http.StatusTooManyRequests:
		told.Type = "system"
	case p.Status == http.StatusBadRequest:
		told.Code = cmp.Or(meiliCodes[member], "bad_request")
	}
	told.Link = "https://docs.meilisearch.com/errors#" + told.Code
	return p.Status, told
}

func (p *protocol) searchAll(
	ctx context.Context, scope access.Scope, in *meiliQueriesInput,
) (*MeiliAnswers, error) {
	if in.Body.Federation != nil {
		return nil, fault.Invalid("federation", "given", "left out: knowledge bases are searched together by POST /v1/search")
	}
	answers, err := p.answers(ctx, scope, in.Body.Queries)
	return &MeiliAnswers{Results: answers}, err
}

func (p *protocol) search(ctx context.Context, scope access.Scope, in *meiliQueryInput) (*MeiliAnswer, error) {
	in.Body.Index = in.KB
	answers, err := p.answers(ctx, scope, []MeiliQuery{in.Body})
	if err != nil {
		return nil, alone(err)
	}
	return &answers[0], nil
}

// alone adapts an error of several queries to a single query.
func alone(err error) error {
	var refused *fault.Error
	if !errors.As(err, &refused) {
		return err
	}
	told := *refused
	told.Field, told.Detail = strings.TrimPrefix(told.Field, "queries[0]."), strings.TrimPrefix(told.Detail, "queries[0].")
	return &told
}

func (p *protocol) facets(ctx context.Context, scope access.Scope, in *meiliFacetInput) (*MeiliFacetAnswer, error) {
	asked, none := &in.Body, 0
	if asked.Name == "" {
		return nil, fault.Invalid("facetName", asked.Name, "the name of a field")
	}
	asked.Index, asked.Facets, asked.Limit, asked.Page, asked.HitsPerPage = in.KB, []string{asked.Name}, &none, nil, nil
	answers, err := p.answers(ctx, scope, []MeiliQuery{asked.MeiliQuery})
	if err != nil {
		return nil, alone(err)
	}
	answer := &MeiliFacetAnswer{Hits: []MeiliFacet{}, Text: asked.Text, TookMS: answers[0].TookMS}
	for value, count := range answers[0].Facets[asked.Name] {
		if strings.Contains(strings.ToLower(value), strings.ToLower(asked.Text)) {
			answer.Hits = append(answer.Hits, MeiliFacet{value, count})
		}
	}
	slices.SortFunc(answer.Hits, func(a, b MeiliFacet) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Value, b.Value))
	})
	return answer, nil
}

// answers returns one answer a query, or explains the first query that is refused.
func (p *protocol) answers(ctx context.Context, scope access.Scope, queries []MeiliQuery) ([]MeiliAnswer, error) {
	if n := len(queries); n < 1 || n > meiliQueriesAtOnce {
		return nil, fault.Invalid("queries", fault.Length(n), "1 to 64 queries")
	}
	requests := make([]search.Request, len(queries))
	for i := range queries {
		req, err := queries[i].request()
		if err != nil {
			return nil, inQuery(i, err)
		}
		requests[i] = *req
	}
	answers, failed := make([]MeiliAnswer, len(queries)), make([]error, len(queries))
	err := p.searcher.Several(ctx, scope, requests, func(i int, found *search.Response, err error) {
		if failed[i] = err; err == nil {
			answers[i] = queries[i].answer(found)
		}
	})
	if err != nil {
		return nil, err
	}
	for i, err := range failed {
		if err != nil {
			return nil, inQuery(i, err)
		}
	}
	return answers, nil
}

// inQuery adds the number of the query to an error.
func inQuery(at int, err error) error {
	err = dialect().Named(err)
	var refused *fault.Error
	if errors.As(err, &refused) && refused.Field != "" && strings.HasPrefix(refused.Detail, refused.Field) {
		return refused.Within(fmt.Sprintf("queries[%d].", at))
	}
	return err
}

// Limits and defaults of Meilisearch's, how many queries come at once, and how many of the best chunks are counted.
const (
	meiliLimit         = 20
	meiliQueriesAtOnce = 64
	meiliMost          = 1_000
	meiliCropLength    = 10
	meiliCounted       = 200
	runesOfWord        = 6
)

// Marks of highlights, which cannot occur in a caller's tags.
const meiliPre, meiliPost = "\uE000", "\uE001"

// page gives the hits to show: by pages, or from an offset on.
func (q *MeiliQuery) page() (offset, limit int, byPage bool) {
	if q.Page == nil && q.HitsPerPage == nil {
		return q.Offset, or(q.Limit, meiliLimit), false
	}
	limit = or(q.HitsPerPage, meiliLimit)
	return (max(or(q.Page, 1), 1) - 1) * limit, limit, true
}

func or[T any](value *T, otherwise T) T {
	if value != nil {
		return *value
	}
	return otherwise
}

func (q *MeiliQuery) validate() error {
	offset, limit, _ := q.page()
	switch all := []string{"*"}; {
	case q.Index == "":
		return fault.Invalid("indexUid", q.Index, "the id of a knowledge base")
	case limit < 0 || limit > meiliMost:
		return fault.Invalid(q.member("hitsPerPage", "limit"), limit, "0 to 1000")
	case or(q.Page, 0) < 0:
		return fault.Invalid("page", *q.Page, ">= 0")
	case offset < 0 || offset+limit > search.MaxTopK:
		return fault.Invalid(q.member("page", "offset"), offset, ">= 0, and to end within the first 10000 hits")
	case len(q.Sort) > 0:
		return fault.Invalid("sort", q.Sort[0], "empty: hits are in the order of their relevance")
	case len(q.SearchOn) > 0 && !slices.Equal(q.SearchOn, all):
		return fault.Invalid("attributesToSearchOn", q.SearchOn[0], `left out, or ["*"]`)
	case slices.Equal(q.Facets, all):
		return fault.Invalid("facets", "*", "the names of fields")
	case q.Distinct != "" && q.Distinct != search.GroupByDocument:
		return fault.Invalid("distinct", q.Distinct, "document_id")
	case !(or(q.Threshold, 0) >= 0 && or(q.Threshold, 0) <= 1):
		return fault.Invalid("rankingScoreThreshold", *q.Threshold, "0 to 1")
	case !(q.ratio() >= 0 && q.ratio() <= 1):
		return fault.Invalid("hybrid.semanticRatio", q.ratio(), "0 to 1")
	case or(q.CropLength, 1) < 1 || or(q.CropLength, 1) > 300:
		return fault.Invalid("cropLength", *q.CropLength, "1 to 300 words")
	}
	return nil
}

// member names the field in use: byPage with pages, else otherwise.
func (q *MeiliQuery) member(byPage, otherwise string) string {
	if _, _, pages := q.page(); pages {
		return byPage
	}
	return otherwise
}

func (q *MeiliQuery) ratio() float64 {
	if q.Hybrid == nil || q.Hybrid.Ratio == nil {
		return 0.5
	}
	return *q.Hybrid.Ratio
}

func (q *MeiliQuery) request() (*search.Request, error) {
	if err := q.validate(); err != nil {
		return nil, err
	}
	offset, limit, _ := q.page()
	shown, last := max(limit, 1), max(offset+limit, meiliCounted)
	req := &search.Request{
		Query: q.Query, KnowledgeBases: []string{q.Index}, Facets: q.Facets, Vector: q.Vector, Preset: q.Preset,
		TopK: &last, Offset: &offset, Limit: &shown, Highlight: q.highlight(),
	}
	if q.Distinct != "" {
		req.GroupBy = &q.Distinct
	}
	if q.Filter != nil {
		var err error
		if req.Filter, err = q.Filter.filter(); err != nil {
			return nil, err
		}
	}
	if strings.TrimSpace(q.Query) == "" {
		req.Query, req.Everything, req.Preset, req.Vector = "", true, "", nil
		return req, nil
	}
	if q.Threshold != nil && *q.Threshold > 0 {
		req.Threshold.Relevance = q.Threshold
	}
	if req.Preset == "" && q.ratio() == 0 {
		req.Preset = "text"
	}
	if req.Preset == "" && q.ratio() == 1 {
		req.Preset = "vector"
	}
	return req, nil
}
