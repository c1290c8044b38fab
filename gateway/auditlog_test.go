package gateway

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/access/audit"
)

// fakeAudit has one record, which says what it was asked for.
type fakeAudit struct{ *fakes }

func (f fakeAudit) Read(ctx context.Context, scope access.Scope, q audit.Query) (*audit.Page, error) {
	record := audit.Record{Time: q.From, Key: q.Key, Route: q.Action, Base: q.Base, Outcome: q.Outcome}
	return &audit.Page{Records: []audit.Record{record}, Before: max(0, q.Before-1)}, f.note(ctx, scope)
}

func TestAuditLogIsAsked(t *testing.T) {
	g := start(t, Options{Keys: []Key{key("full", "acme")}})
	got := g.ask("GET", "/v1/audit?key=a&action=DELETE&knowledge_base=b&outcome=refused&from=2026-11-28T12:00:00Z&after=7", "", "X-API-Key: full")
	for _, want := range []string{`"key":"a"`, `"route":"DELETE"`, `"knowledge_base":"b"`, `"outcome":"refused"`, `"time":"2026-11-28T12:00:00Z"`, `"next":"6"`} {
		if !strings.Contains(got.body, want) {
			t.Errorf("without %s: %s", want, got.body)
		}
	}
	for _, bad := range []string{"outcome=maybe", "from=yesterday", "until=7", "after=0", "after=x", "after=-3", "limit=0", "who=a"} {
		if got := g.ask("GET", "/v1/audit?"+bad, "", "X-API-Key: full"); got.status != 400 {
			t.Errorf("%s: %d %s", bad, got.status, got.body)
		}
	}
	if _, err := timeOf("from", time.Now().Format(time.RFC3339)); err != nil {
		t.Error(err)
	}
}

func TestDocumentsAreAskedInAnOrder(t *testing.T) {
	g := start(t, Options{})
	got := g.ask("GET", "/v1/knowledge-bases/manuals/documents?sort=chunks&order=desc&query=a%20b&limit=5&after=x", "")
	if want := `{"documents":[{"document_id":"a b","document_name":"chunks","chunks":5}],"next":"nx","total":7}`; strings.TrimSpace(got.body) != want {
		t.Errorf("got %s", got.body)
	}
	if got := g.ask("GET", "/v1/knowledge-bases/manuals/documents?order=up", ""); got.status != 400 || got.problem(t).Field != "order" {
		t.Errorf("%d %s", got.status, got.body)
	}
}
