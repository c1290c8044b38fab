package docs_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/hybridge-search/hybridge/docs"
	"github.com/hybridge-search/hybridge/guide"
)

// told is a text that users read.
type told struct{ where, text string }

// surfaces are all texts that users read, by surface and language, without code and names of the API.
func surfaces(t *testing.T) map[string][]told {
	t.Helper()
	if known != nil {
		return known
	}
	all := map[string][]told{}
	for surface, pattern := range map[string]string{
		"guide en": "guide/en/*.md", "guide zh": "guide/zh/*.md", "readme en": "../README.md", "readme zh": "../README.zh.md",
		"changelog en": "../CHANGELOG.md", "settings en": "configuration.md", "settings zh": "configuration.zh.md",
		"reference en": "score-contract.md", "reference zh": "score-contract.zh.md",
	} {
		all[surface] = paragraphsOf(t, pattern)
	}
	all["page en"] = valuesOf(t, "../web/src/i18n/*en.json")
	all["page zh"] = valuesOf(t, "../web/src/i18n/*zh.json")
	for english, chinese := range entriesOf(t, "../locale/zh.json") {
		all["messages en"] = append(all["messages en"], told{"locale/zh.json", english})
		all["messages zh"] = append(all["messages zh"], told{"locale/zh.json", chinese})
	}
	for english, chinese := range entriesOf(t, "../locale/cli.zh.json") {
		all["commands en"] = append(all["commands en"], told{"locale/cli.zh.json", english})
		all["commands zh"] = append(all["commands zh"], told{"locale/cli.zh.json", chinese})
	}
	all["api en"] = descriptions(t, "../gateway/testdata/openapi.json")
	all["help en"] = linesOf(t, "../cmd/hybridge/testdata/help.txt")
	all["log en"] = logged(t)
	known = all
	return all
}

// known are the surfaces once they have been read, which takes a second; tests that read them are not parallel.
var known map[string][]told

var (
	inlineCode = regexp.MustCompile("(?s)```.*?```|<!--.*?-->|`[^`]*`|\\{[^}]*\\}|\\]\\([^)]*\\)")
	tokenNames = regexp.MustCompile(`\S*[_/=][\w./=-]*|--[\w-]+|%[-+.\d\[\]]*[a-zA-Z]`) // paths, settings, flags, verbs of formats
)

func proseOf(text string) string {
	return tokenNames.ReplaceAllString(inlineCode.ReplaceAllString(text, " "), " ")
}

func paragraphsOf(t *testing.T, pattern string) (all []told) {
	t.Helper()
	for _, name := range filesOf(t, pattern) {
		if filepath.Base(name) == "glossary.md" { // it names the words
			continue
		}
		for _, part := range strings.Split(inlineCode.ReplaceAllString(contentOf(t, name), " "), "\n\n") {
			all = append(all, told{name, part})
		}
	}
	return all
}

func filesOf(t *testing.T, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %v; want no error and some names", pattern, err)
	}
	return names
}

func linesOf(t *testing.T, name string) (all []told) {
	t.Helper()
	for i, line := range strings.Split(contentOf(t, name), "\n") {
		all = append(all, told{fmt.Sprintf("%s:%d", name, i+1), line})
	}
	return all
}

func contentOf(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name) //nolint:gosec // a file of the project
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func entriesOf(t *testing.T, name string) map[string]string {
	t.Helper()
	entries := map[string]string{}
	if err := json.Unmarshal([]byte(contentOf(t, name)), &entries); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return entries
}

func valuesOf(t *testing.T, pattern string) (all []told) {
	t.Helper()
	for _, name := range filesOf(t, pattern) {
		for key, text := range entriesOf(t, name) {
			all = append(all, told{name + " " + key, text})
		}
	}
	return all
}

// descriptions are the summaries and descriptions of an OpenAPI document.
func descriptions(t *testing.T, name string) (all []told) {
	t.Helper()
	var document any
	if err := json.Unmarshal([]byte(contentOf(t, name)), &document); err != nil {
		t.Fatal(err)
	}
	var walk func(path string, node any)
	walk = func(path string, node any) {
		switch node := node.(type) {
		case map[string]any:
			for key, below := range node {
				if text, ok := below.(string); ok && (key == "description" || key == "summary") {
					all = append(all, told{path, text})
				}
				if key != "example" && key != "examples" {
					walk(path+"/"+key, below)
				}
			}
		case []any:
			for i, below := range node {
				walk(path+"/"+strconv.Itoa(i), below)
			}
		}
	}
	walk("openapi.json", document)
	return all
}

// logged are the messages of log lines in the sources.
func logged(t *testing.T) (all []told) {
	t.Helper()
	methods := []string{"Debug", "Info", "Warn", "Error", "DebugContext", "InfoContext", "WarnContext", "ErrorContext"}
	eachSource(t, func(name string, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if method, ok := call.Fun.(*ast.SelectorExpr); !ok || !slices.Contains(methods, method.Sel.Name) {
				return true
			}
			for _, argument := range call.Args[:min(2, len(call.Args))] {
				if text, ok := argument.(*ast.BasicLit); ok && text.Kind == token.STRING {
					value, _ := strconv.Unquote(text.Value)
					all = append(all, told{name, value})
					break
				}
			}
			return true
		})
	})
	return all
}

// rule is a replaced word of a language and the term in its place.
type rule struct {
	word, unless *regexp.Regexp
	term         string
}

func rulesOf(t *testing.T, terms []guide.Term, code string) (all []rule) {
	t.Helper()
	for _, term := range terms {
		for _, word := range term.Replaced[code] {
			r := rule{term: term.Term[code]}
			edge := ""
			if code == "en" {
				edge = `\b`
			}
			r.word = regexp.MustCompile("(?i)" + edge + "(?:" + word + ")" + edge)
			if unless := term.Unless[code]; len(unless) > 0 {
				r.unless = regexp.MustCompile("(?i)" + strings.Join(unless, "|"))
			}
			all = append(all, r)
		}
	}
	return all
}

func (r *rule) finds(text string) []string {
	if r.unless != nil {
		text = r.unless.ReplaceAllString(text, " ")
	}
	return r.word.FindAllString(text, -1)
}

// No text that users read has a word that the glossary replaces. Surfaces that are not mended yet have a number of them
// that only falls (testdata/replaced.yaml).
func TestNoReplacedTermStands(t *testing.T) {
	var debts map[string]int
	if err := yaml.Unmarshal([]byte(contentOf(t, "testdata/replaced.yaml")), &debts); err != nil {
		t.Fatal(err)
	}
	terms, err := guide.Glossary(docs.Files())
	if err != nil {
		t.Fatal(err)
	}
	for surface, texts := range surfaces(t) {
		code := surface[strings.LastIndex(surface, " ")+1:]
		var found []string
		rules := rulesOf(t, terms, code)
		for _, text := range texts {
			prose := proseOf(text.text)
			for _, r := range rules {
				for _, word := range r.finds(prose) {
					found = append(found, fmt.Sprintf("%s: %q for %q in %.160q", text.where, strings.TrimSpace(word), r.term, text.text))
				}
			}
		}
		slices.Sort(found)
		switch owed := debts[surface]; {
		case len(found) > owed:
			t.Errorf("%s: %d replaced words; want %d at most:\n%s", surface, len(found), owed, strings.Join(found, "\n"))
		case len(found) < owed:
			t.Errorf("%s: %d replaced words where testdata/replaced.yaml allows %d; lower its number", surface, len(found), owed)
		}
	}
}
