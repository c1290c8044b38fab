package ingest

import (
	"context"
	"encoding/json"
	"math"
	"strconv"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// Export says what to read of a knowledge base.
type Export struct {
	KB      string // its id
	After   string // continue after this chunk; empty: from the start
	Limit   int    // at most so many chunks; 0: all
	Vectors bool
}

// The chunks of a page are in memory at once, so there are fewer of them where they are large.
const (
	firstExport = 16
	mostExport  = 500
	exportBytes = 4 << 20
)

// Export emits chunks in the order of their ids by bytes, hidden ones too, each as Stream
// takes it. A chunk that is written meanwhile is in it if its id comes after those that were
// emitted. fault.Unsupported for an index that is attached.
func (p *Pipeline) Export(ctx context.Context, scope access.Scope, export Export, emit func(Chunk) error) error {
	t, err := p.readable(ctx, scope, export.KB)
	if err != nil {
		return err
	}
	left := export.Limit
	return t.eachPage(ctx, export.After, func(chunks []engine.Chunk) (bool, error) {
		for i := range chunks {
			if !scope.Sees(&chunks[i]) {
				continue
			}
			line, err := lineOf(&chunks[i], export.Vectors)
			if err == nil {
				err = emit(line)
			}
			if err != nil {
				return false, err
			}
			if left--; left == 0 {
				return false, nil
			}
		}
		return true, nil
	})
}

// scanner is the engine as one that reads whole chunks.
func (t *target) scanner() (engine.Scanner, error) {
	scanner, ok := t.engine.(engine.Scanner)
	if !ok {
		return nil, fault.New(fault.Unsupported, "engine %s, on which knowledge base %q lives, cannot be read whole",
			t.engine.Name(), t.kb.ID)
	}
	return scanner, nil
}

// eachPage gives use the chunks after one of them by the order of their ids, hidden ones too, with
// their vectors, until it wants no more.
func (t *target) eachPage(
	ctx context.Context, after string, use func(chunks []engine.Chunk) (more bool, err error),
) error {
	scanner, err := t.scanner()
	if err != nil {
		return err
	}
	request := engine.ScanRequest{KB: t.kb, After: after, Limit: firstExport}
	for {
		chunks, err := scanner.Scan(ctx, request)
		if err != nil {
			return err
		}
		size := 0
		for i := range chunks {
			request.After = chunks[i].ID
			size += sizeOf(&chunks[i])
		}
		if more, err := use(chunks); err != nil || !more || len(chunks) < request.Limit {
			return err
		}
		request.Limit = min(max(1, len(chunks)*exportBytes/max(size, 1)), 2*request.Limit, mostExport)
	}
}

// sizeOf is about how many bytes a chunk takes.
func sizeOf(c *engine.Chunk) int {
	size := len(c.Title) + len(c.Content) + len(c.FieldText(engine.PartKeywords)) + len(c.FieldText(engine.PartQuestions))
	if c.QA != nil {
		size += len(c.Question) + len(c.Answer) + len(c.FullAnswer) + len(c.Summary)
	}
	for _, v := range c.Vectors {
		size += 4 * len(v)
	}
	return size
}

// lineOf is the line that Stream makes this chunk of.
func lineOf(c *engine.Chunk, vectors bool) (Chunk, error) {
	line := Chunk{Common: Common{
		ID: c.ID, DocumentID: c.DocumentID, DocumentName: c.DocumentName, Ordinal: &c.Ordinal,
		Title: c.Title, Positions: c.Positions, Owner: c.Owner, WrittenAt: c.WrittenAt,
	}, Passage: Passage{
		Content: c.Content, ImportantKeywords: c.ImportantKeywords, Questions: c.Questions,
	}}
	if !c.Available {
		line.Available = &c.Available
	}
	if qa := c.QA; qa != nil {
		line.Pair = Pair{
			Question: qa.Question, Answer: qa.Answer, FullAnswer: qa.FullAnswer, Summary: qa.Summary,
			URL: qa.URL, Category: qa.Category, Date: qa.Date, Group: qa.Group,
		}
	}
	for field, v := range c.Vectors {
		if vectors {
			line.setVector(field, v)
		}
	}
	for key, value := range c.Metadata {
		text, err := json.Marshal(exactly(value))
		if err != nil {
			return line, fault.Wrap(fault.Corrupt, err, "metadata.%s of chunk %q is no JSON", key, c.ID)
		}
		if line.Metadata == nil {
			line.Metadata = make(map[string]json.RawMessage, len(c.Metadata))
		}
		line.Metadata[key] = text
	}
	return line, nil
}

func (c *Chunk) setVector(field string, v []float32) {
	switch field {
	case engine.FieldVector:
		c.Vector = v
	case engine.FieldQuestionVector:
		c.QuestionVector = v
	case engine.FieldAnswerVector:
		c.AnswerVector = v
	default:
		if c.Vectors == nil {
			c.Vectors = map[string][]float32{}
		}
		c.Vectors[field] = v
	}
}

// exactly writes whole numbers that are beyond those that float64 holds one by one with an
// exponent, as number accepts them.
func exactly(value any) any {
	switch v := value.(type) {
	case float64:
		if math.Abs(v) >= maxExact {
			return json.Number(strconv.FormatFloat(v, 'e', -1, 64))
		}
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = exactly(v[i])
		}
		return list
	}
	return value
}
