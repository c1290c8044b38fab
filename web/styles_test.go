package web

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"testing"
)

// styled is a rule of one class alone, which says what the class looks like wherever it is.
var styled = regexp.MustCompile(`(?m)^\.([a-z][a-z-]*) \{`)

// TestClassesHaveOneStylesheet, as all stylesheets are one file: what one page has of a name another page would get.
func TestClassesHaveOneStylesheet(t *testing.T) {
	files, err := filepath.Glob("src/styles/*.css")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d stylesheets, %v; want no error and some files", len(files), err)
	}
	of := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := path.Base(file)
		for _, match := range styled.FindAllStringSubmatch(string(text), -1) {
			if other, is := of[match[1]]; is && other != name {
				t.Errorf("class %s is styled by %s and by %s; give one another name", match[1], other, name)
			}
			of[match[1]] = name
		}
	}
}
