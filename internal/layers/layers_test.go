package layers

import (
	"slices"
	"strings"
	"testing"
)

const root = "../.."

func TestSourcesKeepTheRules(t *testing.T) {
	files, err := sources(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 50 {
		t.Fatalf("only %d Go files were found; want at least 50 files", len(files))
	}
	for _, violation := range append(violations(files), heavyComplaints(files)...) {
		t.Error(violation)
	}
}

func TestLightPackagesStayLight(t *testing.T) {
	f := func(imported string, want int) {
		t.Helper()
		got := heavyComplaints([]file{
			{name: "rag/client.go", imports: []string{"net/http", module + "search"}},
			{name: "search/search.go", imports: []string{module + "analysis", module + "rag"}},
			{name: "analysis/token.go", imports: []string{"strings", imported}},
			{name: "analysis/token_test.go", imports: []string{"github.com/yanyiwu/gojieba"}},
		})
		if len(got) != want {
			t.Errorf("importing %s gives %q", imported, got)
		}
	}
	f("golang.org/x/text/unicode/norm", 0)
	f("C", 2) // of rag and of search
	f("github.com/kljensen/snowball/english", 2)
	f("github.com/kljensen/snowballs", 0)
}

func TestTheTableHasNoCircle(t *testing.T) {
	var visit func(name string, above []string)
	visit = func(name string, above []string) {
		if slices.Contains(above, name) {
			t.Errorf("%s reaches itself: %s", name, strings.Join(above, " → "))
			return
		}
		for _, below := range layers[name] {
			if _, placed := layers[below]; !placed && below != anything {
				t.Errorf("%s may import %s, which has no place; want placed or below anything", name, below)
			}
			visit(below, append(slices.Clone(above), name))
		}
	}
	for name := range layers {
		visit(name, nil)
	}
}

func TestRulesAreKeptOnlyByKeepingThem(t *testing.T) {
	f := func(name, imported, want string) {
		t.Helper()
		got := strings.Join(violations([]file{{name: name, imports: []string{imported}}}), "\n")
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s importing %s gives %q, want %q", name, imported, got, want)
		}
	}
	f("search/search.go", module+"engine", "")
	f("search/search.go", module+"fault", "")
	f("search/search.go", "net/http", "")
	f("search/search_test.go", module+"engine/embedded", "")
	f("engine/enginetest/suite.go", "testing", "")
	f("cmd/hybridge/main.go", module+"config", "")

	f("search/search.go", module+"gateway", "imports point down")
	f("search/search.go", module+"engine/elastic", "imports point down")
	f("search/search.go", module+"config", "imports point down")
	f("engine/embedded/store.go", module+"engine/elastic", "imports point down")
	f("cmd/hybridge/main.go", module+"internal/devservices", "imports point down")
	f("search/search.go", "testing", "testing is for tests")
	f("search/search.go", "github.com/gofiber/fiber/v2", "for gateway/... alone")
	f("gatewayish/search.go", "github.com/gofiber/fiber/v2", "for gateway/... alone")
	f("gateway/endpoint/send.go", "github.com/gofiber/fiber/v2", "")
	f("search/search_test.go", "github.com/elastic/go-elasticsearch/v8/esapi", "for engine/elastic/rest and mappings alone")
	f("engine/embedded/store.go", "github.com/jackc/pgx/v5/pgxpool", "for engine/postgres and internal/devservices alone")
	f("utils/strings.go", "strings", "utils has no place")
}

func TestSizesAreLimited(t *testing.T) {
	long := function{name: "f", lines: 81}
	if got := violations([]file{{name: "search/a_test.go", lines: 800, longest: long}}); len(got) != 0 {
		t.Errorf("a long test function: %v; want no got", got)
	}
	if got := violations([]file{{name: "search/a.go", lines: 801, longest: long}}); len(got) != 2 {
		t.Errorf("a long file with a long function: %v; want 2 got", got)
	}
}
