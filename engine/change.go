package engine

import (
	"errors"
	"fmt"
	"maps"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
)

// A conditional change or deletion is decided inside the engine: reading a chunk and writing it back would
// undo concurrent writes. SelectChunks lists candidate chunks page by page; ChangeChunks shows each to an
// Edit in its current state and stores the result atomically. Atomicity is per chunk, not per document.

// MaxChange is the largest number of chunks in one ChangeChunks.
const MaxChange = 1000

// SelectRequest asks for the ids of the chunks that pass all conditions, hidden ones included.
type SelectRequest struct {
	KB         KnowledgeBase
	Conditions []filter.Condition
	After      string // continue after this id; empty: from the start
	Limit      int    // 1 to MaxChange
}

// OfDocument returns the condition that selects the chunks of a document.
func OfDocument(documentID string) filter.Condition {
	return filter.Condition{Field: FieldDocumentID, In: []filter.Value{{V: documentID}}}
}

// Edit decides about one chunk. It receives the stored chunk with its vectors (possibly normalised to length
// 1) and may modify everything but the id and the document. It must have no other effects, as it may be
// called again after a concurrent write. An error leaves the chunk unchanged.
type Edit func(*Chunk) (Verdict, error)

// Verdict says how an Edit decided about a chunk.
type Verdict int

// Verdicts of an Edit; Missing is set by the engine.
const (
	Keep    Verdict = iota // unchanged
	Put                    // store the edited chunk
	Remove                 // delete it
	Missing                // there is no such chunk
)

// ChangeRequest names chunks for an Edit to decide about.
type ChangeRequest struct {
	KB      KnowledgeBase
	IDs     []string // at most MaxChange
	Edit    Edit
	Refresh bool // return only when a search sees what was stored; deletions are always visible
}

// ChangeOutcome is the result for one chunk.
type ChangeOutcome struct {
	ID      string
	Verdict Verdict
	Err     error // the chunk is unchanged
}

// Check refuses a request that is invalid on every engine.
func (r *ChangeRequest) Check() error {
	if len(r.IDs) > MaxChange {
		return fault.Invalid("ids", fault.Length(len(r.IDs)), fmt.Sprintf("a list of at most %d ids", MaxChange))
	}
	return nil
}

// Run applies the Edit to a stored chunk. It fails if the Edit changes the id or the document.
func (r *ChangeRequest) Run(c *Chunk) (Verdict, error) {
	id, documentID := c.ID, c.DocumentID
	verdict, err := r.Edit(c)
	if err == nil && (c.ID != id || c.DocumentID != documentID) {
		err = fault.New(fault.Internal, "the edit of chunk %q gave it another id or document", id)
	}
	return verdict, err
}

// Clone copies a chunk for an Edit. Lists are shared, as edits replace them as a whole.
func (c *Chunk) Clone() Chunk {
	own := *c
	own.Metadata, own.Vectors = maps.Clone(c.Metadata), maps.Clone(c.Vectors)
	if c.QA != nil {
		pair := *c.QA
		own.QA = &pair
	}
	return own
}

// RemoveThose returns an Edit that deletes the chunks which pass all conditions.
func RemoveThose(conditions []filter.Condition) Edit {
	return func(c *Chunk) (Verdict, error) {
		if filter.MatchesAll(conditions, c) {
			return Remove, nil
		}
		return Keep, nil
	}
}

// Refused says which chunk kept a document from being replaced.
type Refused struct {
	ID  string
	Err error // a *fault.Error
}

// Error implements error.
func (r *Refused) Error() string { return fmt.Sprintf("chunk %q: %v", r.ID, r.Err) }

// Unwrap returns the reason.
func (r *Refused) Unwrap() error { return r.Err }

// RefuseFirst returns the error of the first chunk that failed as a *Refused; nil if none did.
func RefuseFirst(outcomes []WriteOutcome) error {
	for i := range outcomes {
		if outcomes[i].Err != nil {
			return &Refused{ID: outcomes[i].ID, Err: outcomes[i].Err}
		}
	}
	return nil
}

// Admits checks whether a stored chunk may be replaced: it must belong to the same document (unless Copy is set) and
// pass Admit. Engines call it within the atomic step that writes.
func (r *WriteRequest) Admits(stored *Chunk, documentID string) error {
	if stored.DocumentID != documentID && !r.Copy {
		return belongsTo(stored.ID, stored.DocumentID)
	}
	if r.Admit != nil {
		return r.Admit(stored)
	}
	return nil
}

func belongsTo(id, documentID string) error {
	err := fault.New(fault.Conflict, "chunk %q belongs to document %q; an id stands for one chunk of a knowledge base: "+
		"give this one another id, or delete that one first", clipped(id), clipped(documentID))
	err.Field = "id"
	return err
}

// clipped shortens an id for a message.
func clipped(id string) string {
	const most = 80
	if len(id) <= most {
		return id
	}
	return id[:most] + "…"
}

// Claims returns errors by index for chunks whose id an earlier chunk of the same request uses for another
// document; nil if there are none.
func (r *WriteRequest) Claims() map[int]error {
	if r.Copy {
		return nil
	}
	first := make(map[string]string, len(r.Chunks))
	var errs map[int]error
	for i := range r.Chunks {
		c := &r.Chunks[i]
		document, again := first[c.ID]
		switch {
		case !again:
			first[c.ID] = c.DocumentID
		case document != c.DocumentID:
			if errs == nil {
				errs = map[int]error{}
			}
			errs[i] = belongsTo(c.ID, document)
		}
	}
	return errs
}

// AsRefused finds the *Refused in an error chain.
func AsRefused(err error) (*Refused, bool) { return errors.AsType[*Refused](err) }
