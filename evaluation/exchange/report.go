package exchange

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// Kind is a kind of oddity.
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
	odd, treated string
	leftOut      bool
}{
	ByteOrderMark:  {odd: "a byte order mark", treated: "skipped"},
	WindowsLine:    {odd: "lines that end in CR LF", treated: "read as any other"},
	BlankLine:      {odd: "blank lines", treated: "skipped"},
	NoHeader:       {odd: "no header", treated: "the first line is read as a row, which BEIR's loader would skip"},
	Header:         {odd: "a first line that is no row", treated: "taken for a header"},
	OtherSplit:     {odd: "no judgments of a split test", treated: "these are taken"},
	LongLine:       {odd: "lines of more than 4 MiB", treated: "left out", leftOut: true},
	InvalidUTF8:    {odd: "bytes that are no UTF-8", treated: "read as the character U+FFFD"},
	WrongColumns:   {odd: "rows of another number of columns", treated: "left out", leftOut: true},
	Broken:         {odd: "rows that cannot be read", treated: "left out", leftOut: true},
	UnknownMembers: {odd: "members that mean nothing here", treated: "not read"},

	NumberID: {odd: "ids that are numbers", treated: "read as their text"},
	NoID:     {odd: "rows without an id", treated: "left out", leftOut: true},
	NoText:   {odd: "queries without a text", treated: "left out", leftOut: true},
	NoGrade:  {odd: "pairs without a grade", treated: "left out: they count as not judged", leftOut: true},
	BadGrade: {odd: "grades that are no numbers of at most a million", treated: "left out", leftOut: true},
	FractionalGrade: {
		odd:     "grades between two whole numbers",
		treated: "left out: multiply all grades so that they are whole", leftOut: true,
	},
	NegativeGrade: {odd: "grades below 0", treated: "they count as 0, not relevant"},
	BeyondScale:   {odd: "grades above the scale of the list", treated: "not stored", leftOut: true},
	BadScore:      {odd: "scores that are no numbers", treated: "left out", leftOut: true},

	DocumentTwice: {odd: "documents of an id that was there", treated: "the last one counts, as in BEIR's loader"},
	QueryTwice:    {odd: "queries of an id that was there", treated: "the last one counts, as in BEIR's loader"},
	JudgedTwice: {
		odd: "pairs judged twice with different grades", treated: "the last grade counts, as in BEIR's loader",
	},
	JudgedAlike: {odd: "pairs judged twice with the same grade", treated: "which changes nothing"},
	HitTwice:    {odd: "documents that were there for their query", treated: "the last score counts"},
	RankedTwice: {odd: "documents that were there in their ranking", treated: "the first place counts"},

	UnknownDocument: {
		odd:     "judged documents that the corpus lacks",
		treated: "above grade 0 they count in the ideal ranking and in recall, as in trec_eval: no search can reach 1",
	},
	UnknownQuery:  {odd: "judgments of queries that are not there", treated: "left out", leftOut: true},
	UnjudgedQuery: {odd: "queries without judgments", treated: "not measured"},
	OwnDocument: {
		odd:     "queries that are documents of the corpus, under their own id",
		treated: "that hit is dropped, as BEIR's evaluation does (ignore_identical_ids)",
	},
	OwnJudged: {
		odd:     "queries that are documents under their own id, which is judged relevant",
		treated: "that hit counts, while BEIR's evaluation would drop it",
	},
	Refused:      {odd: "rows that the gateway refused", treated: "not stored", leftOut: true},
	TextReplaced: {odd: "queries that had another text", treated: "replaced"},
}

// firstRows of a kind are kept.
const firstRows = 10

// Report lists the oddities of files.
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
	Is    string `json:"is" locale:"text" doc:"What is odd."`
	Done  string `json:"done" locale:"text" doc:"What was done with it."`
	Count int    `json:"count" minimum:"1"`
	First []Row  `json:"first" nullable:"false" doc:"The first ten rows."`
}

// Row is one of them.
type Row struct {
	Line int    `json:"line,omitempty" minimum:"0" doc:"Of the file, from 1; left out for what is of the file as a whole."`
	Seen string `json:"seen,omitempty" locale:"text"`
}

// Add adds a row; what was seen of it may be empty. A nil report takes nothing.
func (r *Report) Add(file string, kind Kind, line int, format string, args ...any) {
	if r == nil {
		return
	}
	i := slices.IndexFunc(r.Oddities, func(o *Oddity) bool { return o.File == file && o.Kind == kind })
	if i < 0 {
		i = len(r.Oddities)
		r.Oddities = append(r.Oddities, &Oddity{File: file, Kind: kind, Is: kinds[kind].odd, Done: kinds[kind].treated})
	}
	o := r.Oddities[i]
	if o.Count++; len(o.First) < firstRows {
		o.First = append(o.First, Row{line, fmt.Sprintf(format, args...)})
	}
}

// Say changes what was done with a kind, where that depends.
func (r *Report) Say(kind Kind, detail string) {
	for _, o := range r.Oddities {
		if o.Kind == kind {
			o.Done = detail
		}
	}
}

// LeftOut counts the rows that were left out.
func (r *Report) LeftOut() (n int) {
	return r.count(func(o *Oddity) bool { return kinds[o.Kind].leftOut })
}

// LeftOutOf counts the rows of a file that were left out.
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

// Reasons summarises the oddities, to append to an error; empty if there are none.
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

// shortText limits the text of a file that is shown.
const shortText = 60

// pairOf names what was judged, or found.
func pairOf(query, document string) string {
	return fmt.Sprintf("document %s of query %s", short(document), short(query))
}

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
