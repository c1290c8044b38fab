package web

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// imported is a file that another one names, relative to its own folder, and how it does.
var imported = regexp.MustCompile(`(?m)(^import type [^']*|^(?:import|export)\b[^'(]*|import\()'(\.[^']+)'`)

// TestImportsHaveNoCycle reads the imports of the application's source.
func TestImportsHaveNoCycle(t *testing.T) {
	imports := readImports(t, os.DirFS("src"))
	checked := map[string]bool{}
	for name := range imports {
		follow(t, imports, checked, []string{name})
	}
}

func isSource(name string) bool { return path.Ext(name) == ".ts" || path.Ext(name) == ".tsx" }

// follow goes on from the last file of a way.
func follow(t *testing.T, imports map[string][]importOf, checked map[string]bool, way []string) {
	t.Helper()
	last := way[len(way)-1]
	if checked[last] {
		return
	}
	for _, imported := range imports[last] {
		for _, next := range sourceOf(imports, imported.name) {
			if at := slices.Index(way, next); at >= 0 {
				t.Errorf("an import cycle: %s; move what both need into a file of its own; want at below 0", strings.Join(append(way[at:], next), " → "))
				continue
			}
			follow(t, imports, checked, append(slices.Clone(way), next))
		}
	}
	checked[last] = true
}
