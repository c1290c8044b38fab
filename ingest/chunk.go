package ingest

import (
	"encoding/json"
	"maps"

	"github.com/hybridge-search/hybridge/engine"
)

// Chunk is one line of NDJSON: Common with the members of Passage for a knowledge base of
// kind chunks, or with those of Pair for kind qa. Unknown members are errors, so that a
// misspelt one is not lost.
type Chunk struct {
	Common
	Passage
	Pair
}

// Common members. Text must be valid UTF-8.
type Common struct {
	ID           string `json:"id" doc:"1 to 256 bytes; a chunk of the same id is replaced."`
	DocumentID   string `json:"document_id,omitempty" doc:"The default is the id."`
	DocumentName string `json:"document_name,omitempty" doc:"For people, as a file name."`
	// Ordinal defaults to the number of the line among successive lines of a document.
	Ordinal   *int        `json:"ordinal,omitempty" minimum:"0" doc:"Place within the document, from 0."`
	Title     string      `json:"title,omitempty" doc:"Searched and embedded in front of the text."`
	Positions [][]float64 `json:"positions,omitempty" doc:"Where the text was: [page, x0, x1, y0, y1], or in a split file [first line, last line]."`
	// Metadata may nest: {"a": {"b": 1}} is stored as "a.b". Null means absent.
	Metadata  map[string]json.RawMessage `json:"metadata,omitempty" doc:"Strings, numbers, booleans, or lists of these."`
	Owner     string                     `json:"owner,omitempty" doc:"A search may be restricted to one owner's chunks."`
	WrittenAt string                     `json:"written_at,omitempty" doc:"When it was written, as 2026-01-31T12:00:00Z; now when left out. Kept in UTC to the second; filters see it."`
	Available *bool                      `json:"available,omitempty" doc:"false hides the chunk; the default is true."`
}

// Passage has the members of kind chunks.
type Passage struct {
	Content string    `json:"content,omitempty" doc:"The text."`
	Vector  []float32 `json:"vector,omitempty" doc:"Of title and content; made here when left out."`

	ImportantKeywords []string `json:"important_keywords,omitempty" doc:"Searched with the text, not embedded."`
	Questions         []string `json:"questions,omitempty" doc:"That the text answers; searched with it, not embedded."`

	Vectors map[string][]float32 `json:"vectors,omitempty" doc:"Of the knowledge base's further vector fields, by name; those with a source are made here when left out."`
}

// Pair has the members of kind qa.
type Pair struct {
	Question   string `json:"question,omitempty" doc:"The question."`
	Answer     string `json:"answer,omitempty" doc:"The answer that is searched."`
	FullAnswer string `json:"full_answer,omitempty" doc:"The answer that is shown."`
	Summary    string `json:"summary,omitempty" doc:"Shown only."`
	URL        string `json:"url,omitempty" doc:"Source."`
	Category   string `json:"category,omitempty" doc:"Searched and embedded in front of the title."`
	Date       string `json:"date,omitempty" doc:"As 2026-01-31, so that ranges compare."`
	Group      string `json:"group,omitempty" doc:"Pairs that are versions of each other."`

	QuestionVector []float32 `json:"question_vector,omitempty" doc:"Made here when left out."`
	AnswerVector   []float32 `json:"answer_vector,omitempty" doc:"Made here when left out."`
}

// chunk returns a validated line as the engine's chunk, except for ordinal and metadata.
func (c *Chunk) chunk(kind engine.KnowledgeKind) engine.Chunk {
	chunk := engine.Chunk{
		ID:           c.ID,
		DocumentID:   c.DocumentID,
		DocumentName: c.DocumentName,
		Title:        c.Title,
		Content:      c.Content,
		Positions:    c.Positions,
		Owner:        c.Owner,
		WrittenAt:    c.WrittenAt,
		Available:    c.Available == nil || *c.Available,
		Vectors:      map[string][]float32{},

		ImportantKeywords: c.ImportantKeywords, Questions: c.Questions,
	}
	if chunk.DocumentID == "" {
		chunk.DocumentID = chunk.ID
	}
	for field, vector := range c.vectors() {
		if vector != nil {
			chunk.Vectors[field] = vector
		}
	}
	if kind == engine.KindQA {
		chunk.QA = &engine.QA{
			Question: c.Question, Answer: c.Answer, FullAnswer: c.FullAnswer, Summary: c.Summary,
			URL: c.URL, Category: c.Category, Date: c.Date, Group: c.Group,
		}
	}
	return chunk
}

// vectors returns the vectors by field name; an omitted one may be nil.
func (c *Chunk) vectors() map[string][]float32 {
	all := map[string][]float32{
		engine.FieldVector:         c.Vector,
		engine.FieldQuestionVector: c.QuestionVector,
		engine.FieldAnswerVector:   c.AnswerVector,
	}
	maps.Copy(all, c.Vectors)
	return all
}
