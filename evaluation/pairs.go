package evaluation

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/evaluation/exchange"
	"github.com/hybridge-search/hybridge/fault"
)

// Pair is a question with its answer; vectors are [dim]float32 or nil.
type Pair struct {
	ID             string    `json:"_id"`
	Group          string    `json:"thread"`
	Question       string    `json:"question"`
	Answer         string    `json:"answer"`
	QuestionVector []float32 `json:"-"`
	AnswerVector   []float32 `json:"-"`
}

// chunk returns the pair as a chunk of a knowledge base of kind qa.
func (p *Pair) chunk() engine.Chunk {
	c := engine.Chunk{
		ID: p.ID, DocumentID: p.ID, Available: true,
		QA: &engine.QA{Question: p.Question, Answer: p.Answer, Group: p.Group},
	}
	if p.QuestionVector != nil {
		c.Vectors = map[string][]float32{
			engine.FieldQuestionVector: p.QuestionVector, engine.FieldAnswerVector: p.AnswerVector,
		}
	}
	return c
}

// loadPairs reads qa.jsonl, if there is one. If vectors are asked for, they must be there
// too, because pairs without them cannot be compared with anything.
func (s *Set) loadPairs(dir, vectors string) error {
	path := filepath.Join(dir, "qa.jsonl")
	questions := filepath.Join(dir, "qa.question."+vectors+".f32")
	answers := filepath.Join(dir, "qa.answer."+vectors+".f32")
	if !exists(path) || vectors != "" && !exists(questions) {
		return nil
	}
	if err := s.readPairs(path); err != nil {
		return err
	}
	if !s.pairsAreCorpus() {
		s.Pairs = nil // other questions about the passages, without judgments
	}
	if vectors == "" || s.Pairs == nil {
		return nil
	}
	questionRows, err := ReadVectors(questions, len(s.Pairs))
	if err != nil {
		return err
	}
	answerRows, err := ReadVectors(answers, len(s.Pairs))
	if err != nil {
		return err
	}
	s.attachPairs(questionRows, answerRows)
	return nil
}

func (s *Set) readPairs(path string) error {
	file, err := os.Open(path) //nolint:gosec // the user names the folder
	if err != nil {
		return fault.Wrap(fault.InvalidArgument, err, "read the pairs")
	}
	defer func() { _ = file.Close() }() // it was only read
	lines := exchange.File{Name: filepath.Base(path), Report: s.Report}
	return lines.Lines(file, func(n int, line string) error {
		var pair Pair
		if err := json.Unmarshal([]byte(line), &pair); err != nil {
			return fault.Wrap(fault.InvalidArgument, err, "read line %d of %s", n, path)
		}
		s.Pairs = append(s.Pairs, pair)
		return nil
	})
}

// pairsAreCorpus reports whether the pairs are the items of the corpus, line by line.
func (s *Set) pairsAreCorpus() bool {
	return slices.EqualFunc(s.Pairs, s.Corpus, func(p Pair, c Passage) bool { return p.ID == c.ID })
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// embedPairs makes the vectors of the pairs.
func (s *Set) embedPairs(ctx context.Context, e Embedder) error {
	if len(s.Pairs) == 0 {
		return nil
	}
	questions, answers := make([]string, len(s.Pairs)), make([]string, len(s.Pairs))
	for i := range s.Pairs {
		c := s.Pairs[i].chunk()
		questions[i], answers[i] = c.FieldText(engine.FieldQuestion), c.FieldText(engine.FieldAnswer)
	}
	questionRows, err := e.Passages(ctx, questions)
	if err != nil {
		return err
	}
	answerRows, err := e.Passages(ctx, answers)
	if err != nil {
		return err
	}
	s.attachPairs(questionRows, answerRows)
	return nil
}

func (s *Set) attachPairs(questions, answers [][]float32) {
	for i := range s.Pairs {
		s.Pairs[i].QuestionVector, s.Pairs[i].AnswerVector = questions[i], answers[i]
	}
}
