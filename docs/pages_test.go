package docs_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// readers are the pages that users read, in both languages.
func readers(t *testing.T) (names []string) {
	t.Helper()
	for _, pattern := range []string{"../README*.md", "guide/en/*.md", "guide/zh/*.md", "*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v; want no error and some names", pattern, err)
		}
		names = append(names, found...)
	}
	return names
}

// A heading tells its section from the others of the page, and so does its anchor. What a measurement writes repeats
// its headings below others.
func TestHeadingsDiffer(t *testing.T) {
	t.Parallel()
	for _, name := range readers(t) {
		if name == "relevance.md" {
			continue
		}
		seen := map[string]bool{}
		inCode := false
		for _, line := range strings.Split(contentOf(t, name), "\n") {
			if strings.HasPrefix(line, "```") {
				inCode = !inCode
			}
			if h := heading.FindStringSubmatch(line); h != nil && !inCode {
				if seen[h[2]] {
					t.Errorf("%s has the heading %q twice", name, h[2])
				}
				seen[h[2]] = true
			}
		}
	}
}

// helpOf reads the flags of each command, as its help shows them.
func helpOf(t *testing.T) map[string][]string {
	t.Helper()
	flags := map[string][]string{}
	command := ""
	for _, line := range strings.Split(contentOf(t, "../cmd/hybridge/testdata/help.txt"), "\n") {
		if m := regexp.MustCompile(`^hybridge((?: [a-z0-9-]+)*): `).FindStringSubmatch(line); m != nil {
			command = strings.TrimSpace(m[1])
			flags[command] = nil
		} else if m := regexp.MustCompile(`^  --([a-z0-9-]+)  `).FindStringSubmatch(line); m != nil {
			flags[command] = append(flags[command], m[1])
		}
	}
	if len(flags) < 50 {
		t.Fatalf("%d commands have help; want at least 50", len(flags))
	}
	return flags
}

var (
	calls     = regexp.MustCompile(`\bhybridge ([a-z][^\n` + "`" + `|;&#]*)`)
	flagNames = regexp.MustCompile(`(?:^|\s)--([a-z][a-z0-9-]*)`)
)

// Each flag of a command that the guide or the README types is in the help of that command.
func TestFlagsAreInTheHelp(t *testing.T) {
	t.Parallel()
	help := helpOf(t)
	checked := 0
	for _, name := range readers(t) {
		text := strings.ReplaceAll(contentOf(t, name), "\\\n", " ")
		for _, call := range calls.FindAllStringSubmatch(quoted.ReplaceAllString(text, `""`), -1) {
			command, known := commandOf(call[1], help)
			if command == "" {
				continue
			}
			for _, flag := range flagNames.FindAllStringSubmatch(call[1], -1) {
				checked++
				if !slices.Contains(known, flag[1]) {
					t.Errorf("%s: the help of %q has no --%s: hybridge %.120s", name, command, flag[1], call[1])
				}
			}
		}
	}
	if checked < 100 {
		t.Errorf("%d flags were checked; want at least 100", checked)
	}
}

// commandOf is the longest command that a line begins with, and its flags.
func commandOf(line string, help map[string][]string) (command string, flags []string) {
	words := strings.Fields(line)
	for n := min(len(words), 4); n > 0; n-- {
		name := strings.Join(words[:n], " ")
		if flags, ok := help[name]; ok {
			return name, flags
		}
	}
	return "", nil
}

var fences = regexp.MustCompile("(?ms)^```.*?^```$")

// Both READMEs show the same commands and answers, and the same measured figures.
func TestREADMEsShowTheSame(t *testing.T) {
	t.Parallel()
	english, chinese := contentOf(t, "../README.md"), contentOf(t, "../README.zh.md")
	in, want := fences.FindAllString(chinese, -1), fences.FindAllString(english, -1)
	if !slices.Equal(in, want) {
		t.Errorf("README.zh.md has %d blocks of code that are not the %d of README.md: %.2000q; want them equal", len(in), len(want), in)
	}
	_, figures, _ := strings.Cut(english, "<!-- figures -->")
	figures, _, found := strings.Cut(figures, "<!-- end of figures -->")
	if !found {
		t.Fatal("README.md has no figures; want those of the benchmarks")
	}
	for _, number := range regexp.MustCompile(`\d[\d,]*\.?\d*`).FindAllString(figures, -1) {
		if !strings.Contains(chinese, number) {
			t.Errorf("README.md measured %s; want it in README.zh.md too", number)
		}
	}
}
