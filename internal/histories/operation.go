package histories

import (
	"context"
	"fmt"
	"strings"
)

// Kind is what an operation does.
type Kind int

// The kinds of operations.
const (
	Write     Kind = iota // Chunks of Document, with Status and without other members
	Patch                 // the member of every chunk of Document; Value "": it is removed
	Replace               // Document has Chunks alone from then on
	Remove                // Document with its chunks
	RemoveOne             // the chunk in Chunks
	RemoveOld             // every chunk whose status is Old
	Read                  // Chunks
)

var kindNames = [...]string{"write", "patch", "replace", "delete document", "delete chunk", "delete old", "read"}

func (k Kind) String() string { return kindNames[k] }

// The values of the member "status".
const (
	Old = "old"
	New = "new"
)

// Members is how many members patches set: the last is common to all clients, the others are one client's.
const Members = 8

// Op is an operation of a client.
type Op struct {
	Kind     Kind
	Document int
	Chunks   []int
	Value    string // no other operation has it
	Status   string
	Member   int
}

// ChunkID is what clients call a chunk.
func ChunkID(chunk int) string { return fmt.Sprintf("c%02d", chunk) }

// DocumentID is the name of a document.
func DocumentID(document int) string { return fmt.Sprintf("d%d", document) }

// MemberName is the name of a member.
func MemberName(member int) string { return fmt.Sprintf("m%d", member) }

func (o *Op) String() string {
	switch o.Kind {
	case Write, Replace:
		return fmt.Sprintf("%s %s=%s %s", o.Kind, DocumentID(o.Document), o.Value, o.Status)
	case Patch:
		return fmt.Sprintf("patch %s %s=%s", DocumentID(o.Document), MemberName(o.Member), o.Value)
	case Remove:
		return "delete " + DocumentID(o.Document)
	case RemoveOne, RemoveOld, Read:
	}
	return o.Kind.String()
}

// Verdict is what a client was told of a chunk.
type Verdict int

// The verdicts. Done of an operation that chooses its chunks: changed if it was one of them.
const (
	Unknown  Verdict = iota // it may have happened, or happens later, or never
	Done                    // or, of a read, State is what there was
	Created                 // written, there was none
	Updated                 // written in place of another
	Conflict                // not written: it belongs to another document
	Refused                 // nothing was changed
	Missing                 // there was nothing to be changed
)

var verdictNames = [...]string{"unknown", "done", "created", "updated", "conflict", "refused", "missing"}

func (v Verdict) String() string { return verdictNames[v] }

// State is a chunk as it is stored; its zero value is none.
type State struct {
	Present  bool
	Document int
	Value    string
	Status   string
	Members  [Members]string
}

func (s State) String() string {
	if !s.Present {
		return "nothing"
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s=%s %s", DocumentID(s.Document), s.Value, s.Status)
	for i, v := range s.Members {
		if v != "" {
			fmt.Fprintf(&text, " %s=%s", MemberName(i), v)
		}
	}
	return text.String()
}

// Outcome is what a client was told. Chunks that are not in ByChunk have the Verdict.
type Outcome struct {
	Verdict Verdict
	ByChunk map[int]Verdict
	Count   int           // of changed chunks, where it was told
	Read    map[int]State // of a read; those that are not there are none
	Why     string        // what an error said
}

// Client does operations on a knowledge base, several at once.
type Client interface {
	Do(ctx context.Context, op *Op) Outcome
}
