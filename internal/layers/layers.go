// Package layers holds the rules of the house that a compiler does not check:
// which package may import which, who alone may use a library, how long a file
// or a function may be. Its test reads the sources in its own process, because
// the answer of a child process would be kept by Go's test cache.
package layers

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// file is a Go source as the rules see it.
type file struct {
	name    string // slash-separated, from the project's root
	imports []string
	lines   int
	longest function
}

type function struct {
	name  string
	lines int
}

func (f file) folder() string { return path.Dir(f.name) }

func (f file) isTest() bool { return strings.HasSuffix(f.name, "_test.go") }

// sources parses every Go file under the root.
func sources(root string) ([]file, error) {
	var files []file
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && name != root && (isNoSource(entry.Name()) || isModule(name)) {
			return filepath.SkipDir
		}
		if entry.IsDir() || filepath.Ext(name) != ".go" {
			return nil
		}
		f, err := parse(root, name)
		files = append(files, f)
		return err
	})
	return files, err
}

func isNoSource(folder string) bool {
	return strings.HasPrefix(folder, ".") || slices.Contains([]string{"testdata", "node_modules", "vendor", "bin"}, folder)
}

// isModule reports whether a folder is a module of its own.
func isModule(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, "go.mod"))
	return err == nil
}

func parse(root, name string) (file, error) {
	positions := token.NewFileSet()
	tree, err := parser.ParseFile(positions, name, nil, parser.SkipObjectResolution)
	if err != nil {
		return file{}, err
	}
	relative, err := filepath.Rel(root, name)
	if err != nil {
		return file{}, err
	}
	f := file{name: filepath.ToSlash(relative), lines: positions.Position(tree.FileEnd).Line}
	for _, spec := range tree.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return file{}, err
		}
		f.imports = append(f.imports, imported)
	}
	for _, declaration := range tree.Decls {
		if fn, ok := declaration.(*ast.FuncDecl); ok {
			lines := positions.Position(fn.End()).Line - positions.Position(fn.Pos()).Line + 1
			if lines > f.longest.lines {
				f.longest = function{name: fn.Name.Name, lines: lines}
			}
		}
	}
	return f, nil
}

// violations says what each file does that the tables forbid, and how to mend it.
func violations(files []file) []string {
	var found []string
	for _, f := range files {
		for _, imported := range f.imports {
			if complaint := importComplaint(f, imported); complaint != "" {
				found = append(found, f.name+": "+complaint)
			}
		}
		if _, placed := layers[f.folder()]; !placed {
			found = append(found, fmt.Sprintf("%s: package %s has no place in the table of internal/layers; give it one",
				f.name, f.folder()))
		}
		found = append(found, sizeComplaints(f)...)
	}
	return found
}

func importComplaint(f file, imported string) string {
	if owned := ownerComplaint(f.folder(), imported); owned != "" {
		return owned
	}
	if f.isTest() {
		return "" // a test may use whatever shows that its package works
	}
	if imported == "testing" && !isMachinery(f.folder()) {
		return "testing is for tests; move what needs it to a _test.go file or under internal"
	}
	ours, found := strings.CutPrefix(imported, module)
	if !found || mayImport(f.folder(), ours) {
		return ""
	}
	return fmt.Sprintf("%s may not import %s: imports point down; define an interface there, internal/app fills it",
		f.folder(), ours)
}

func mayImport(importer, imported string) bool {
	allowed := layers[importer]
	if slices.Contains(everywhere, imported) || slices.Contains(allowed, imported) {
		return true
	}
	return slices.Contains(allowed, anything) && !isMachinery(imported)
}

func ownerComplaint(folder, imported string) string {
	for library, allowed := range owners {
		if strings.HasPrefix(imported, library) && !slices.ContainsFunc(allowed, func(owner string) bool {
			top, within := strings.CutSuffix(owner, "/...")
			return folder == top || within && strings.HasPrefix(folder, top+"/")
		}) {
			return fmt.Sprintf("%s is for %s alone", imported, strings.Join(allowed, " and "))
		}
	}
	return ""
}

// heavyComplaints says what makes a light package heavy.
func heavyComplaints(files []file) []string {
	importers := map[string][]file{}
	for _, f := range files {
		if !f.isTest() {
			importers[f.folder()] = append(importers[f.folder()], f)
		}
	}
	var found []string
	for _, start := range light {
		reached := []string{start}
		for i := 0; i < len(reached); i++ {
			for _, f := range importers[reached[i]] {
				found = append(found, heavyImports(start, f)...)
				reached = append(reached, newFolders(f, reached)...)
			}
		}
	}
	return found
}

func heavyImports(start string, f file) (found []string) {
	for _, imported := range f.imports {
		if slices.ContainsFunc(heavy, func(library string) bool { return strings.HasPrefix(imported+"/", library+"/") }) {
			found = append(found, fmt.Sprintf("%s imports %s, and %s imports %s; internal/app has to bring it",
				f.name, imported, start, f.folder()))
		}
	}
	return found
}

// newFolders are the packages of ours that a file imports and that are not known.
func newFolders(f file, known []string) (found []string) {
	for _, imported := range f.imports {
		ours, is := strings.CutPrefix(imported, module)
		if is && !slices.Contains(known, ours) && !slices.Contains(found, ours) {
			found = append(found, ours)
		}
	}
	return found
}

func isMachinery(folder string) bool {
	begins := func(prefix string) bool { return strings.HasPrefix(folder, prefix) }
	return slices.ContainsFunc(machinery, begins) && !slices.ContainsFunc(program, begins)
}

// The limits of style: what is longer does more than one thing.
const (
	maxFileLines     = 800
	maxFunctionLines = 80
)

func sizeComplaints(f file) []string {
	var found []string
	if f.lines > maxFileLines {
		found = append(found, fmt.Sprintf("%s has %d lines; split it, %d is the limit", f.name, f.lines, maxFileLines))
	}
	if !f.isTest() && f.longest.lines > maxFunctionLines {
		found = append(found, fmt.Sprintf("%s: function %s has %d lines; split it, %d is the limit",
			f.name, f.longest.name, f.longest.lines, maxFunctionLines))
	}
	return found
}
