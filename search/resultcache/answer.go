package resultcache

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// kept is an answer as the JSON that was sent, and when it was computed.
type kept struct {
	since time.Time
	data  []byte
	note  search.Note
}

// answer is one found or computed.
type answer struct {
	kept
	whole  *search.Response // where it was computed as one; nobody changes it
	shared bool             // it is from the second tier
}

// texts is memory to write an answer into, before it is known how large it is.
var texts = sync.Pool{New: func() any { return new([]byte) }}

// compute asks the searcher within.
func (s *Searcher) compute(ctx context.Context, q query) (*answer, error) {
	s.metrics.count(computed)
	text := texts.Get().(*[]byte)
	defer texts.Put(text)
	a := &answer{kept: kept{since: time.Now()}}
	var err error
	if !q.whole {
		*text, a.note, err = s.Searcher.Append(ctx, q.scope, q.req, (*text)[:0])
		if err != nil {
			return nil, err
		}
		a.data = bytes.Clone(*text)
		return a, nil
	}
	if a.whole, err = s.Searcher.Search(ctx, q.scope, q.req); err != nil {
		return nil, err
	}
	a.note = search.NoteOf(a.whole)
	if data, err := a.whole.AppendJSON((*text)[:0]); err == nil { // else there is no JSON to keep
		*text, a.data = data, bytes.Clone(data)
	}
	return a, nil
}

// append writes the answer behind what is there.
func (a *answer) append(to []byte, again bool, started time.Time) ([]byte, search.Note, error) {
	switch {
	case a.data == nil:
		out, err := a.whole.AppendJSON(to)
		if err != nil {
			return to, a.note, fault.Wrap(fault.Internal, err, "write the answer as JSON")
		}
		return out, a.note, nil
	case !again:
		return append(to, a.data...), a.note, nil
	}
	out, ok := search.AppendAgain(to, a.data, started)
	if !ok {
		return to, a.note, errUnreadable(nil)
	}
	return out, a.note, nil
}

// response gives the answer as everybody's own to change at the top.
func (a *answer) response(again bool, started time.Time) (*search.Response, error) {
	own := new(search.Response)
	if a.whole != nil {
		*own = *a.whole
	} else if err := json.Unmarshal(a.data, own); err != nil {
		return nil, errUnreadable(err)
	}
	if again {
		own.Cached, own.QueryID = true, search.NewQueryID()
		own.TookMS = float64(time.Since(started).Nanoseconds()) / 1e6
	}
	return own, nil
}

func errUnreadable(err error) error {
	return fault.Wrap(fault.Internal, err, "a kept answer cannot be read")
}

// noteOf reads the note of an answer that somebody else has written; ok is false for
// what is none.
func noteOf(data []byte) (note search.Note, ok bool) {
	var answer struct {
		Preset string     `json:"preset"`
		Hits   []struct{} `json:"hits"`
	}
	if json.Unmarshal(data, &answer) != nil || answer.Preset == "" {
		return note, false
	}
	return search.Note{Preset: answer.Preset, Hits: len(answer.Hits)}, true
}
