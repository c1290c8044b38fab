package web

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTextsAreSaidOnce: of two texts with one key the page would show the last, whoever meant it; and
// every language has all of them, in the same file.
func TestTextsAreSaidOnce(t *testing.T) {
	for _, language := range []string{"en", "zh"} {
		first, pages := textsOf(t, language+".json"), textsOf(t, "pages."+language+".json")
		for _, key := range pages {
			if slices.Contains(first, key) {
				t.Errorf("%s is in %s.json and in pages.%s.json", key, language, language)
			}
		}
		for name, keys := range map[string][]string{"en.json": first, "pages.en.json": pages} {
			if want := textsOf(t, name); !slices.Equal(slices.Sorted(slices.Values(keys)), slices.Sorted(slices.Values(want))) {
				t.Errorf("in %s other texts stand than in %s", language, name)
			}
		}
	}
}

// textsOf reads the keys of a file of texts, each of which may be in it once.
func textsOf(t *testing.T, name string) []string {
	t.Helper()
	file, err := os.Open("src/i18n/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // it is only read
	var keys []string
	read, isKey := json.NewDecoder(file), false
	for read.More() || len(keys) == 0 {
		token, err := read.Token()
		if err != nil {
			t.Fatal(err)
		}
		text, isText := token.(string)
		if !isText {
			continue // the brace at the beginning
		}
		if isKey = !isKey; !isKey {
			continue
		}
		if slices.Contains(keys, text) {
			t.Errorf("%s has %q twice", name, text)
		}
		keys = append(keys, text)
	}
	return keys
}

// TestTheFirstPageHasItsTexts: what is loaded at once shows no text of the file that comes with what is loaded later.
func TestTheFirstPageHasItsTexts(t *testing.T) {
	imports := readImports(t, os.DirFS("src"))
	first := map[string]bool{}
	for todo := []string{"main.tsx"}; len(todo) > 0; todo = todo[1:] {
		name := todo[0]
		if first[name] {
			continue
		}
		first[name] = true
		for _, next := range imports[name] {
			if next.how == atOnce {
				todo = append(todo, sourceOf(imports, next.name)...)
			}
		}
	}
	pages := textsOf(t, "pages.en.json")
	for _, name := range slices.Sorted(maps.Keys(first)) {
		text, err := os.ReadFile(path.Join("src", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range quoted.FindAllStringSubmatch(string(text), -1) {
			if key, made, _ := strings.Cut(match[1], "${"); slices.Contains(pages, match[1]) ||
				made != "" && slices.ContainsFunc(pages, func(page string) bool { return strings.HasPrefix(page, key) }) {
				t.Errorf("%s is loaded at once and shows %s, which is in pages.en.json; move it into en.json", name, match[1])
			}
		}
	}
	if len(first) < 20 || len(first) > len(imports)/2 {
		t.Errorf("%d of %d files are loaded at once: the imports are not read right", len(first), len(imports))
	}
}

// quoted is what may be the key of a text, or the beginning of one.
var quoted = regexp.MustCompile("['`]([a-z]+\\.[a-zA-Z0-9_.]*(?:\\$\\{[^}]*\\})?)['`]")

// an importOf is a file that another one imports.
type importOf struct{ name, how string }

const (
	atOnce  = "at once"
	later   = "when it is needed"
	ofTypes = "for its types" // which no browser sees
)

// readImports reads the imports of every source file.
func readImports(t *testing.T, source fs.FS) map[string][]importOf {
	t.Helper()
	imports := map[string][]importOf{}
	err := fs.WalkDir(source, ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !isSource(name) {
			return err
		}
		text, err := fs.ReadFile(source, name)
		imports[name] = nil
		for _, match := range imported.FindAllStringSubmatch(string(text), -1) {
			how := atOnce
			switch {
			case match[1] == "import(":
				how = later
			case strings.HasPrefix(match[1], "import type"):
				how = ofTypes
			}
			imports[name] = append(imports[name], importOf{name: path.Join(path.Dir(name), match[2]), how: how})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(imports["app.tsx"]) == 0 {
		t.Fatal("app.tsx imports nothing: the imports are not found")
	}
	return imports
}

// sourceOf is the file that an import without an ending means; none for what is no source.
func sourceOf(imports map[string][]importOf, name string) []string {
	for _, ending := range []string{".ts", ".tsx"} {
		if _, there := imports[name+ending]; there {
			return []string{name + ending}
		}
	}
	return nil
}
