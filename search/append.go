package search

import (
	"bytes"
	"context"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/fault"
)

// Note is what there is to say of an answer beside sending it.
type Note struct {
	Preset   string
	Hits     int
	Degraded []Degraded
}

// NoteOf is that of a response.
func NoteOf(r *Response) Note { return Note{Preset: r.Preset, Hits: len(r.Hits), Degraded: r.Degraded} }

// Append answers as Search does, with the Response as AppendJSON writes it behind what is
// in to. Nothing of the answer is left but that, so all its memory serves a next search.
// With an error it gives to as it was.
func (s *Searcher) Append(ctx context.Context, scope access.Scope, req Request, to []byte) ([]byte, Note, error) {
	started := time.Now()
	r, err := s.prepare(ctx, scope, &req)
	if err != nil {
		return to, Note{}, err
	}
	r.passing = true
	response, set, err := s.found(ctx, r, started)
	defer set.release()
	if err != nil {
		return to, Note{}, err
	}
	to, err = response.AppendJSON(to)
	if err != nil {
		return to, Note{}, fault.Wrap(fault.Internal, err, "write the answer as JSON")
	}
	return to, NoteOf(response), nil
}

// AppendAgain writes an answer that AppendJSON has written once more, as a cached one with
// a head of its own: it was asked for at started. ok is false for what is no such answer.
func AppendAgain(to, answer []byte, started time.Time) (out []byte, ok bool) {
	at := bytes.Index(answer, []byte(behindHead))
	if at < 0 {
		return to, false
	}
	a := answerTexts.Get().(*answerText)
	a.out, a.err = to, nil
	a.head(newQueryID(), true, milliseconds(time.Since(started)))
	a.out = append(a.out, answer[at:]...)
	out, a.out = a.out, nil
	answerTexts.Put(a)
	return out, true
}
