package runs

import (
	"context"
	"fmt"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/evaluation/judge"
	"github.com/hybridge-search/hybridge/evaluation/library"
	"github.com/hybridge-search/hybridge/evaluation/metric"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// judged holds the judgments of one query. A chunk is found by its id while its text is the judged one, else by its
// text wherever it is now.
type judged struct {
	grades    metric.Judgments  // by key
	chunks    map[string]string // hash by key, of chunks
	texts     map[string]string // key by knowledge base and hash
	documents bool              // are judged, and no chunk: the ranking is one of documents
}

func chunkKey(kb, id string) string    { return engine.RecordKey(kb, "chunk", id) }
func documentKey(kb, id string) string { return engine.RecordKey(kb, "document", id) }

// judgmentsOf reads a list, by query.
func judgmentsOf(ctx context.Context, l *library.Library, scope access.Scope, list string) (map[string]*judged, error) {
	all := map[string]*judged{}
	err := l.EachJudgment(ctx, scope, list, func(j *library.Judgment) error {
		q := all[j.QueryID]
		if q == nil {
			q = &judged{
				grades: metric.Judgments{}, chunks: map[string]string{}, texts: map[string]string{}, documents: true,
			}
			all[j.QueryID] = q
		}
		q.add(j)
		return nil
	})
	return all, err
}

func (q *judged) add(j *library.Judgment) {
	if j.ChunkID == "" {
		q.grades[documentKey(j.KnowledgeBase, j.DocumentID)] = j.Grade
		return
	}
	key := chunkKey(j.KnowledgeBase, j.ChunkID)
	q.documents = false
	q.grades[key], q.chunks[key] = j.Grade, j.Hash
	if j.Hash != "" {
		q.texts[engine.RecordKey(j.KnowledgeBase, j.Hash)] = key
	}
}

// ranking gives the hits in the words of the judgments. Each judgment counts once: further hits of the same document,
// or with the same text, are left out.
func (q *judged) ranking(hits []search.Hit, judgedAs map[string]string) []Hit {
	seen := map[string]bool{}
	ranked := make([]Hit, 0, len(hits))
	for i := range hits {
		hit := q.of(foundIn(&hits[i]), judgedAs)
		if seen[hit.Key] {
			continue
		}
		seen[hit.Key] = true
		hit.Rank, hit.Relevance = len(ranked)+1, hits[i].Relevance
		if hit.Rank <= explained {
			hit.Legs = hits[i].Legs
		}
		ranked = append(ranked, hit)
	}
	return ranked
}

// found holds the keys that a chunk's judgment is found by.
type found struct {
	kb, document, chunk, hash string
	score                     float64
}

// textOf is the title and the text of a hit, of a pair its question and answer, as library.TextOf of its chunk.
func textOf(h *search.Hit) (title, content string) {
	if h.QA != nil {
		return h.Question, h.Answer
	}
	return h.Title, h.Content
}

func foundIn(h *search.Hit) found {
	title, content := textOf(h)
	return found{h.KnowledgeBase, h.DocumentID, h.ID, library.HashOf(title, content), h.Score}
}

// of finds the judgment of a hit.
func (q *judged) of(f found, judgedAs map[string]string) Hit {
	kb, hash := f.kb, f.hash
	if as, is := judgedAs[kb]; is {
		kb = as
	}
	hit := Hit{KnowledgeBase: f.kb, DocumentID: f.document, ChunkID: f.chunk, Score: f.score}
	document := documentKey(kb, f.document)
	key := chunkKey(kb, f.chunk)
	was, isJudged := q.chunks[key]
	switch {
	case q.documents:
		hit.Key = document
	case isJudged && (was == "" || was == hash):
		hit.Key = key
	case q.texts[engine.RecordKey(kb, hash)] != "":
		hit.Key = q.texts[engine.RecordKey(kb, hash)]
	case isJudged:
		hit.Key, hit.Changed = key+" changed", true
	default:
		hit.Key = key
		if _, is := q.grades[document]; is {
			hit.Key = document
		}
	}
	if grade, is := q.grades[hit.Key]; is {
		hit.Grade = &grade
	}
	return hit
}

// Agreement compares the grades of two lists of one query set, where both judged the same text.
func (g *Gradings) Agreement(ctx context.Context, scope access.Scope, id, with string) (*judge.Agreement, error) {
	l := g.runs.library
	list, err := l.JudgmentList(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	other, err := l.JudgmentList(ctx, scope, with)
	if err != nil {
		return nil, err
	}
	if other.QuerySet != list.QuerySet || other.MaxGrade != list.MaxGrade {
		return nil, fault.Invalid("with", with,
			fmt.Sprintf("a list of query set %s with grades from 0 to %d", list.QuerySet, list.MaxGrade))
	}
	theirs := map[[2]string]*library.Judgment{}
	err = l.EachJudgment(ctx, scope, with, func(j *library.Judgment) error {
		theirs[[2]string{j.QueryID, keyOf(j)}] = j
		return nil
	})
	if err != nil {
		return nil, err
	}
	var pairs [][2]int
	err = l.EachJudgment(ctx, scope, id, func(j *library.Judgment) error {
		t := theirs[[2]string{j.QueryID, keyOf(j)}]
		if t != nil && (t.Hash == j.Hash || t.Hash == "" || j.Hash == "") {
			pairs = append(pairs, [2]int{j.Grade, t.Grade})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return judge.Agree(pairs, list.MaxGrade), nil
}
