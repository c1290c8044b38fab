package locale

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// ofCommands are the files that make texts for people at a command line, and those that say which arguments are texts.
func ofCommands(file string) bool {
	ours := strings.HasPrefix(file, "internal/cli/") || strings.HasPrefix(file, "internal/offline/")
	return ours && !isSeen(file) || strings.HasPrefix(file, "fault/")
}

// TestCommandCatalogs holds the catalogs of the command line to its sources. Its help is held to them by cmd/hybridge.
func TestCommandCatalogs(t *testing.T) {
	t.Parallel()
	texts := readSources(t, "..", ofCommands)
	if len(texts) < 200 {
		t.Fatalf("the sources have %d texts; want at least 200", len(texts))
	}
	server, own := entriesOf(t, "zh.json"), entriesOf(t, "cli.zh.json")
	all, used := maps.Clone(server), map[string]bool{}
	maps.Copy(all, own)
	for _, format := range sorted(texts) {
		for _, known := range covers(all, format) {
			used[known] = true
		}
		if _, ok := all[format]; ok {
			continue
		}
		for cell := range strings.SplitSeq(format, "\t") {
			core := strings.Trim(cell, " \n")
			known := covers(all, core)
			for _, english := range known {
				used[english] = true
			}
			if len(known) == 0 && hasWords(core) {
				t.Errorf("%s: the catalog does not have %q", texts[format], core)
			}
		}
	}
	help, source := readAll(t, "../cmd/hybridge/testdata", "help.txt"), readAll(t, "../internal", ".go")
	for english, said := range own {
		m, err := newMessage(english, said)
		if err != nil {
			t.Errorf("%q: %v", english, err)
		}
		if _, twice := server[english]; twice {
			t.Errorf("zh.json has %q too; take it out of cli.zh.json", english)
		}
		if missing := unsaid(english, said); missing > 0 {
			t.Errorf("%q: %q leaves out value %d; want missing 0", english, said, missing)
		}
		if !used[english] && !strings.Contains(help, english) && !strings.Contains(source, strings.TrimSpace(m.longest)) &&
			!ofLibraries.MatchString(english) {
			t.Errorf("nothing says %q; take it out of the catalog", english)
		}
	}
}

// ofLibraries are texts of cobra and pflag, and counted nouns.
var ofLibraries = regexp.MustCompile(`ompletion|^Quality$|^(1 \w+|%d \w+s)$|^(string|number|duration)$`)

func entriesOf(t *testing.T, name string) (entries map[string]string) {
	t.Helper()
	data, err := os.ReadFile(name) //nolint:gosec // one of the catalogs
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &entries); err != nil { // refuses an entry that is there twice
		t.Fatal(err)
	}
	return entries
}

// readAll gives the content of the files below a folder whose names end so.
func readAll(t *testing.T, folder, ending string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(folder, func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ending) || strings.HasSuffix(name, "_test.go") {
			return err
		}
		content, err := os.ReadFile(name) //nolint:gosec // a file of the project
		all.Write(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
