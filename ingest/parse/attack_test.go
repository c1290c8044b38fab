package parse

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/skips"
)

// attack is a file that some parser takes the square of its size for, or much memory.
type attack struct {
	file string
	make func(size int) string
	says string // part of the error of a large one; "": it is split
}

// again repeats a text up to a size.
func again(s string) func(int) string {
	return func(size int) string { return strings.Repeat(s, size/len(s)) }
}

// after puts a text before another.
func after(first string, rest func(int) string) func(int) string {
	return func(size int) string { return first + rest(size) }
}

// grown joins ever new texts up to a size.
func grown(next func(i int) string) func(int) string {
	return func(size int) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			b.WriteString(next(i))
		}
		return b.String()
	}
}

// packed is a zip with a part that repeats a text, and is larger than the file.
func packed(part, first string, rest func(int) string) func(int) string {
	return func(size int) string {
		var file bytes.Buffer
		zipped := zip.NewWriter(&file)
		w, err := zipped.Create(part)
		for n := 0; err == nil && n < 20*size; n += size {
			if n == 0 {
				_, err = io.WriteString(w, first)
			}
			if err == nil {
				_, err = io.WriteString(w, rest(size))
			}
		}
		if err == nil {
			err = zipped.Close()
		}
		if err != nil {
			panic(err) // it is written to memory
		}
		return file.String()
	}
}

var attacks = map[string]attack{
	"table": {"x.md", func(size int) string {
		n := size / 7
		return strings.Repeat("|a", n) + "\n" + strings.Repeat("|-", n) + "\n" + strings.Repeat("|\n", n)
	}, "cells"},
	"nested lists":     {"x.md", grown(func(i int) string { return strings.Repeat(" ", 2*i) + "- a\n" }), "deep"},
	"lists in a line":  {"x.md", again("1. "), "deep"},
	"quotes":           {"x.md", again(">"), "deep"},
	"lists and quotes": {"x.md", again("- > "), "deep"},
	"items":            {"x.md", again("-\n"), "blocks"},
	"links":            {"x.md", again("[a]("), "marks"},
	"brackets":         {"x.md", again("["), "marks"},
	"link targets":     {"x.md", again("[a](<b"), "marks"},
	"tags":             {"x.md", again("<a"), "marks"},
	"attributes":       {"x.md", again("<a b='c"), "marks"},
	"stars":            {"x.md", again("*a_ "), "marks"},
	"backticks":        {"x.md", grown(func(i int) string { return "a" + strings.Repeat("`", i+1) }), "marks"},
	"stars in lines":   {"x.md", again("*a_ [b\n"), "marks"},
	"definitions":      {"x.md", again("[a]: b\n"), "no text"},
	"open definitions": {"x.md", again("[a]: b '\n"), ""},
	"front matter":     {"x.md", after("---\n", again("--\n")), "blocks"},
	"HTML in Markdown": {"x.md", again("<p>a\n\n"), "blocks"},
	"deep in Markdown": {"x.md", again("<div>"), "elements"},
	"titles":           {"x.md", again("# a\n" + strings.Repeat("b", 60) + "\n"), "passages"},
	"long titles":      {"x.md", again("# " + strings.Repeat("t", 600) + "\n"), ""},
	"letters":          {"x.md", again("a"), ""},
	"paragraphs":       {"x.md", again("A sentence, and *more*.\n"), ""},

	"elements":   {"x.html", again("<div>"), "elements"},
	"reopened":   {"x.html", grown(func(i int) string { return fmt.Sprintf("<b a=%d><p>a", i%400) }), "elements"},
	"breaks":     {"x.html", again("a<br>"), "elements"},
	"names":      {"x.html", after("<a ", grown(func(i int) string { return fmt.Sprintf("a%d ", i) })), "no text"},
	"page":       {"x.html", again("a"), ""},
	"deep":       {"x.html", func(int) string { return strings.Repeat("<div>", 600) + "a" }, "512"},
	"comments":   {"x.html", again("<!--"), "no text"},
	"inner page": {"x.html", again("<table><td>"), "elements"},
	"titled":     {"x.html", after("<title>"+strings.Repeat("t", 600)+"</title>", again("<h1>a</h1>b")), "elements"},

	"no space":          {"x.txt", again("a"), ""},
	"Chinese":           {"x.txt", again("中"), ""},
	"spaces":            {"x.txt", after("a.", func(size int) string { return strings.Repeat(" ", size) + "b" }), ""},
	"brackets at . end": {"x.txt", after("a.", again("(")), ""},
	"dots":              {"x.txt", again(". 1"), ""},
	"lines":             {"x.txt", again("\n"), "no text"},
	"cells":             {"x.csv", again("a,,,,,,,,\n"), "cells"},
	"quotes of a table": {"x.csv", after("a,b\n\"", again("x,")), ""},
	"unpacked":          {"x.docx", packed("word/document.xml", "<w:document>", again("<w:r/>")), "unpacked"},
	"office paragraphs": {"x.docx", packed("word/document.xml", "<w:document>", again("<w:p><w:t>a</w:t></w:p>")), "paragraphs"},
	"nested tables":     {"x.docx", packed("word/document.xml", "<w:document>", again("<w:tbl><w:tr><w:tc>")), "paragraphs and cells"},
	"slides":            {"x.pptx", packed("ppt/presentation.xml", "<p:sldIdLst>", again(`<p:sldId r:id="a"/>`)), "unpacked"},
	"objects":           {"x.pdf", after("%PDF-1.7\n", again("1 0 obj<</A[<<>>]>>endobj\n")), "damaged"},
	"nested objects":    {"x.pdf", after("%PDF-1.7\n1 0 obj", again("[<</A")), "damaged"},
	"sheets":            {"x.xlsx", packed("xl/workbook.xml", "<workbook>", again("<sheet/>")), "limit"},
	"accents":           {"x.txt", after("a.", again("\u0301")), ""},
	"soft hyphens":      {"x.txt", after("a. ", again(")\u00ad")), ""},
}

// try parses a file and returns what the caller would be told.
func try(name, source string) (passages []Passage, said string, took time.Duration) {
	begin := time.Now()
	document, err := Here{}.Parse(context.Background(), name, []byte(source), Options{})
	if document != nil {
		passages = document.Passages
	}
	took = time.Since(begin)
	var f *fault.Error
	switch {
	case errors.As(err, &f) && f.Kind == fault.InvalidArgument && f.Field == FieldFile && f.Err == nil:
		said = err.Error()
	case err != nil:
		said = fmt.Sprintf("UNEXPECTED %v", err)
	case len(passages) == 0:
		said = "no text"
	}
	return passages, said, took
}

// skipSlow leaves PDF to `make memory`: the race detector takes a minute to compile what reads it, which is in
// WebAssembly and of one goroutine.
func skipSlow(t *testing.T, file string) {
	t.Helper()
	if !wholeAttack && strings.HasSuffix(file, ".pdf") {
		skips.ByDesign(t, "make memory reads PDF without the race detector")
	}
}

// Each attack is split or refused in time linear in its size; a busy machine gets a minute. The
// program is attacked with 16 MB over HTTP.
func TestAttacks(t *testing.T) {
	for name, a := range attacks {
		t.Run(name, func(t *testing.T) {
			skipSlow(t, a.file)
			size := attackSize
			if a.says == "" {
				size /= 2 // what is refused has to be as large as its limit
			}
			source := a.make(size)
			_, said, took := try(a.file, source)
			t.Logf("%d bytes, %.1f s: %s", len(source), took.Seconds(), said)
			if took > time.Minute {
				t.Errorf("it took %v; want took at most Minute", took)
			}
			if wholeAttack && (!strings.Contains(said, a.says) || a.says == "" && said != "") {
				t.Errorf("it said %q, not %q", said, a.says)
			}
		})
	}
}

// What many files have is below the limits.
func TestLimitsAreFarFromRealFiles(t *testing.T) {
	if !wholeAttack {
		skips.ByDesign(t, "make memory runs it without the race detector")
	}
	f := func(name, source string) {
		t.Helper()
		if passages, said, _ := try(name, source); len(passages) == 0 || said != "" {
			t.Errorf(`%s: %s; want some passages and said ""`, source[:40], said)
		}
	}
	f("log.md", strings.Repeat("[2026-01-31 10:00:00] INFO <main> *started* in `12` ms_\n", 100_000))
	f("links.md", strings.Repeat("- [a link](https://example.com/a/b \"title\") with *emphasis* and `code`\n", 80_000))
	f("line.md", strings.Repeat("A long line with [links](https://example.com) and **stars**. ", 300))
	f("table.md", "| a | b | c | d |\n|---|---|---|---|\n"+strings.Repeat("| one | two | three | four |\n", 50_000))
	f("outline.md", again("- a\n  - b\n    1. c\n       > d\n\n")(1<<20))
	f("page.html", "<table>"+strings.Repeat("<tr class=a><td>x<td><b>y</b> <i>z</i>", 50_000)+"</table>")
	f("open.html", strings.Repeat("<p><font size=2>", 5)+strings.Repeat("<p>one <a href=x>two</a>", 20_000))
}

// A long paragraph keeps its text and its lines when it is parsed in parts.
func TestLongParagraphs(t *testing.T) {
	line := "Some *words* of a [long](x) paragraph, line"
	var source, want strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&source, "%s %d\n", line, i)
		fmt.Fprintf(&want, "Some words of a long paragraph, line %d\n", i)
	}
	passages, said, _ := try("x.md", source.String())
	if said != "" {
		t.Fatal(said)
	}
	last := passages[len(passages)-1]
	if passages[0].First != 1 || last.Last != 1000 {
		t.Errorf("lines %d to %d; want passages[0].First 1 and last.Last 1000", passages[0].First, last.Last)
	}
	for _, p := range passages {
		if !strings.Contains(want.String(), p.Content) {
			t.Errorf("%q is not in the text", p.Content)
		}
	}
	table := "| a |\n|---|\n" + strings.Repeat("| cell |\n", 2000)
	if passages, _, _ = try("x.md", table); strings.Contains(passages[1].Content, "|") {
		t.Errorf(`the table fell apart: %q; want no "|" in it`, passages[1].Content)
	}
}

func FuzzMarkdown(f *testing.F) { fuzz(f, "x.md") }
func FuzzHTML(f *testing.F)     { fuzz(f, "x.html") }
func FuzzText(f *testing.F)     { fuzz(f, "x.txt") }
func FuzzTable(f *testing.F)    { fuzz(f, "x.csv") }

// fuzz repeats what it is given up to a size at which the square of it would show in time
// and memory.
func fuzz(f *testing.F, name string) {
	for _, a := range attacks {
		f.Add([]byte(a.make(40)))
	}
	f.Add([]byte("---\na: b\n---\n# A\n\n* b [c](d) **e**\n\n| f |\n|---|\n| g |\n\n```\nh\n```\n"))
	f.Add([]byte("<html><title>a</title><h1>b</h1><table><tr><td>c</table><pre>d\ne</pre>"))
	f.Add([]byte("\xff\xfe\x00"))
	f.Fuzz(func(t *testing.T, seed []byte) {
		if len(seed) == 0 {
			return
		}
		for _, source := range [][]byte{seed, bytes.Repeat(seed, fuzzedSize/len(seed)+1)} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			passages, said, took := try(name, string(source))
			runtime.ReadMemStats(&after)
			if strings.HasPrefix(said, "UNEXPECTED") {
				t.Error(said)
			}
			if took > time.Minute {
				t.Errorf("%d bytes took %v; want took at most Minute", len(source), took)
			}
			if all := after.TotalAlloc - before.TotalAlloc; wholeAttack && all > 1<<30 {
				t.Errorf("%d bytes took %d MB of memory; want not wholeAttack or all at most 1 << 30", len(source), all>>20)
			}
			lines := bytes.Count(source, []byte("\n")) + bytes.Count(source, []byte("\r")) + 1
			for _, p := range passages {
				if p.Content == "" || p.First > lines || p.Last > lines || p.Last < p.First && p.First > 0 {
					t.Errorf("%s: %+v of %d lines", name, p, lines)
				}
			}
		}
	})
}
