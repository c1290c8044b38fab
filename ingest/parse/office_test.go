package parse

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/golden"
)

// TestFixtures reads files as other programs make them: testdata/fixtures.py made these.
func TestFixtures(t *testing.T) {
	names, err := filepath.Glob("testdata/fixtures/*")
	if err != nil || len(names) < 18 {
		t.Fatalf("%d fixtures, %v; want no error and at least 18 names", len(names), err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			skipSlow(t, name)
			source, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if len(source) > 50_000 {
				t.Errorf("%d bytes; fixtures have at most 50 kB", len(source))
			}
			golden.Bytes(t, "golden/"+filepath.Base(name)+".txt", []byte(told(t, name, source)))
		})
	}
}

// told is what a file says, for people.
func told(t *testing.T, name string, source []byte) string {
	t.Helper()
	document, err := Here{}.Parse(context.Background(), name, source, Options{})
	if err != nil {
		var refused *fault.Error
		if !errors.As(err, &refused) || refused.Kind != fault.InvalidArgument || refused.Field != FieldFile {
			t.Errorf("%s: %v", name, err)
		}
		return "refused: " + err.Error() + "\n"
	}
	var out strings.Builder
	if document.Encoding != "" {
		fmt.Fprintf(&out, "encoding %s\n", document.Encoding)
	}
	for _, p := range document.Passages {
		fmt.Fprintf(&out, "--- %s, lines %d to %d, pages %d to %d\n", p.Title, p.First, p.Last, p.FirstPage, p.LastPage)
		for _, b := range p.Boxes {
			fmt.Fprintf(&out, "box %.0f\n", b)
		}
		fmt.Fprintln(&out, p.Content)
	}
	return out.String()
}

func TestFrontMatterIsMetadata(t *testing.T) {
	document, err := Here{}.Parse(context.Background(), "a.md", []byte(`---
title: "Garden"
tags: [soil, water]
date: 2024-05-06
count: 3
draft: false
nobody:
author: {name: Ann}
---
# Hours

Eight to six.
`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"title": `"Garden"`, "tags": `["soil","water"]`, "date": `"2024-05-06"`, "count": `3`, "draft": `false`,
		"author": `{"name":"Ann"}`,
	} {
		if got := string(document.Metadata[name]); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if len(document.Metadata) != 6 || document.Passages[0].First != 12 {
		t.Errorf("%d members, first line %d; want 6 document.Metadata and document.Passages[0].First 12", len(document.Metadata), document.Passages[0].First)
	}
	for _, matter := range []string{"---\n- a\n---\n", "---\n: : :\n---\n", "---\na: &a [*a]\n---\n", "+++\na = 1\n+++\n", "---\n" + strings.Repeat("a", 70_000) + ": 1\n---\n"} {
		document, err := Here{}.Parse(context.Background(), "a.md", []byte(matter+"text\n"), Options{})
		if err != nil || len(document.Passages) != 1 {
			t.Errorf("%.20q: %v; want no error and 1 document.Passages", matter, err)
		}
	}
}

func TestSeparatorsOfTables(t *testing.T) {
	for source, want := range map[string]string{
		"a,b\n1,2\n":          "a: 1; b: 2",
		"a;b\n1,5;2\n":        "a: 1,5; b: 2",
		"a\tb\n1\t\n":         "a: 1",
		"a|b\n\"x\ny\"|2|3\n": "a: x y; b: 2; 3",
		"only,a header\n":     "only | a header",
	} {
		document, err := Here{}.Parse(context.Background(), "a.csv", []byte(source), Options{})
		if err != nil || len(document.Passages) != 1 || document.Passages[0].Content != want {
			t.Errorf("%q: %+v, %v; want %q", source, document, err, want)
		}
	}
}
