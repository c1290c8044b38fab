package gateway

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/internal/brief"
)

// Each route takes its role alone, and both guides say which.
func TestRolesOfRoutes(t *testing.T) {
	all := []endpoint.Key{}
	for _, role := range keys.Roles {
		k := key(role, "acme")
		k.Roles = []string{role}
		all = append(all, k)
	}
	g := start(t, Options{Options: endpoint.Options{Keys: all}})
	var document struct {
		Paths map[string]map[string]struct {
			Role string `json:"x-role"`
		} `json:"paths"`
	}
	if err := json.Unmarshal([]byte(g.ask("GET", "/openapi.json", "").body), &document); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, op := range operations(t, g) {
		role := document.Paths[op.path][strings.ToLower(op.method)].Role
		if op.public() != (role == "") {
			t.Errorf("%s %s has the role %q", op.method, op.path, role)
		}
		if op.public() {
			continue
		}
		lines = append(lines, fmt.Sprintf("| `%s %s` | %s |\n", op.method, op.path, role))
		for _, held := range keys.Roles {
			got := op.valid(&gatewayUnderTest{fakes: g.fakes, t: t, url: g.url, client: g.client}, "X-API-Key: "+held)
			lacks := got.status == http.StatusForbidden && strings.Contains(got.body, "lacks the role")
			if lacks != (held != role) {
				t.Errorf("%s %s with the role %s: %d %s; it takes %s", op.method, op.path, held, got.status, brief.Of(got.body), role)
			}
		}
	}
	slices.SortFunc(lines, func(a, b string) int {
		_, pathA, _ := strings.Cut(a, " /")
		_, pathB, _ := strings.Cut(b, " /")
		return strings.Compare(pathA+a, pathB+b)
	})
	table := strings.Join(lines, "")
	for _, page := range []string{"../docs/guide/en/keys.md", "../docs/guide/zh/keys.md"} {
		text, err := os.ReadFile(page)
		if err != nil || !strings.Contains(string(text), table) {
			t.Errorf("%s: %v; its table must be:\n%s", brief.Of(page), err, table)
		}
	}
}
