package docs_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// shownAsGoWrites are the errors that may show a value by %v, by the format: numbers, durations, other errors.
var shownAsGoWrites = map[string]string{
	"there is %v; it must be %v":               "marks of JSON",
	"more than %v and at most 1":               "a number",
	"%s cannot be planned: %v":                 "an error",
	"its parser took longer than %v; split it": "a duration",
	"%v": "an error",
}

// No error shows a value as Go writes a struct or a list: fault.Invalid and fault.Show write JSON, %v does not.
func TestErrorsShowNoGoValue(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	eachSource(t, func(name string, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !isFault(call) {
				return true
			}
			for _, format := range formatsIn(call) {
				if !strings.Contains(format, "%v") && !strings.Contains(format, "%+v") && !strings.Contains(format, "%#v") {
					continue
				}
				seen[format] = true
				if shownAsGoWrites[format] == "" {
					t.Errorf("%s: %q shows a value as Go writes it; want %%s and fault.Show", name, format)
				}
			}
			return true
		})
	})
	for format := range shownAsGoWrites {
		if !seen[format] {
			t.Errorf("no error has the format %q; take it out of the exceptions", format)
		}
	}
}

// eachSource parses the sources of the program that are not tests.
func eachSource(t *testing.T, f func(name string, file *ast.File)) {
	t.Helper()
	err := filepath.WalkDir("..", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || strings.HasPrefix(entry.Name(), ".") && len(entry.Name()) > 2):
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err == nil {
			f(name, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// isFault reports whether a call makes an error for callers: none that is internal.
func isFault(call *ast.CallExpr) bool {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	if of, ok := method.X.(*ast.Ident); !ok || of.Name != "fault" {
		return false
	}
	if len(call.Args) > 0 {
		if kind, ok := call.Args[0].(*ast.SelectorExpr); ok && kind.Sel.Name == "Internal" {
			return false
		}
	}
	return true
}

// formatsIn are the texts within a call.
func formatsIn(call *ast.CallExpr) (all []string) {
	ast.Inspect(call, func(n ast.Node) bool {
		if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
			value, _ := strconv.Unquote(text.Value)
			all = append(all, value)
		}
		return true
	})
	return all
}

var (
	values     = regexp.MustCompile(`%(?:\[\d+\])?[-+# 0-9.]*[a-zA-Z%]`)
	quotations = regexp.MustCompile(`"[^"]*"|'[^']*'|\{[^}]*\}`)
	codeNames  = regexp.MustCompile(`[\w*]*(?:[-_/=.:@*+\[\]<>]+[\w*]+)+|--[\w-]+|\S*[_/=]\S*`)
	latin      = regexp.MustCompile(`[A-Za-z][A-Za-z0-9']+`)
)

// A Chinese message has no English but the names of the API, of settings, commands and products (testdata/names.yaml).
func TestChineseMessagesHaveNoEnglish(t *testing.T) {
	t.Parallel()
	known := apiNames(t)
	var products []string
	if err := yaml.Unmarshal([]byte(contentOf(t, "testdata/names.yaml")), &products); err != nil {
		t.Fatal(err)
	}
	for _, name := range products {
		known[name] = true
	}
	used := map[string]bool{}
	for _, chinese := range entriesOf(t, "../locale/zh.json") {
		text := quotations.ReplaceAllString(values.ReplaceAllString(chinese, " "), " ")
		for _, word := range latin.FindAllString(codeNames.ReplaceAllString(text, " "), -1) {
			used[word] = true
			if !known[word] {
				t.Errorf("%q is English within Chinese; want it translated, or a name of testdata/names.yaml: %s", word, chinese)
			}
		}
	}
	for _, name := range products {
		if !used[name] {
			t.Errorf("testdata/names.yaml has %q, which no message has; take it out", name)
		}
	}
}

// apiNames are the fields, parameters and values of the API, the parts of settings, and the words of commands.
func apiNames(t *testing.T) map[string]bool {
	t.Helper()
	known := map[string]bool{}
	var document any
	if err := json.Unmarshal([]byte(contentOf(t, "../gateway/testdata/openapi.json")), &document); err != nil {
		t.Fatal(err)
	}
	var walk func(node any)
	walk = func(node any) {
		switch node := node.(type) {
		case map[string]any:
			if of, ok := node["properties"].(map[string]any); ok {
				for name := range of {
					known[name] = true
				}
			}
			if of, ok := node["enum"].([]any); ok {
				for _, value := range of {
					if text, ok := value.(string); ok {
						known[text] = true
					}
				}
			}
			if name, ok := node["name"].(string); ok {
				known[name] = true
			}
			for _, below := range node {
				walk(below)
			}
		case []any:
			for _, below := range node {
				walk(below)
			}
		}
	}
	walk(document)
	for _, setting := range regexp.MustCompile("(?m)^\\| `([^`]+)`").FindAllStringSubmatch(contentOf(t, "configuration.md"), -1) {
		for _, part := range strings.FieldsFunc(setting[1], func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
			known[part] = true
		}
	}
	for command := range helpOf(t) {
		for _, word := range strings.Fields(command) {
			known[word] = true
		}
	}
	return known
}
