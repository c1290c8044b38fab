package exchange

import (
	"encoding/json"
	"io"

	"github.com/hybridge-search/hybridge/evaluation/library"
)

// pair is the key of a judgment.
type pair struct{ query, base, document, chunk string }

// judgments collects those of a file.
type judgments struct {
	file *File
	kept []Judgment
	at   map[pair]int // in kept
}

// judgmentLine is a judgment of JSON Lines: the gateway's own, or one of the members that other programs have. The
// members that come first hide those of library.Judgment.
type judgmentLine struct {
	library.Judgment

	QueryID    id    `json:"query_id"`
	DocumentID id    `json:"document_id"`
	ChunkID    id    `json:"chunk_id"`
	Grade      value `json:"grade"`

	RanxQuery id     `json:"q_id"`
	BeirQuery id     `json:"query-id"`
	Query     string `json:"query"`
	RanxDoc   id     `json:"doc_id"`
	BeirDoc   id     `json:"corpus-id"`
	Docid     id     `json:"docid"`
	Score     value  `json:"score"`
	Rating    value  `json:"rating"`
}

func (j *judgments) object(line int, object []byte) {
	var read judgmentLine
	f := j.file
	if !f.decode(line, object, &read) {
		return
	}
	made := read.Judgment
	made.QueryID = f.firstID(line, read.QueryID, read.RanxQuery, read.BeirQuery)
	made.DocumentID, made.ChunkID = f.firstID(line, read.DocumentID), f.firstID(line, read.ChunkID)
	if made.QueryID == "" {
		made.QueryID = f.how.query(read.Query)
	}
	if made.DocumentID == "" && made.ChunkID == "" {
		f.how.judge(&made, f.firstID(line, read.RanxDoc, read.BeirDoc, read.Docid))
	}
	if made.KnowledgeBase == "" {
		made.KnowledgeBase = f.how.KnowledgeBase
	}
	j.put(line, made, string(firstOf(read.Grade, read.Score, read.Rating)))
}

func firstOf(values ...value) value {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// query is the id of a query that a file has by its text.
func (how *Reading) query(text string) string {
	if id, known := how.ByText[text]; known {
		return id
	}
	return idOf(text)
}

// judge sets what is judged.
func (how *Reading) judge(j *library.Judgment, document string) {
	if how.Chunks {
		j.ChunkID = document
	} else {
		j.DocumentID = document
	}
}

// add takes a judgment of another program.
func (j *judgments) add(line int, query, document, grade string) {
	made := library.Judgment{QueryID: query, KnowledgeBase: j.file.how.KnowledgeBase}
	j.file.how.judge(&made, document)
	j.put(line, made, grade)
}

// rated takes the judgments of a query of RRE's ratings.
func (j *judgments) rated(r *rated) {
	query := j.file.how.query(r.text)
	for _, d := range r.documents {
		j.add(d.line, query, d.id, d.gain)
	}
}

// put keeps a judgment, of one pair the last one in the place of the first.
func (j *judgments) put(line int, made library.Judgment, grade string) {
	report, name := j.file.Report, j.file.Name
	read := Judgment{Judgment: made, Line: line}
	of := pairOf(made.QueryID, read.Of())
	if made.QueryID == "" || read.Of() == "" {
		report.Add(name, NoID, line, "%s", of)
		return
	}
	var valid bool
	if read.Grade, valid = j.file.grade(line, grade, of); !valid {
		return
	}
	key := pair{made.QueryID, made.KnowledgeBase, made.DocumentID, made.ChunkID}
	i, twice := j.at[key]
	if !twice {
		j.at[key] = len(j.kept)
		j.kept = append(j.kept, read)
		return
	}
	before := &j.kept[i]
	if before.Grade == read.Grade {
		report.Add(name, JudgedAlike, line, "%s: %d, as in line %d", of, read.Grade, before.Line)
	} else {
		report.Add(name, JudgedTwice, line, "%s: %d in line %d, then %d", of, before.Grade, before.Line, read.Grade)
	}
	*before = read
}

// hits gives those of a run.
type hits struct {
	file *File
	each func(*Hit)
}

// hitLine is a hit of JSON Lines.
type hitLine struct {
	QueryID    id              `json:"query_id"`
	DocumentID id              `json:"document_id"`
	RanxQuery  id              `json:"q_id"`
	RanxDoc    id              `json:"doc_id"`
	Chunk      id              `json:"chunk_id"`
	Score      value           `json:"score"`
	System     string          `json:"system"`
	Rank       json.RawMessage `json:"rank"`
}

func (h *hits) object(line int, object []byte) {
	var read hitLine
	if h.file.decode(line, object, &read) {
		query := h.file.firstID(line, read.QueryID, read.RanxQuery)
		document := h.file.firstID(line, read.Chunk, read.DocumentID, read.RanxDoc)
		h.add(line, read.System, query, document, string(read.Score))
	}
}

func (h *hits) add(line int, system, query, document, score string) {
	of := pairOf(query, document)
	if query == "" || document == "" {
		h.file.Report.Add(h.file.Name, NoID, line, "%s", of)
		return
	}
	n, valid := number(score)
	if !valid {
		h.file.Report.Add(h.file.Name, BadScore, line, "%s: %s", of, short(score))
		return
	}
	h.each(&Hit{Line: line, Query: query, Document: document, System: system, Score: n})
}

// The names that columns of judgments and runs have.
var (
	documentColumns = []string{"docid", "doc_id", "document_id", "chunk_id", "corpus_id"}
	gradeColumns    = []string{"rating", "grade", "score", "relevance"}
)

// judgmentTable reads judgments of CSV. Without a header it is query, document and grade, as Quepid has them.
func (f *File) judgmentTable(r io.Reader, all *judgments) error {
	asked := append([]string{"query", "query_text"}, idColumns[:3]...)
	needed := [][]string{asked, documentColumns, gradeColumns}
	return f.table(r, needed, []string{"query", "docid", "rating"}, func(line int, row map[string]string) {
		if query, alone := row[unrated]; alone {
			f.Report.Add(f.Name, NoGrade, line, "query %s has none", short(query))
			return
		}
		query := first(row, idColumns[:3]...)
		if query == "" {
			query = f.how.query(first(row, "query", "query_text"))
		}
		all.add(line, query, first(row, documentColumns...), first(row, gradeColumns...))
	})
}

// hitTable reads a run of CSV.
func (f *File) hitTable(r io.Reader, all *hits) error {
	needed := [][]string{append([]string{"query"}, idColumns[:3]...), documentColumns, {"score"}}
	return f.table(r, needed, nil, func(line int, row map[string]string) {
		query := first(row, append([]string{"query"}, idColumns[:3]...)...)
		all.add(line, row["system"], query, first(row, documentColumns...), row["score"])
	})
}
