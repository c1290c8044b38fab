package exchange

import (
	"context"
	"strings"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/evaluation/library"
)

// QueryFile is a file of queries.
type QueryFile struct {
	Name    string `json:"name,omitempty" doc:"Of the file. Its ending, and how the text begins, say the format where none is named."`
	Format  string `json:"format,omitempty" enum:"jsonl,csv,rre" doc:"JSON Lines as BEIR's queries.jsonl, CSV with a column query, or RRE's ratings."`
	Text    string `json:"text" doc:"What it has."`
	Replace bool   `json:"replace,omitempty" doc:"Replace the text of queries that have judgments too; these will count for the new text."`
}

// JudgmentFile is a file of judgments.
type JudgmentFile struct {
	Name          string `json:"name,omitempty" doc:"Of the file. Its ending, and how the text begins, say the format where none is named."`
	Format        string `json:"format,omitempty" enum:"jsonl,csv,beir,trec,ranx,rre,ltr" doc:"JSON Lines, CSV as Quepid's or ranx's, BEIR's TSV, TREC's qrels, ranx's JSON, RRE's ratings, or lines for learning to rank."`
	Text          string `json:"text" doc:"What it has."`
	Chunks        bool   `json:"chunks,omitempty" doc:"It judges chunks, by their ids, and not documents."`
	KnowledgeBase string `json:"knowledge_base,omitempty" doc:"Of what is judged; may be left out where the query set has one."`
}

// Imported says what became of a file.
type Imported struct {
	Stored   int       `json:"stored" minimum:"0"`
	LeftOut  int       `json:"left_out" minimum:"0" doc:"Rows that were left out or refused."`
	Oddities []*Oddity `json:"oddities" nullable:"false" doc:"Whatever is odd about the file, by kind, with what was done with it."`
}

// Importer is a library that takes whole files.
type Importer struct{ *library.Library }

// ImportQueries adds the queries of a file to a set.
func (i Importer) ImportQueries(ctx context.Context, scope access.Scope, set string, in QueryFile) (*Imported, error) {
	if _, err := i.QuerySet(ctx, scope, set); err != nil { // a file without queries is told so too
		return nil, err
	}
	file := fileOf(in.Name, in.Format)
	read, _, err := file.Queries(strings.NewReader(in.Text))
	if err != nil {
		return nil, err
	}
	store := Store{Report: file.Report, File: file.Name}
	stored, err := store.Queries(read, func(part []library.Query) (*library.Outcome, error) {
		return i.PutQueries(ctx, scope, set, part, in.Replace)
	})
	return file.imported(stored), err
}

// ImportJudgments adds the judgments of a file to a list.
func (i Importer) ImportJudgments(
	ctx context.Context, scope access.Scope, list string, in JudgmentFile,
) (*Imported, error) {
	described, err := i.JudgmentList(ctx, scope, list)
	if err != nil {
		return nil, err
	}
	how := Reading{Chunks: in.Chunks, KnowledgeBase: in.KnowledgeBase, ByText: map[string]string{}}
	err = i.EachQuery(ctx, scope, described.QuerySet, func(q *library.Query) error {
		how.ByText[q.Text] = q.ID
		return nil
	})
	if err != nil {
		return nil, err
	}
	file := fileOf(in.Name, in.Format)
	read, err := file.Judgments(strings.NewReader(in.Text), how)
	if err != nil {
		return nil, err
	}
	store := Store{Report: file.Report, File: file.Name}
	stored, err := store.Judgments(described, read, func(part []library.Judgment) (*library.Outcome, error) {
		return i.PutJudgments(ctx, scope, list, part, false)
	})
	return file.imported(stored), err
}

const (
	// textName is the name of a file without one.
	textName = "text"
	maxName  = 256 // bytes
)

func fileOf(name, format string) *File {
	if name == "" {
		name = textName
	}
	return &File{Name: name[max(0, len(name)-maxName):], Format: Format(format), Report: &Report{}}
}

func (f *File) imported(stored int) *Imported {
	answer := &Imported{Stored: stored, LeftOut: f.Report.LeftOut(), Oddities: f.Report.Oddities}
	if answer.Oddities == nil {
		answer.Oddities = []*Oddity{}
	}
	return answer
}
