package locale

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// TestCatalogs holds every catalog to the sources: each text that a caller may read is
// there, and nothing else.
func TestCatalogs(t *testing.T) {
	texts := readSources(t, "..", isSeen)
	if len(texts) < 300 {
		t.Fatalf("the sources have %d texts; the search for them is broken; want at least 300 texts", len(texts))
	}
	for _, l := range languages[1:] {
		t.Run(l.tag, func(t *testing.T) {
			data, err := os.ReadFile(l.tag + ".json")
			if err != nil {
				t.Fatal(err)
			}
			var entries map[string]string
			if err := json.Unmarshal(data, &entries); err != nil { // refuses an entry that is there twice
				t.Fatal(err)
			}
			checkCatalog(t, entries, texts)
		})
	}
}

func checkCatalog(t *testing.T, entries, texts map[string]string) {
	t.Helper()
	used := map[string]bool{}
	for _, format := range sorted(texts) {
		known := covers(entries, format)
		for _, english := range known {
			used[english] = true
		}
		if len(known) == 0 && hasWords(format) {
			t.Errorf("%s: the catalog does not have %q", texts[format], format)
		}
	}
	for english, said := range entries {
		if slices.Contains(joints, english) {
			continue
		}
		if !used[english] {
			t.Errorf("no source has %q; take it out of the catalog", english)
		}
		if _, err := newMessage(english, said); err != nil {
			t.Errorf("%q: %v", english, err)
		}
		if missing := unsaid(english, said); missing > 0 {
			t.Errorf("%q: %q leaves out value %d; want missing 0", english, said, missing)
		}
	}
}

// covers gives the entries for a format: its own or, of one that is little more than
// its values, the texts that it may become.
func covers(entries map[string]string, format string) []string {
	if _, ok := entries[format]; ok {
		return []string{format}
	}
	m, err := newMessage(format, "")
	if err != nil || !hasWords(format) {
		return nil
	}
	var all []string
	for english := range entries {
		if _, ok := m.match(english); ok && !strings.Contains(english, "%") {
			all = append(all, english)
		}
	}
	return all
}

// unsaid gives the number of a value that a translation does not have.
func unsaid(english, said string) int {
	_, count, _ := split(english)
	parts, _, _ := split(said)
	for n := 1; n <= count; n++ {
		if !slices.ContainsFunc(parts, func(p part) bool { return p.value == n }) {
			return n
		}
	}
	return 0
}

func sorted(texts map[string]string) []string {
	all := make([]string, 0, len(texts))
	for format := range texts {
		all = append(all, format)
	}
	slices.Sort(all)
	return all
}
