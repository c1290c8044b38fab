package exchange

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// Kind is what may be odd.
type Kind string

// What may be odd about a file by itself, about its rows, and about files together.
const (
	ByteOrderMark  Kind = "byte_order_mark"
	WindowsLine    Kind = "windows_line"
	BlankLine      Kind = "blank_line"
	NoHeader       Kind = "no_header"
	Header         Kind = "header"
	OtherSplit     Kind = "other_split"
	LongLine       Kind = "long_line"
	InvalidUTF8    Kind = "invalid_utf8"
	WrongColumns   Kind = "wrong_columns"
	Broken         Kind = "broken"
	UnknownMembers Kind = "unknown_members"

	NumberID        Kind = "number_id"
	NoID            Kind = "no_id"
	NoText          Kind = "no_text"
	NoGrade         Kind = "no_grade"
	BadGrade        Kind = "bad_grade"
	FractionalGrade Kind = "fractional_grade"
	NegativeGrade   Kind = "negative_grade"
	BeyondScale     Kind = "beyond_scale"
	BadScore        Kind = "bad_score"

	DocumentTwice Kind = "document_twice"
	QueryTwice    Kind = "query_twice"
	JudgedTwice   Kind = "judged_twice"
	JudgedAlike   Kind = "judged_alike"
	HitTwice      Kind = "hit_twice"
	RankedTwice   Kind = "ranked_twice"

	UnknownDocument Kind = "unknown_document"
	UnknownQuery    Kind = "unknown_query"
	UnjudgedQuery   Kind = "unjudged_query"
	OwnDocument     Kind = "own_document"
	OwnJudged       Kind = "own_judged"
	Refused         Kind = "refused"
	TextReplaced    Kind = "text_replaced"
)

// kinds say what each is and what is done with it, and whether the row is left out for it.
var kinds = map[Kind]struct {
	is, done string
	leftOut  bool
}{
	ByteOrderMark:  {"a byte order mark", "skipped", false},
	WindowsLine:    {"lines that end in CR LF", "read as any other", false},
	BlankLine:      {"blank lines", "skipped", false},
	NoHeader:       {"no header", "the first line is read as a row, which BEIR's loader would skip", false},
	Header:         {"a first line that is no row", "taken for a header", false},
	OtherSplit:     {"no judgments of a split test", "these are taken", false},
	LongLine:       {"lines of more than 4 MiB", "left out", true},
	InvalidUTF8:    {"bytes that are no UTF-8", "read as the character U+FFFD", false},
	WrongColumns:   {"rows of another number of columns", "left out", true},
	Broken:         {"rows that cannot be read", "left out", true},
	UnknownMembers: {"members that mean nothing here", "not read", false},

	NumberID:        {"ids that are numbers", "read as their text", false},
	NoID:            {"rows without an id", "left out", true},
	NoText:          {"queries without a text", "left out", true},
	NoGrade:         {"pairs without a grade", "left out: they count as not judged", true},
	BadGrade:        {"grades that are no numbers of at most a million", "left out", true},
	FractionalGrade: {"grades between two whole numbers", "left out: multiply all grades so that they are whole", true},
	NegativeGrade:   {"grades below 0", "they count as 0, not relevant", false},
	BeyondScale:     {"grades above the scale of the list", "not stored", true},
	BadScore:        {"scores that are no numbers", "left out", true},

	DocumentTwice: {"documents of an id that was there", "the last one counts, as in BEIR's loader", false},
	QueryTwice:    {"queries of an id that was there", "the last one counts, as in BEIR's loader", false},
	JudgedTwice:   {"pairs judged twice with different grades", "the last grade counts, as in BEIR's loader", false},
	JudgedAlike:   {"pairs judged twice with the same grade", "which changes nothing", false},
	HitTwice:      {"documents that were there for their query", "the last score counts", false},
	RankedTwice:   {"documents that were there in their ranking", "the first place counts", false},

	UnknownDocument: {
		"judged documents that the corpus lacks",
		"those with a grade above 0 count in the ideal ranking and in recall, as in trec_eval, so that no search can reach 1", false,
	},
	UnknownQuery:  {"judgments of queries that are not there", "left out", true},
	UnjudgedQuery: {"queries without judgments", "not measured", false},
	OwnDocument: {
		"queries that are documents of the corpus, under their own id",
		"that hit is dropped, as BEIR's evaluation does (ignore_identical_ids)", false,
	},
	OwnJudged: {
		"queries that are documents under their own id, which is judged relevant",
		"that hit counts, while BEIR's evaluation would drop it", false,
	},
	Refused:      {"rows that the gateway refused", "not stored", true},
	TextReplaced: {"queries that had another text", "replaced", false},
}

// firstRows of a kind are kept.
const firstRows = 10

// Report is what was odd about files.
type Report struct {
	Folder   string    `json:"-"` // of the files, for people
	Oddities []*Oddity `json:"oddities"`
}

// IsZero reports whether nothing was odd.
func (r *Report) IsZero() bool { return r == nil || len(r.Oddities) == 0 }

// Oddity is all of one kind in a file.
type Oddity struct {
	File  string `json:"file"`
	Kind  Kind   `json:"kind"`
	Is    string `json:"is"`
	Done  string `json:"done"` // what was done with it
	Count int    `json:"count"`
	First []Row  `json:"first"` // the first ten
}

// Row is one of them.
type Row struct {
	Line int    `json:"line,omitempty"` // from 1; 0: of the file as a whole
	Seen string `json:"seen,omitempty"`
}

// Add adds a row; what was seen of it may be empty. A nil report takes nothing.
func (r *Report) Add(file string, kind Kind, line int, format string, args ...any) {
	if r == nil {
		return
	}
	i := slices.IndexFunc(r.Oddities, func(o *Oddity) bool { return o.File == file && o.Kind == kind })
	if i < 0 {
		i = len(r.Oddities)
		r.Oddities = append(r.Oddities, &Oddity{File: file, Kind: kind, Is: kinds[kind].is, Done: kinds[kind].done})
	}
	o := r.Oddities[i]
	if o.Count++; len(o.First) < firstRows {
		o.First = append(o.First, Row{line, fmt.Sprintf(format, args...)})
	}
}

// Say changes what was done with a kind, where that depends.
func (r *Report) Say(kind Kind, done string) {
	for _, o := range r.Oddities {
		if o.Kind == kind {
			o.Done = done
		}
	}
}

// LeftOut is how many rows were left out.
func (r *Report) LeftOut() (n int) {
	return r.count(func(o *Oddity) bool { return kinds[o.Kind].leftOut })
}

// LeftOutOf is how many rows of a file were left out.
func (r *Report) LeftOutOf(file string) int {
	return r.count(func(o *Oddity) bool { return kinds[o.Kind].leftOut && o.File == file })
}

func (r *Report) count(which func(*Oddity) bool) (n int) {
	for _, o := range r.Oddities {
		if which(o) {
			n += o.Count
		}
	}
	return n
}

// Reasons are what was odd in a few words, to go behind an error; empty where nothing was.
func (r *Report) Reasons() string {
	var b strings.Builder
	for i, o := range r.Oddities {
		if i == shownRows {
			break
		}
		fmt.Fprintf(&b, "; %s (%d), the first in line %d %s", o.Is, o.Count, o.First[0].Line, o.First[0].Seen)
	}
	return strings.TrimSpace(b.String())
}

// shownRows of a kind are written.
const shownRows = 3

// Write writes what was odd as lines for people, each after a prefix.
func (r *Report) Write(w io.Writer, prefix string) error {
	var b strings.Builder
	for _, o := range r.Oddities {
		fmt.Fprintf(&b, "%s%s: %s (%d): %s\n", prefix, path.Join(r.Folder, o.File), o.Is, o.Count, o.Done)
		shown := o.First[:min(shownRows, len(o.First))]
		for _, row := range shown {
			switch {
			case row.Line > 0 && row.Seen != "":
				fmt.Fprintf(&b, "%s  line %d: %s\n", prefix, row.Line, row.Seen)
			case row.Line > 0:
				fmt.Fprintf(&b, "%s  line %d\n", prefix, row.Line)
			case row.Seen != "":
				fmt.Fprintf(&b, "%s  %s\n", prefix, row.Seen)
			}
		}
		if more := o.Count - len(shown); more > 0 {
			fmt.Fprintf(&b, "%s  and %d more\n", prefix, more)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// shortText is how much of a text of a file is shown.
const shortText = 60

// short quotes a text of a file, of a long one its beginning.
func short(text string) string {
	if len(text) <= shortText {
		return fmt.Sprintf("%q", text)
	}
	end := shortText
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("%q…", text[:end])
}
