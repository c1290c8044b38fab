package guide

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

const glossaryFile = folder + "/glossary.yaml"

// Term is a word of the glossary in every language, by language.
type Term struct {
	Term     map[string]string   `yaml:"term"`
	About    map[string]string   `yaml:"about"`    // Markdown; nil: a rule of wording alone
	Aliases  map[string][]string `yaml:"aliases"`  // words by which people search for it
	Replaced map[string][]string `yaml:"replaced"` // regular expressions of words that it is written in place of
	Unless   map[string][]string `yaml:"unless"`   // where these mean something else
}

// Glossary reads the terms of a documentation, in the order of the English ones.
func Glossary(files fs.FS) ([]Term, error) {
	file, err := files.Open(glossaryFile)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	var all struct {
		Terms []Term `yaml:"terms"`
	}
	decoder := yaml.NewDecoder(file)
	decoder.KnownFields(true)
	if err := decoder.Decode(&all); err != nil {
		return nil, fmt.Errorf("%s: %w", glossaryFile, err)
	}
	for i, t := range all.Terms {
		for _, code := range Languages() {
			if t.Term[code] == "" || t.About != nil && t.About[code] == "" {
				return nil, fmt.Errorf("%s: term %d lacks its %q", glossaryFile, i+1, code)
			}
		}
	}
	return all.Terms, nil
}

// sectionLinks are links to a section, or to a page.
var sectionLinks = regexp.MustCompile(`\]\((\w[\w-]*)\.md(?:#([^)]*))?\)`)

// searchWords are further words of sections in a language, by `page#section`: each term and its aliases belong to
// the sections that its description leads to, to the glossary if it leads nowhere.
func searchWords(terms []Term, code string) map[string]string {
	words := map[string]string{}
	for _, t := range terms {
		links := sectionLinks.FindAllStringSubmatch(t.About[code], -1)
		if len(links) == 0 {
			links = [][]string{{"", "glossary", ""}}
		}
		for _, link := range links {
			words[link[1]+"#"+link[2]] += strings.Join(append([]string{t.Term[code]}, t.Aliases[code]...), "\n") + "\n"
		}
	}
	return words
}

// sectionKey is the name of a section in searchWords; of the first of a page, without its id.
func sectionKey(at place) string {
	key := strings.TrimSuffix(path.Base(at.page.file), ".md") + "#"
	if at.level > 1 {
		key += at.id
	}
	return key
}
