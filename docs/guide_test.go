package docs_test

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/hybridge-search/hybridge/docs"
)

var languages = []string{"en", "zh"}

// TestContents holds contents.yaml to the pages: each is named once, in both languages.
func TestContents(t *testing.T) {
	t.Parallel()
	text, err := fs.ReadFile(docs.Guide(), "contents.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var parts []struct {
		Part  map[string]string `yaml:"part"`
		Pages []string          `yaml:"pages"`
	}
	if err := yaml.Unmarshal(text, &parts); err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, p := range parts {
		if p.Part["en"] == "" || p.Part["zh"] == "" || len(p.Pages) == 0 {
			t.Errorf("%+v lacks a name or pages", p)
		}
		named = append(named, p.Pages...)
	}
	slices.Sort(named)
	for _, language := range languages {
		if got := pagesOf(t, language); !slices.Equal(got, named) {
			t.Errorf("%s has the pages %v, contents.yaml %v", language, got, named)
		}
	}
}

// TestLanguagesSayTheSame compares the shape of a page in both languages: headings, items, rows, code.
func TestLanguagesSayTheSame(t *testing.T) {
	t.Parallel()
	for _, name := range pagesOf(t, "en") {
		en, zh := read(t, "en/"+name+".md"), read(t, "zh/"+name+".md")
		for at := range max(len(en.shape), len(zh.shape)) {
			if a, b := elementAt(en.shape, at), elementAt(zh.shape, at); a.kind != b.kind {
				t.Errorf("%s: en has %s, zh has %s", name, a, b)
				break
			}
		}
	}
}

// A page of the reference that is in Chinese too has the same shape.
func TestReferenceSaysTheSame(t *testing.T) {
	t.Parallel()
	translated, err := fs.Glob(docs.Files(), "*.zh.md")
	if err != nil || len(translated) == 0 {
		t.Fatalf("%v, %v; want no error and some pages", translated, err)
	}
	for _, name := range translated {
		zh, _ := find(t, "../"+name)
		en, known := find(t, "../"+strings.TrimSuffix(name, ".zh.md")+".md")
		if !known {
			t.Errorf("%s is in Chinese alone; want it in English too", name)
		}
		for at := range max(len(en.shape), len(zh.shape)) {
			if a, b := elementAt(en.shape, at), elementAt(zh.shape, at); a.kind != b.kind {
				t.Errorf("%s: English has %s, Chinese has %s", name, a, b)
				break
			}
		}
		for _, link := range zh.links {
			to, anchor, _ := strings.Cut(link, "#")
			if to == "" {
				to = name
			}
			target, ok := find(t, "../"+to)
			if anchor != "" && (!ok || !slices.Contains(target.anchors, anchor)) {
				t.Errorf("%s leads to %s, which is not there", name, link)
			}
		}
	}
}

// TestLinks follows every link within the repository, and its anchor; every picture is used.
func TestLinks(t *testing.T) {
	t.Parallel()
	unused := map[string]bool{}
	pictures, err := fs.Glob(docs.Guide(), "pictures/*.svg")
	if err != nil || len(pictures) == 0 {
		t.Fatalf("%v, %v; want no error and some pictures", pictures, err)
	}
	for _, picture := range pictures {
		unused[picture] = true
		if text := string(readFile(t, picture)); !strings.Contains(text, "<title") || !strings.Contains(text, "prefers-color-scheme") {
			t.Errorf("%s lacks a title or colours for the dark", picture)
		}
	}
	for _, language := range languages {
		for _, name := range pagesOf(t, language) {
			from := language + "/" + name + ".md"
			for _, link := range read(t, from).links {
				to, anchor, _ := strings.Cut(link, "#")
				file := from
				if to != "" {
					file = path.Join(language, to)
				}
				delete(unused, file)
				target, ok := find(t, file)
				if !ok || anchor != "" && !slices.Contains(target.anchors, anchor) {
					t.Errorf("%s leads to %s, which is not there", from, link)
				}
			}
		}
	}
	if len(unused) > 0 {
		t.Errorf("no page shows %v; want len(unused) 0", unused)
	}
}

func pagesOf(t *testing.T, language string) (names []string) {
	t.Helper()
	files, err := fs.Glob(docs.Pages(), language+"/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v; want no error and some files", files, err)
	}
	for _, file := range files {
		names = append(names, strings.TrimSuffix(path.Base(file), ".md"))
	}
	slices.Sort(names)
	return names
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	text, err := fs.ReadFile(docs.Guide(), name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func read(t *testing.T, name string) page {
	t.Helper()
	p := readPage(string(readFile(t, name)))
	if len(p.shape) == 0 || p.shape[0].kind != "# heading" || p.shape[0].line != 1 {
		t.Errorf("%s does not begin with its title", name)
	}
	return p
}

// find reads what a link leads to: a page, a picture, or a page of the reference beside the guide.
func find(t *testing.T, file string) (p page, ok bool) {
	t.Helper()
	files := docs.Guide()
	if outside, is := strings.CutPrefix(file, "../"); is {
		files, file = docs.Files(), outside
	}
	text, err := fs.ReadFile(files, file)
	return readPage(string(text)), err == nil
}

// page is what a test wants to know of a file.
type page struct {
	shape   []element
	anchors []string
	links   []string // without those to other hosts
}

// element is a part of a page that both languages have.
type element struct {
	kind string
	line int
}

func (e element) String() string { return fmt.Sprintf("%q in line %d", e.kind, e.line) }

func elementAt(all []element, at int) element {
	if at < len(all) {
		return all[at]
	}
	return element{kind: "no more"}
}

var (
	heading  = regexp.MustCompile(`^(#+) (.+)$`)
	item     = regexp.MustCompile(`^ *(?:-|\d+\.) `)
	codeSpan = regexp.MustCompile("``.+?``|`[^`]*`")
	linked   = regexp.MustCompile(`\]\(([^)]+)\)`)
)

func readPage(text string) (p page) {
	fence, block := "", []string(nil)
	seen := map[string]int{}
	for at, line := range strings.Split(text, "\n") {
		add := func(kind string) { p.shape = append(p.shape, element{kind, at + 1}) }
		language, isFence := strings.CutPrefix(line, "```")
		switch h := heading.FindStringSubmatch(line); {
		case fence != "" && isFence:
			add("code " + fence + said(fence[3:], block))
			fence, block = "", nil
		case fence != "":
			block = append(block, line)
		case isFence:
			fence = "in " + language
		case h != nil:
			add(h[1] + " heading")
			p.anchors = append(p.anchors, anchorOf(h[2], seen))
			p.follow(line)
		case item.MatchString(line):
			add("item")
			p.follow(line)
		case strings.HasPrefix(line, "|"):
			cells := strings.Count(codeSpan.ReplaceAllString(strings.ReplaceAll(line, `\|`, ""), ""), "|") - 1
			add(fmt.Sprintf("row of %d cells", cells))
			p.follow(line)
		default:
			p.follow(line)
		}
	}
	return p
}

// follow collects the links of a line.
func (p *page) follow(line string) {
	for _, m := range linked.FindAllStringSubmatch(codeSpan.ReplaceAllString(line, "code"), -1) {
		if !strings.Contains(m[1], "://") {
			p.links = append(p.links, m[1])
		}
	}
}

var (
	comment = regexp.MustCompile(`(^|\s)#.*$`)
	quoted  = regexp.MustCompile(`"[^"]*"|'[^']*'`)
)

// said is what code in a language says beside comments, texts in quotation marks and documents that are read from
// standard input, which are in the reader's language.
func said(language string, block []string) string {
	if language != "sh" && language != "yaml" {
		return ""
	}
	var kept []string
	text := regexp.MustCompile(`(?s)<<'END'\n.*?\nEND`).ReplaceAllString(strings.Join(block, "\n"), "<<END")
	for _, line := range strings.Split(quoted.ReplaceAllString(text, `""`), "\n") {
		if line = strings.TrimSpace(comment.ReplaceAllString(line, "")); line != "" {
			kept = append(kept, line)
		}
	}
	return ": " + strings.Join(kept, " ")
}

// anchorOf is the anchor that GitHub gives a heading.
func anchorOf(heading string, seen map[string]int) string {
	anchor := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.ReplaceAll(linked.ReplaceAllString(heading, ""), "[", ""))
	seen[anchor]++
	if n := seen[anchor]; n > 1 {
		anchor = fmt.Sprintf("%s-%d", anchor, n-1)
	}
	return anchor
}
