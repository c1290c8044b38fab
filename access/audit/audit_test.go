package audit

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/fault"
)

var start = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

// write makes a log of so many requests, a minute apart.
func write(t *testing.T, n int, change func(i int, fields map[string]any)) *File {
	t.Helper()
	var text strings.Builder
	for i := range n {
		fields := map[string]any{
			"time": start.Add(time.Duration(i) * time.Minute), "level": "INFO", "msg": "audit", "key": "anna", "tenant": "acme",
			"remote": "10.0.0.1", "method": "GET", "route": "/v1/knowledge-bases/{kb}", "path": "/v1/knowledge-bases/docs",
			"outcome": "done", "status": 200, "request_id": fmt.Sprint("r", i),
		}
		if change != nil {
			change(i, fields)
		}
		line, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(line)
		text.WriteByte('\n')
	}
	file := &File{Path: filepath.Join(t.TempDir(), "audit.log"), Nobody: "default"}
	if err := os.WriteFile(file.Path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// all reads page by page.
func all(t *testing.T, f *File, scope access.Scope, q Query) (ids []string) {
	t.Helper()
	for q.Before = -1; q.Before != 0; {
		page, err := f.Read(t.Context(), scope, q)
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Records) > q.Limit {
			t.Fatalf("%d records for a limit of %d", len(page.Records), q.Limit)
		}
		for _, r := range page.Records {
			ids = append(ids, r.Request)
		}
		if q.Before >= 0 && page.Before >= q.Before {
			t.Fatalf("from %d on to %d", q.Before, page.Before)
		}
		q.Before = page.Before
	}
	return ids
}

var acme = access.Scope{Tenant: "acme"}

func TestEveryRecordOnceNewestFirst(t *testing.T) {
	const n = 3000 // several blocks
	f := write(t, n, nil)
	for _, limit := range []int{1, 7, 100, n, 2 * n} {
		ids := all(t, f, acme, Query{Limit: limit})
		if len(ids) != n || ids[0] != fmt.Sprint("r", n-1) || ids[n-1] != "r0" {
			t.Errorf("limit %d: %d records, from %s to %s", limit, len(ids), ids[0], ids[len(ids)-1])
		}
	}
}

func TestFilters(t *testing.T) {
	f := write(t, 60, func(i int, fields map[string]any) {
		switch i % 6 {
		case 1:
			fields["key"], fields["tenant"] = "rival", "other"
		case 2:
			fields["outcome"], fields["status"] = "refused", 403
		case 3:
			fields["method"], fields["route"], fields["path"] = "DELETE", "/v1/keys/{name}", "/v1/keys/x"
		case 4:
			fields["path"], fields["key"] = "/v1/knowledge-bases/%E6%96%87", "bert"
		case 5:
			fields["tenant"], fields["key"], fields["status"] = "", "", 401
		}
	})
	count := func(want int, scope access.Scope, q Query) {
		t.Helper()
		q.Limit = 7
		if got := len(all(t, f, scope, q)); got != want {
			t.Errorf("%+v: %d records, want %d", q, got, want)
		}
	}
	count(40, acme, Query{})
	count(10, access.Scope{Tenant: "other"}, Query{})
	count(10, access.Scope{Tenant: "default"}, Query{})
	count(0, access.Scope{Tenant: "nobody"}, Query{})
	count(30, access.Scope{Tenant: "acme", KnowledgeBases: []string{"docs"}}, Query{})
	count(10, acme, Query{Key: "bert"})
	count(10, acme, Query{Base: "文"})
	count(20, acme, Query{Base: "docs"})
	count(10, acme, Query{Outcome: "refused"})
	count(10, acme, Query{Action: " delete /v1/keys"})
	count(4, acme, Query{From: start.Add(54 * time.Minute)})
	count(30, acme, Query{Only: func(method, route string) bool { return method == "GET" && route == "/v1/knowledge-bases/{kb}" }})
	count(10, acme, Query{Only: func(method, _ string) bool { return method == "DELETE" }, Outcome: "done"})
	count(5, acme, Query{Until: start.Add(6 * time.Minute)})
}

// What is no record is passed over, whatever it is, and memory stays bounded.
func TestDamagedLogs(t *testing.T) {
	f := write(t, 3, nil)
	whole, err := os.ReadFile(f.Path)
	if err != nil {
		t.Fatal(err)
	}
	for _, damage := range []string{"{", "null\n", "\n\n\n", strings.Repeat("x", 3*blockBytes) + "\n", strings.Repeat("\n", blockBytes), "{\"msg\": 7}\n"} {
		if err := os.WriteFile(f.Path, append([]byte(damage+string(whole)), damage...), 0o600); err != nil {
			t.Fatal(err)
		}
		ids := all(t, f, acme, Query{Limit: 2})
		if want := 3; len(ids) != want && damage != "{" || len(ids) < 2 {
			t.Errorf("%.20q: %v", damage, ids)
		}
	}
	if _, err := f.Read(t.Context(), acme, Query{Before: 1 << 40, Limit: 1}); !fault.Is(err, fault.InvalidArgument) {
		t.Errorf("a place that is not there: %v", err)
	}
	f.Path += ".gone"
	if page, err := f.Read(t.Context(), acme, Query{Before: -1, Limit: 1}); err != nil || page.Records == nil || len(page.Records) > 0 {
		t.Errorf("without a file: %+v, %v", page, err)
	}
}
