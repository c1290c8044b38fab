package parse

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/responses"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

func init() { formats[".pdf"] = readPDF }

const (
	// maxPages is how many pages a PDF may have.
	maxPages = 10_000
	// wasmPages bounds the memory of the reader, in pages of 64 KiB: 384 MiB.
	wasmPages = 6_144
	// turn is how long a file waits for another one in the same process.
	turn = time.Minute
)

// compiled is the folder for the reader's machine code; "": it is interpreted.
var compiled string

// CompileInto has the reader of PDF compiled once, into a folder; without it, it is interpreted, which
// takes several times as long for each file. It is to be called before the first file is parsed.
func CompileInto(folder string) { compiled = folder }

// pdfReaders is PDFium, which runs as WebAssembly: what is wrong with a file stays within its memory.
var pdfReaders = sync.OnceValues(func() (pdfium.Pool, error) {
	runtime := wazero.NewRuntimeConfigInterpreter()
	if compiled != "" {
		cache, err := wazero.NewCompilationCacheWithDir(compiled)
		if err != nil {
			return nil, err
		}
		runtime = wazero.NewRuntimeConfig().WithCompilationCache(cache)
	}
	return webassembly.Init(webassembly.Config{
		Context: context.Background(), MaxIdle: 1, MaxTotal: 1, FSConfig: wazero.NewFSConfig(),
		RuntimeConfig: runtime.WithMemoryLimitPages(wasmPages).
			WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling),
	})
})

// readPDF reads the text of pages: lines that are larger than most are headings, lines with space before
// them begin paragraphs. Each block has its page, and where it stands on it.
func readPDF(f *file) ([]section, error) {
	if !bytes.Contains(f.source[:min(len(f.source), 1024)], []byte("%PDF-")) {
		return nil, refused("damaged, or no PDF: its mark is missing")
	}
	readers, err := pdfReaders()
	if err != nil {
		return nil, err
	}
	reader, err := readers.GetInstance(turn)
	if err != nil {
		return nil, err
	}
	defer func() { _ = reader.Close() }() // its memory goes with it
	opened, err := reader.OpenDocument(&requests.OpenDocument{File: &f.source})
	switch {
	case err != nil && strings.Contains(err.Error(), "password"):
		return nil, refused("encrypted; save it anew without a password")
	case err != nil:
		return nil, damaged(err)
	}
	counted, err := reader.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: opened.Document})
	switch {
	case err != nil:
		return nil, damaged(err)
	case counted.PageCount > maxPages:
		return nil, refused("more than %d pages; split it", maxPages)
	}
	var lines []pdfLine
	for index := range counted.PageCount {
		more, err := linesOf(reader, opened.Document, index)
		if err != nil {
			return nil, damaged(err)
		}
		lines = append(lines, more...)
	}
	if len(lines) == 0 {
		return nil, refused("no text on its %d pages: a scan? have its text recognised first", counted.PageCount)
	}
	return paragraphs(lines), nil
}

// pdfLine is a line of text.
type pdfLine struct {
	text string
	page int     // from 1
	size float64 // of most of its letters, in points
	box  box
	// hyphen: its last word goes on in the next line. short: it ends before the lines around it do.
	hyphen, short bool
}

// box is where something stands on a page, in points from its left and its top.
type box struct{ left, right, top, bottom float64 }

// with is the smallest box around both.
func (b box) with(other box) box {
	if b == (box{}) {
		return other
	}
	return box{
		min(b.left, other.left), max(b.right, other.right), min(b.top, other.top), max(b.bottom, other.bottom),
	}
}

// linesOf reads a page.
func linesOf(reader pdfium.Pdfium, document references.FPDF_DOCUMENT, index int) ([]pdfLine, error) {
	page := requests.Page{ByIndex: &requests.PageByIndex{Document: document, Index: index}}
	said, err := reader.GetPageText(&requests.GetPageText{Page: page})
	if err != nil || blank(said.Text) {
		return nil, err
	}
	size, err := reader.GetPageSize(&requests.GetPageSize{Page: page})
	if err != nil {
		return nil, err
	}
	shown, err := reader.GetPageTextStructured(&requests.GetPageTextStructured{
		Page: page, Mode: requests.GetPageTextStructuredModeRects, CollectFontInformation: true,
	})
	if err != nil {
		return nil, err
	}
	return locate(said.Text, shown.Rects, index+1, size.Height), nil
}

// aheadOf is how far the text of a rectangle is looked for, in bytes.
const aheadOf = 4_096

// locate gives the lines of a page's text the places of its rectangles, which are in the same order.
func locate(said string, rects []*responses.GetPageTextStructuredRect, page int, height float64) []pdfLine {
	texts := strings.SplitAfter(said, "\n")
	lines, sizes, ends := make([]pdfLine, len(texts)), make([]map[float64]int, len(texts)), make([]int, len(texts))
	end := 0
	for i, text := range texts {
		end += len(text)
		ends[i], sizes[i] = end, map[float64]int{}
		lines[i].page = page
		lines[i].text, lines[i].hyphen = printed(text)
	}
	position, line := 0, 0
	for _, rect := range rects {
		text := strings.TrimSpace(rect.Text)
		at := strings.Index(said[position:min(len(said), position+aheadOf+len(text))], text)
		if text == "" || at < 0 {
			continue
		}
		position += at
		for ends[line] <= position {
			line++
		}
		position += len(text)
		p := rect.PointPosition
		lines[line].box = lines[line].box.with(box{p.Left, p.Right, height - p.Top, height - p.Bottom})
		if rect.FontInformation != nil {
			sizes[line][rect.FontInformation.Size] += utf8.RuneCountInString(text)
		}
	}
	for i := range lines {
		lines[i].size = mostOf(sizes[i])
	}
	return slices.DeleteFunc(lines, func(l pdfLine) bool { return l.text == "" })
}

// printed is a line without what cannot be seen, and whether it ends within a word.
func printed(text string) (line string, hyphen bool) {
	text = strings.TrimRight(text, "\r\n ")
	for _, mark := range []string{"\uFFFE", "\u0002", "\u00AD"} {
		if rest, is := strings.CutSuffix(text, mark); is {
			text, hyphen = rest, true
		}
	}
	text = oneLine(strings.Map(func(r rune) rune {
		if r != '\t' && unicode.IsControl(r) || r == '\uFFFE' || r == utf8.RuneError {
			return -1
		}
		return r
	}, text))
	if strings.ContainsRune(bullets, firstOf(text)) {
		text = item + strings.TrimSpace(strings.TrimLeft(text, bullets))
	}
	return text, hyphen
}

const (
	item = "- " // before the text of an item of a list, as in Markdown
	// bullets are before it in print. Those of the private area are Symbol's and Wingdings'.
	bullets = "•‣▪▫●○■□◦➢➤\uF06C\uF06E\uF0A7\uF0A8\uF0B7\uF0D8\uF0FC"
)

// mostOf returns the most frequent key, the smallest of several.
func mostOf(counts map[float64]int) (most float64) {
	best := 0
	for value, n := range counts {
		if n > best || n == best && value < most {
			most, best = value, n
		}
	}
	return most
}

// Headings are so much larger than most of the text, and have no more than a part of it all.
const (
	larger      = 1.15
	mostLetters = 0.3
	deepest     = 6
)

// headingSizes are the sizes of headings, the largest first; none where most lines would be one.
func headingSizes(lines []pdfLine) []float64 {
	letters, all := map[float64]int{}, 0
	for i := range lines {
		n := utf8.RuneCountInString(lines[i].text)
		letters[lines[i].size] += n
		all += n
	}
	body, count := mostOf(letters), 0
	var sizes []float64
	for size, n := range letters {
		if size > larger*body {
			sizes = append(sizes, size)
			count += n
		}
	}
	if float64(count) > mostLetters*float64(all) {
		return nil
	}
	slices.SortFunc(sizes, func(a, b float64) int { return cmp.Compare(b, a) })
	return sizes
}

// full is the part of a column's width from which on a line fills it.
const full = 0.85

// tellShort tells which lines do not fill their column, which lines that begin at the same place have.
func tellShort(lines []pdfLine) {
	const grid = 10 // points
	right := map[int]float64{}
	for i := range lines {
		column := int(lines[i].box.left / grid)
		right[column] = max(right[column], lines[i].box.right)
	}
	for i := range lines {
		lines[i].short = lines[i].box.right < full*right[int(lines[i].box.left/grid)]
	}
}

// paragraphs joins lines.
func paragraphs(lines []pdfLine) []section {
	var h headings
	tellShort(lines)
	sizes := headingSizes(lines)
	for i := 0; i < len(lines); {
		from := i
		level := 1 + slices.Index(sizes, lines[i].size)
		i++
		for i < len(lines) && continuesLine(&lines[i-1], &lines[i]) {
			i++
		}
		text, place := joined(lines[from:i])
		if level > 0 && len(text) <= maxHeading {
			h.enter(min(level, deepest), text)
			continue
		}
		h.add(block{text: text, page: lines[from].page, box: place})
	}
	if len(h.sections) == 0 { // headings alone
		for i := range lines {
			h.add(block{text: lines[i].text, page: lines[i].page, box: lines[i].box})
		}
	}
	return h.sections
}

// continuesLine reports whether a line is in the paragraph of the line before it.
func continuesLine(before, line *pdfLine) bool {
	gap := line.box.top - before.box.bottom
	same := math.Abs(line.size-before.size) < 0.5
	return line.page == before.page && same && gap < 0.7*line.size && line.box.top > before.box.top
}

// joined is the text of lines that are one paragraph, and where it stands.
func joined(lines []pdfLine) (text string, place box) {
	var out strings.Builder
	for i := range lines {
		line := &lines[i]
		if i > 0 {
			before := &lines[i-1]
			switch {
			case before.hyphen:
			case before.short, strings.HasPrefix(line.text, item):
				out.WriteByte('\n')
			case !wide(lastOf(before.text)) || !wide(firstOf(line.text)):
				out.WriteByte(' ')
			}
		}
		out.WriteString(line.text)
		place = place.with(line.box)
	}
	return out.String(), place
}

func firstOf(s string) rune { r, _ := utf8.DecodeRuneInString(s); return r }
func lastOf(s string) rune  { r, _ := utf8.DecodeLastRuneInString(s); return r }

// wide reports whether no space is written around a character: those of Chinese and Japanese.
func wide(r rune) bool {
	const firstOfPunctuation, lastOfPunctuation, firstFullWidth, lastFullWidth = 0x3000, 0x303F, 0xFF00, 0xFF60
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) ||
		r >= firstOfPunctuation && r <= lastOfPunctuation || r >= firstFullWidth && r <= lastFullWidth
}
