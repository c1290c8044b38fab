package web

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// imported is a file that another one names, relative to its own folder.
var imported = regexp.MustCompile(`(?:from |import\(|import )'(\.[^']+)'`)

// TestImportsHaveNoCycle reads the imports of the application's source.
func TestImportsHaveNoCycle(t *testing.T) {
	source := os.DirFS("src")
	imports := map[string][]string{}
	err := fs.WalkDir(source, ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !isSource(name) {
			return err
		}
		text, err := fs.ReadFile(source, name)
		for _, match := range imported.FindAllStringSubmatch(string(text), -1) {
			imports[name] = append(imports[name], path.Join(path.Dir(name), match[1]))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(imports["app.tsx"]) == 0 {
		t.Fatal("app.tsx imports nothing: the imports are not found")
	}
	checked := map[string]bool{}
	for name := range imports {
		follow(t, imports, checked, []string{strings.TrimSuffix(name, path.Ext(name))})
	}
}

func isSource(name string) bool { return path.Ext(name) == ".ts" || path.Ext(name) == ".tsx" }

// follow goes on from the last file of a way.
func follow(t *testing.T, imports map[string][]string, checked map[string]bool, way []string) {
	t.Helper()
	last := way[len(way)-1]
	if checked[last] {
		return
	}
	for _, next := range slices.Concat(imports[last+".ts"], imports[last+".tsx"]) {
		if at := slices.Index(way, next); at >= 0 {
			t.Errorf("an import cycle: %s; move what both need into a file of its own", strings.Join(append(way[at:], next), " → "))
			continue
		}
		follow(t, imports, checked, append(slices.Clone(way), next))
	}
	checked[last] = true
}
