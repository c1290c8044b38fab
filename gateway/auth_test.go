package gateway

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/internal/brief"
)

// operation is a route as /openapi.json describes it.
type operation struct {
	method, path string
	Security     []map[string][]string `json:"security"`
	RequestBody  *struct {
		Content map[string]struct {
			Example json.RawMessage `json:"example"`
		} `json:"content"`
	} `json:"requestBody"`
	OperationID string `json:"operationId"`
}

func operations(t *testing.T, g *gatewayUnderTest) []operation {
	t.Helper()
	var document struct {
		Paths map[string]map[string]operation `json:"paths"`
	}
	if err := json.Unmarshal([]byte(g.ask("GET", "/openapi.json", "").body), &document); err != nil {
		t.Fatal(err)
	}
	var all []operation
	for path, methods := range document.Paths {
		for method, op := range methods {
			op.method, op.path = strings.ToUpper(method), path
			all = append(all, op)
		}
	}
	if len(all) < 18 {
		t.Fatalf("only %d operations in the document; want at least 18 all", len(all))
	}
	return all
}

// valid sends a request that this route accepts.
func (o *operation) valid(g *gatewayUnderTest, headers ...string) reply {
	path := strings.NewReplacer("{kb}", base, "{document}", document, "{id}", chunkID, "{job}", "j1", "{name}", "nobody", "{set}", "s1", "{list}", "l1",
		"{evaluation}", "e1", "{tuning}", "t1", "{experiment}", "x1").Replace(o.path)
	body := ""
	if o.RequestBody != nil {
		body, headers = string(o.RequestBody.Content["application/json"].Example), append(headers, asJSON)
		switch {
		case o.OperationID == "create-key": // whose name is not taken
			body = `{"name": "` + rand.Text() + `"}`
		case o.OperationID == "create-knowledge-base":
			body = `{"id": "` + base + `"}`
		case o.OperationID == "search-batch": // which asks below once
			body = `{"searches": [` + question + `]}`
		case len(body) == 0:
			body, headers[len(headers)-1] = question, "Content-Type: application/octet-stream"
		}
	}
	return g.ask(o.method, path, body, headers...)
}

func (o *operation) public() bool { return len(o.Security) == 1 && len(o.Security[0]) == 0 }

// editsSet reports whether an operation saves the synonyms or rules of a knowledge base.
func (o *operation) editsSet() bool {
	return slices.Contains([]string{"save-synonyms", "rollback-synonyms", "save-rules", "rollback-rules"}, o.OperationID)
}

// changes reports whether the route needs a key that writes; searches are asked
// by POST and read, mappings are not for readers at all.
func (o *operation) changes() bool {
	if strings.HasPrefix(o.path, "/v1/mappings/") || strings.HasPrefix(o.path, keysPath) ||
		o.path == "/v1/audit" || o.path == "/v1/settings" {
		return true
	}
	reading := []string{
		"search", "context", "answer", "explain", "analyze", "compare", "suggest", "try-synonyms", "check-synonyms", "show-synonym-effects",
		"dify-retrieval", "ragflow-retrieval",
		"search-batch", "openai-search-vector-store", "measure-recall", "post-events", "needed-experiment",
		"openai-embeddings", "mcp", "rerank-v1", "rerank-v2", "meilisearch-multi-search",
		"meilisearch-search", "meilisearch-facet-search",
	}
	return o.method != http.MethodGet && !slices.Contains(reading, o.OperationID)
}

// whole reports whether the route is not for keys that are bound to a filter: it changes what
// is not a chunk, or names chunks beyond the filter.
func (o *operation) whole() bool {
	for _, path := range []string{
		"/v1/rules", "/v1/query-sets", "/v1/judgments", "/v1/evaluations", "/v1/tunings", "/v1/experiments", "/v1/events" + "/",
	} {
		if strings.HasPrefix(o.path, path) {
			return true
		}
	}
	chunks := []string{
		"write-chunks", "replace-document", "delete-document", "upload-file", "delete-chunk",
		"patch-document", "delete-by-filter",
	}
	return o.changes() && !slices.Contains(chunks, o.OperationID)
}

// asksBelow reports whether the route asks what the gateway consumes, as
// somebody.
func (o *operation) asksBelow() bool {
	nobody := []string{"openai-embeddings", "list-presets", "list-file-formats", "list-jobs", "list-settings"}
	return (strings.HasPrefix(o.path, "/v1/") || o.foreign()) && !slices.Contains(nobody, o.OperationID) &&
		!strings.HasPrefix(o.path, "/v1/presets/{name}") &&
		!strings.HasSuffix(o.path, "/rerank") && !strings.HasPrefix(o.path, keysPath) && !strings.HasPrefix(o.path, jobPath)
}

// foreign reports whether the route speaks another program's protocol, whose errors have a
// form of their own.
func (o *operation) foreign() bool {
	return strings.HasPrefix(o.path, "/dify/") || strings.HasPrefix(o.path, "/api/v1/") || strings.HasPrefix(o.path, "/v1/vector_stores") ||
		o.path == "/v1/embeddings" || o.path == "/mcp" || strings.Contains(o.OperationID, "meilisearch") || strings.HasSuffix(o.path, "/rerank")
}

// lists reports whether the route asks of each knowledge base that it lists.
func (o *operation) lists() bool {
	return o.path == "/api/v1/datasets" || o.path == "/v1/vector_stores"
}

// names reports whether the request is about one knowledge base.
func (o *operation) names() bool {
	everything := []string{"/v1/audit", "/v1/synonyms", "/v1/rules", "/v1/query-sets", "/v1/judgments", "/v1/events", "/v1/events" + "/analytics"}
	return o.asksBelow() && !o.lists() && !slices.Contains(everything, o.path) &&
		(o.path != basesPath && o.path != "/v1/evaluations" && o.path != "/v1/tunings" && o.path != "/v1/experiments" ||
			o.method == http.MethodPost)
}

func TestKeysOnEveryRoute(t *testing.T) {
	readOnly := key("reader", "acme")
	readOnly.ReadOnly = true
	none := key("none", "acme")
	none.KnowledgeBases = []string{}
	filtered := key("filtered", "acme")
	filtered.Filter = []filter.Condition{{Field: "owner", In: []filter.Value{{V: "anna"}}}}
	file, err := keys.OpenSQLite(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, file) })
	g := start(t, Options{Options: endpoint.Options{StoredKeys: keys.NewKeeper(t.Context(), file, slog.New(slog.DiscardHandler)), Keys: []endpoint.Key{
		filtered, key("full", "acme"), key("bound", "acme", base), key("elsewhere", "acme", "other"), readOnly, none,
		key("stranger", "rival"),
	}}})
	for _, op := range operations(t, g) {
		t.Run(op.method+" "+op.path, func(t *testing.T) { checkKeys(t, g, op) })
	}
}

func checkKeys(t *testing.T, g *gatewayUnderTest, op operation) {
	ok := func(got reply, scope access.Scope) {
		t.Helper()
		if absent := got.status == 404 && strings.HasPrefix(op.path, keyPath); got.status >= 300 && !absent {
			t.Errorf("refused: %d %s; want got.status below 300 or absent", got.status, brief.Of(got.body))
		}
		seen := g.seen()
		want := 1
		if op.editsSet() { // once more after the edit
			want = 2
		}
		if op.asksBelow() && len(seen) != want && !op.lists() {
			t.Errorf("%d calls below, want %d", len(seen), want)
		}
		if op.OperationID == "post-events" { // nobody knows of what they are
			scope = access.Scope{Tenant: scope.Tenant}
		}
		for _, seen := range seen {
			if seen.Tenant != scope.Tenant || !slices.Equal(seen.KnowledgeBases, scope.KnowledgeBases) ||
				(seen.KnowledgeBases == nil) != (scope.KnowledgeBases == nil) ||
				!reflect.DeepEqual(seen.Filter, scope.Filter) {
				t.Errorf("the scope below was %+v, want %+v", seen, scope)
			}
		}
	}
	refused := func(got reply, reached bool, statuses ...int) {
		t.Helper()
		told := got.status
		if got.status == http.StatusOK && strings.HasPrefix(op.path, "/api/v1/") && strings.Contains(got.body, `{"code":102,`) {
			told = http.StatusNotFound // as RAGFlow says it
		}
		if got.status == http.StatusOK && op.path == "/mcp" && strings.Contains(got.body, "does not exist") {
			told = http.StatusNotFound // as tools say it
		}
		alone := op.OperationID == "search-batch" && strings.Contains(got.body, `{"answers":[{"error":{`)
		if alone && strings.Contains(got.body, `"code":"not_found"`) {
			told = http.StatusNotFound // each search has its own error
		}
		if !slices.Contains(statuses, told) {
			t.Errorf("status %d, want one of %v: %s", got.status, statuses, brief.Of(got.body))
		}
		if !op.foreign() && !alone {
			got.problem(t)
		}
		if seen := g.seen(); len(seen) > 0 && !reached {
			t.Errorf("the call went through with %+v; want len(seen) 0 or reached", seen)
		}
	}
	g.seen()
	if op.public() {
		ok(op.valid(g), access.Scope{})
		return
	}
	for _, header := range []string{
		"", "Authorization: Bearer wrong", "Authorization: Bearer ", "Authorization: full", "Authorization: Basic full",
		"X-API-Key: wrong", "X-API-Key: ", "X-API-Key: Full", "X-API-Key: full2",
	} {
		got := op.valid(g, header)
		switch {
		case strings.HasPrefix(op.path, "/dify/"):
			refused(got, false, http.StatusForbidden)
		case strings.HasPrefix(op.OperationID, "meilisearch"): // a wrong key is another error than none
			refused(got, false, http.StatusForbidden, http.StatusUnauthorized)
		default:
			refused(got, false, http.StatusUnauthorized)
		}
		if got.header.Get("WWW-Authenticate") == "" {
			t.Error("a 401 without WWW-Authenticate")
		}
	}
	ok(op.valid(g, "Authorization: Bearer full"), access.Scope{Tenant: "acme"})
	ok(op.valid(g, "Authorization: bearer full"), access.Scope{Tenant: "acme"})
	ok(op.valid(g, "X-API-Key: full"), access.Scope{Tenant: "acme"})
	switch {
	case strings.HasPrefix(op.path, "/v1/presets/{name}") && op.changes(), op.OperationID == "delete-events":
		refused(op.valid(g, "X-API-Key: bound"), false, http.StatusForbidden) // it is about all knowledge bases
	default:
		ok(op.valid(g, "X-API-Key: bound"), access.Scope{Tenant: "acme", KnowledgeBases: []string{base}})
	}
	if op.whole() {
		refused(op.valid(g, "X-API-Key: filtered"), false, http.StatusForbidden)
	} else {
		ok(op.valid(g, "X-API-Key: filtered"), access.Scope{Tenant: "acme", Filter: []filter.Condition{
			{Field: "owner", In: []filter.Value{{V: "anna"}}},
		}})
	}
	// Another tenant has a knowledge base of the same id; it must reach its own.
	ok(op.valid(g, "X-API-Key: stranger"), access.Scope{Tenant: "rival"})
	if op.names() {
		reached := !strings.Contains(op.path, "{kb}") // there, what is below refuses
		refused(op.valid(g, "X-API-Key: elsewhere"), reached, http.StatusForbidden, http.StatusNotFound)
		refused(op.valid(g, "X-API-Key: none"), reached, http.StatusForbidden, http.StatusNotFound)
	}
	if op.changes() {
		refused(op.valid(g, "X-API-Key: reader"), false, http.StatusForbidden)
	} else {
		ok(op.valid(g, "X-API-Key: reader"), access.Scope{Tenant: "acme"})
	}
}

// A key attaches nothing of the cluster but what its configuration names.
func TestKeysAttachWhatTheyAreGiven(t *testing.T) {
	attacher := key("attacher", "acme")
	attacher.Attach = []string{"ragflow_*"}
	g := start(t, Options{Options: endpoint.Options{Keys: []endpoint.Key{key("full", "acme"), attacher}}})
	allowed := func(index string, headers ...string) bool {
		t.Helper()
		g.ask("GET", "/v1/knowledge-bases/"+base, "", headers...)
		seen := g.seen()
		if len(seen) != 1 {
			t.Fatalf("%d calls below, want 1", len(seen))
		}
		return seen[0].AllowsIndex(index)
	}
	if allowed("ragflow_7", "X-API-Key: full") {
		t.Error("a key without attach may attach")
	}
	if !allowed("ragflow_7", "X-API-Key: attacher") || allowed("orders", "X-API-Key: attacher") {
		t.Error("attach is not what the key may attach")
	}
}

// A knowledge base that a key is not bound to looks like one that is not there.
func TestBoundKeyCannotTellWhatExists(t *testing.T) {
	g := start(t, Options{Options: endpoint.Options{Keys: []endpoint.Key{key("elsewhere", "acme", "other")}}})
	there := g.ask("GET", "/v1/knowledge-bases/manuals", "", "X-API-Key: elsewhere")
	absent := g.ask("GET", "/v1/knowledge-bases/nothing", "", "X-API-Key: elsewhere")
	if strings.ReplaceAll(there.body, "manuals", "nothing") != absent.body {
		t.Errorf("%s differs from %s", brief.Of(there.body), brief.Of(absent.body))
	}
	encoded := g.ask("GET", "/v1/knowledge-bases/%6Danuals", "", "X-API-Key: elsewhere")
	if encoded.body != there.body || len(g.seen()) > 0 {
		t.Errorf("an encoded id went another way: %d %s", encoded.status, brief.Of(encoded.body))
	}
}

func TestStrangersLearnNoVersionAndNoEngine(t *testing.T) {
	asked := 0
	g := start(t, Options{
		Options: endpoint.Options{Keys: []endpoint.Key{key("k", "acme")}}, Version: "9.8.7",
		Readiness: func(context.Context) map[string]error {
			asked++
			return map[string]error{"postgres": nil}
		},
	})
	for path, told := range map[string]string{
		"/": "9.8.7", "/healthz": "9.8.7", "/openapi.json": "9.8.7", "/readyz": `"postgres":"ok"`,
	} {
		for _, key := range []string{"", "wrong", "k"} {
			got := g.ask("GET", path, "", "X-API-Key: "+key)
			if got.status != 200 || strings.Contains(got.body, told) != (key == "k") {
				t.Errorf("%s with key %q: %d, %.200s", path, key, got.status, got.body)
			}
		}
	}
	for range 20 {
		g.ask("GET", "/readyz", "")
	}
	if asked > 5 { // once a second, on a machine that may be slow
		t.Errorf("the back ends were asked %d times; want asked at most 5", asked)
	}
}

func TestWithoutKeysTheTenantIsDefault(t *testing.T) {
	g := start(t, Options{})
	g.ask("POST", "/v1/search", question, asJSON, "X-API-Key: whatever")
	seen := g.seen()
	if len(seen) != 1 || seen[0].Tenant != endpoint.DefaultTenant || seen[0].KnowledgeBases != nil {
		t.Errorf("scopes %+v; want 1 seen and seen[0].Tenant DefaultTenant and no seen[0].KnowledgeBases", seen)
	}
}

// Promise: "with keys every name is served" (docs/configuration.md).
func TestLoopbackHostsOnly(t *testing.T) {
	keyless := start(t, Options{})
	f := func(g *gatewayUnderTest, host string, want int) {
		t.Helper()
		got := g.ask("GET", "/v1/presets", "", "X-API-Key: k", "Host: "+host)
		if got.status != want {
			t.Errorf("Host %s: %d %s, want %d", host, got.status, brief.Of(got.body), want)
		}
	}
	for _, host := range []string{"localhost", "LOCALHOST:8080", "127.0.0.1", "127.1.2.3:80", "[::1]:8080", "gw.localhost"} {
		f(keyless, host, 200)
	}
	for _, host := range []string{
		"evil.example", "evil.example:8080", "localhost.evil.example", "192.168.1.5", "127.0.0.1.evil.example", "evillocalhost",
	} {
		f(keyless, host, 403)
	}
	forwarded := keyless.ask("GET", "/v1/presets", "", "Host: evil.example", "X-Forwarded-Host: localhost")
	if forwarded.status != 403 {
		t.Errorf("X-Forwarded-Host was believed: %d; want forwarded.status 403", forwarded.status)
	}
	f(start(t, Options{Options: endpoint.Options{Keys: []endpoint.Key{key("k", "acme")}}}), "gateway.example", 200)
	for _, probe := range []string{"/healthz", "/readyz"} {
		if got := keyless.ask("GET", probe, "", "Host: 10.0.0.7:8080"); got.status != 200 {
			t.Errorf("%s for another host: %d %s; want got.status 200", probe, got.status, brief.Of(got.body))
		}
	}
}

// An address that others can reach is no reason to believe every host name: a page in the
// network's browsers can give itself one that leads here.
func TestHostsOfAnOpenListener(t *testing.T) {
	listener, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	g := startOn(t, listener, Options{Options: endpoint.Options{AllowedHosts: []string{"Gateway.lan", "[fd00::7]"}}})
	f := func(method, path, host string, want int) {
		t.Helper()
		if got := g.ask(method, path, "", "Host: "+host); got.status != want {
			t.Errorf("%s %s for host %s: %d %s, want %d", method, path, host, got.status, brief.Of(got.body), want)
		}
	}
	f("GET", "/v1/presets", "evil.example", 403)
	f("GET", "/", "evil.example", 403)
	f("DELETE", "/v1/knowledge-bases/manuals", "evil.example", 403)
	f("GET", "/v1/presets", "xgateway.lan", 403)
	f("GET", "/v1/presets", "gateway.lan", 200)
	f("GET", "/v1/presets", "GATEWAY.lan:8080", 200)
	f("GET", "/v1/presets", "[fd00::7]:8080", 200)
	f("GET", "/v1/presets", "localhost:8080", 200)
	f("GET", "/healthz", "evil.example", 200)
	if len(g.seen()) != 0 {
		t.Error("a request for a foreign host went through")
	}
}

// A page of another site may send what needs no preflight, and the browser may know a way in
// that the page does not.
func TestOriginsOfWrites(t *testing.T) {
	g := start(t, Options{Options: endpoint.Options{AllowedOrigins: []string{"https://app.example"}}})
	f := func(method, path string, want int, headers ...string) {
		t.Helper()
		body := ""
		if path == "/v1/search" {
			body, headers = question, append(headers, asJSON)
		}
		got := g.ask(method, path, body, headers...)
		if got.status != want {
			t.Errorf("%s %s with %q: %d %s, want %d", method, path, headers, got.status, brief.Of(got.body), want)
		}
	}
	const kb = "/v1/knowledge-bases/manuals"
	host := strings.TrimPrefix(g.url, "http://")
	f("DELETE", kb, 204)
	f("DELETE", kb, 204, "Origin: "+g.url, "Sec-Fetch-Site: same-origin")
	f("DELETE", kb, 204, "Origin: https://"+host)
	f("DELETE", kb, 403, "Origin: http://evil.example")
	f("DELETE", kb, 403, "Origin: null")
	f("DELETE", kb, 403, "Origin: http://localhost:1")
	f("DELETE", kb, 403, "Sec-Fetch-Site: cross-site")
	f("DELETE", kb, 204, "Sec-Fetch-Site: none")
	f("POST", "/v1/search", 403, "Origin: http://evil.example")
	f("POST", "/v1/search", 403, "Sec-Fetch-Site: cross-site")
	f("POST", "/v1/search", 200, "Origin: https://app.example", "Sec-Fetch-Site: cross-site")
	f("GET", kb, 200, "Origin: http://evil.example", "Sec-Fetch-Site: cross-site")
}

func TestCORS(t *testing.T) {
	f := func(g *gatewayUnderTest, method, origin string, status int, allowed string, headers ...string) reply {
		t.Helper()
		got := g.ask(method, "/v1/presets", "", append(headers, "Origin: "+origin)...)
		if allow := got.header.Get("Access-Control-Allow-Origin"); got.status != status || allow != allowed {
			t.Errorf("%s from %s: %d, allowed %q; want %d, %q", method, origin, got.status, allow, status, allowed)
		}
		return got
	}
	const app, asked = "https://app.example", "Access-Control-Request-Method: DELETE"
	g := start(t, Options{Options: endpoint.Options{AllowedOrigins: []string{app}, Keys: []endpoint.Key{key("k", "acme")}}})
	got := f(g, "OPTIONS", app, 204, app, asked, "Access-Control-Request-Headers: authorization,content-type,x-meilisearch-client")
	if h := got.header.Get("Access-Control-Allow-Headers"); h != "authorization,content-type,x-meilisearch-client" ||
		!strings.Contains(got.header.Get("Access-Control-Allow-Methods"), "PATCH") || !strings.Contains(got.header.Get("Access-Control-Allow-Methods"), "DELETE") {
		t.Errorf(`preflight: %v; want h "authorization,content-type,x-meilisearch-client" and "PATCH" in it and "DELETE" in it`, got.header)
	}
	f(g, "GET", app, 200, app, "X-API-Key: k")
	f(g, "GET", app, 401, app) // an error that the page may read
	f(g, "OPTIONS", "https://evil.example", 204, "", asked)
	f(g, "GET", "https://evil.example", 200, "", "X-API-Key: k")
	f(start(t, Options{}), "OPTIONS", app, 405, "", asked)
}
