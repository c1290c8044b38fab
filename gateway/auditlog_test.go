package gateway

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/access/audit"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/internal/brief"
)

// fakeAudit has one record, which says what it was asked for.
type fakeAudit struct{ *fakes }

func (f fakeAudit) Read(ctx context.Context, scope access.Scope, q audit.Query) (*audit.Page, error) {
	record := audit.Record{Time: q.From, Key: q.Key, Method: "POST", Route: q.Action, Base: q.Base, Outcome: q.Outcome}
	if q.Only != nil && !q.Only(record.Method, record.Route) {
		return &audit.Page{Records: []audit.Record{}}, f.note(ctx, scope)
	}
	return &audit.Page{Records: []audit.Record{record}, Before: max(0, q.Before-1)}, f.note(ctx, scope)
}

func TestAuditLogIsAsked(t *testing.T) {
	g := start(t, Options{Options: endpoint.Options{Keys: []endpoint.Key{key("full", "acme")}}})
	got := g.ask("GET", "/v1/audit?key=a&action=DELETE&knowledge_base=b&outcome=refused&from=2026-11-28T12:00:00Z&after=7", "", "X-API-Key: full")
	for _, want := range []string{`"key":"a"`, `"route":"DELETE"`, `"knowledge_base":"b"`, `"outcome":"refused"`, `"time":"2026-11-28T12:00:00Z"`, `"next":"6"`} {
		if !strings.Contains(got.body, want) {
			t.Errorf("without %s: %s", want, brief.Of(got.body))
		}
	}
	for _, bad := range []string{"outcome=maybe", "from=yesterday", "until=7", "after=0", "after=x", "after=-3", "limit=0", "who=a"} {
		if got := g.ask("GET", "/v1/audit?"+bad, "", "X-API-Key: full"); got.status != 400 {
			t.Errorf("%s: %d %s; want got.status 400", bad, got.status, brief.Of(got.body))
		}
	}
	if _, err := timeOf("from", time.Now().Format(time.RFC3339)); err != nil {
		t.Error(err)
	}
}

// What only reads says so by what it needs of a key, so that a new route is decided on here too.
func TestWhatChangesIsKnownByItsRoute(t *testing.T) {
	g := start(t, Options{})
	reading := strings.Fields(`
		POST/api/v1/retrieval POST/dify/retrieval POST/indexes/{kb}/facet-search POST/indexes/{kb}/search POST/mcp POST/multi-search
		POST/v1/analyze POST/v1/answer POST/v1/compare POST/v1/context POST/v1/embeddings POST/v1/events POST/v1/experiments/needed
		POST/v1/explain POST/v1/knowledge-bases/{kb}/recall POST/v1/mappings/{kb}/diff POST/v1/mappings/{kb}/plan POST/v1/rerank
		POST/v1/search POST/v1/search/batch POST/v1/suggest POST/v1/synonyms/{kb}/check POST/v1/synonyms/{kb}/effects
		POST/v1/synonyms/{kb}/try POST/v1/vector_stores/{kb}/search POST/v2/rerank`)
	log := &auditService{api: g.server.API}
	for _, op := range operations(t, g) {
		reads := op.method == http.MethodGet || slices.Contains(reading, op.method+op.path)
		if log.changed(op.method, op.path) == reads {
			t.Errorf("%s %s: to change something is %t", op.method, op.path, reads)
		}
	}
	for method, changes := range map[string]bool{"GET": false, "HEAD": false, "POST": true, "DELETE": true} {
		if log.changed(method, "unmatched") != changes || log.changed(method, "/v0/gone") != changes {
			t.Errorf("%s without a route", method)
		}
	}
	for query, want := range map[string]bool{"": true, "&changes=false": true, "&changes=true": false} {
		if got := g.ask("GET", "/v1/audit?action=/v1/search"+query, ""); strings.Contains(got.body, "/v1/search") != want {
			t.Errorf("%q: %s", query, brief.Of(got.body))
		}
	}
}

func TestDocumentsAreAskedInAnOrder(t *testing.T) {
	g := start(t, Options{})
	got := g.ask("GET", "/v1/knowledge-bases/manuals/documents?sort=chunks&order=desc&query=a%20b&limit=5&after=x", "")
	if want := `{"documents":[{"document_id":"a b","document_name":"chunks","chunks":5}],"next":"nx","total":7}`; strings.TrimSpace(got.body) != want {
		t.Errorf("got %s", brief.Of(got.body))
	}
	if got := g.ask("GET", "/v1/knowledge-bases/manuals/documents?order=up", ""); got.status != 400 || got.problem(t).Field != "order" {
		t.Errorf(`%d %s; want got.status 400 and got.problem(t).Field "order"`, got.status, brief.Of(got.body))
	}
}
