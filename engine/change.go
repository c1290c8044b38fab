package engine

import (
	"errors"
	"fmt"
	"maps"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
)

// What is changed or deleted by what it holds is decided where the chunk is: never by reading it here and
// writing it back, which would undo what somebody else wrote in between. SelectChunks says which chunks may
// be meant, page by page; ChangeChunks shows each of them to an Edit as it is at that moment and stores what
// the Edit makes of it, in one step. A change is atomic by chunk, not by document.

// MaxChange is how many chunks one ChangeChunks takes.
const MaxChange = 1000

// SelectRequest asks for the ids of the chunks that pass all conditions, hidden ones included.
type SelectRequest struct {
	KB         KnowledgeBase
	Conditions []filter.Condition
	After      string // continue after this id; empty: from the start
	Limit      int    // 1 to MaxChange
}

// OfDocument is the condition that selects the chunks of a document.
func OfDocument(documentID string) filter.Condition {
	return filter.Condition{Field: FieldDocumentID, In: []filter.Value{{V: documentID}}}
}

// Edit decides about one chunk, which it gets as it is stored, with its vectors (a vector's length may have
// become 1), and which is its own to change: all but the id and the document. It looks at nothing else and
// changes nothing else, and may be asked several times about a chunk that others write at the same time.
// An error leaves the chunk as it is.
type Edit func(*Chunk) (Verdict, error)

// Verdict is what becomes of a chunk.
type Verdict int

// Verdicts of an Edit, and of a chunk that is not there.
const (
	Keep    Verdict = iota // as it is
	Put                    // as the Edit has changed it
	Remove                 // deleted
	Missing                // it was not there
)

// ChangeRequest names chunks for an Edit to decide about.
type ChangeRequest struct {
	KB      KnowledgeBase
	IDs     []string // at most MaxChange
	Edit    Edit
	Refresh bool // return only when a search sees what was stored; deletions are seen in any case
}

// ChangeOutcome is what became of one chunk.
type ChangeOutcome struct {
	ID      string
	Verdict Verdict
	Err     error // the chunk is as it was
}

// Check refuses a request that no engine takes.
func (r *ChangeRequest) Check() error {
	if len(r.IDs) > MaxChange {
		return fault.Invalid("ids", fault.Length(len(r.IDs)), fmt.Sprintf("a list of at most %d ids", MaxChange))
	}
	return nil
}

// Run asks the Edit about a stored chunk. An Edit that gives a chunk another name is at fault.
func (r *ChangeRequest) Run(c *Chunk) (Verdict, error) {
	id, documentID := c.ID, c.DocumentID
	verdict, err := r.Edit(c)
	if err == nil && (c.ID != id || c.DocumentID != documentID) {
		err = fault.New(fault.Internal, "the edit of chunk %q gave it another id or document", id)
	}
	return verdict, err
}

// Clone is a copy of a chunk for an Edit to change: lists, which are replaced as a whole, are shared.
func (c *Chunk) Clone() Chunk {
	own := *c
	own.Metadata, own.Vectors = maps.Clone(c.Metadata), maps.Clone(c.Vectors)
	if c.QA != nil {
		pair := *c.QA
		own.QA = &pair
	}
	return own
}

// RemoveThose is the Edit that deletes the chunks which pass all conditions.
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

// Unwrap gives the reason.
func (r *Refused) Unwrap() error { return r.Err }

// RefuseFirst is the error of a replacement of which a chunk failed; nil when none did.
func RefuseFirst(outcomes []WriteOutcome) error {
	for i := range outcomes {
		if outcomes[i].Err != nil {
			return &Refused{ID: outcomes[i].ID, Err: outcomes[i].Err}
		}
	}
	return nil
}

// Admits says whether a chunk may be written in place of a stored one: a chunk belongs to its document, so
// the stored one must be of the same (or Copy be set), and it must be one that Admit lets be replaced. Engines
// ask it where the chunk is, in the step that writes.
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

// clipped keeps an id within a message.
func clipped(id string) string {
	const most = 80
	if len(id) <= most {
		return id
	}
	return id[:most] + "…"
}

// Claims gives the errors of chunks that cannot be written because an earlier one of the same request has
// their id for another document; nil for the others, and when there are none.
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

// AsRefused finds which chunk an error is of.
func AsRefused(err error) (*Refused, bool) { return errors.AsType[*Refused](err) }
