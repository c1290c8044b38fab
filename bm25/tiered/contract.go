package tiered

import (
	"context"
	"errors"
	"fmt"

	"github.com/hybridge-search/hybridge/bm25"
)

// Index names one index: a text field of a knowledge base, and how it is scored.
// It is comparable; indexes that differ in anything share nothing in memory and
// in Redis.
type Index struct {
	// KnowledgeBase is a number that no other knowledge base ever had, not even one
	// that was deleted under the same name: stored indexes are found by it.
	KnowledgeBase int64
	Field         string
	// Options.Fingerprint names the analyzer; whatever makes stored indexes unusable
	// (another dictionary, an invalidation) changes it.
	Options bm25.Options
	// Name is what people call it, such as "acme/manuals": for logs and metrics.
	Name string
}

// Changes is a part of what happened to the chunks of a knowledge base.
type Changes struct {
	// Added chunks exist in the database snapshot read. Over all parts of one
	// reading their keys ascend.
	Added []bm25.Doc
	// Deleted keys, in any order; some may be of chunks that came and went unseen.
	Deleted []uint32
}

// Source reads chunks and the log of their changes. A chunk has a key, a row
// number that is never used again, and the generation that wrote it; the log has
// the key of each deleted chunk and the generation that deleted it. A generation
// writes keys above those of all generations before.
type Source interface {
	// Changes reads from one database snapshot what happened after a generation: the
	// chunks added since and still there, in ascending order of keys, and the keys
	// deleted since. After 0 these are all chunks and no deleted keys. It calls visit
	// with parts of bounded size, stops at its error and gives that back, and gives
	// the generation of the database snapshot. When the log does not reach back to
	// `after` the error is ErrLogTrimmed. A generation below `after` (a restored
	// backup) is given as it is, without a visit.
	Changes(ctx context.Context, index Index, after int64, visit func(Changes) error) (generation int64, err error)
}

// ErrLogTrimmed is what a Source gives when deletions after the generation asked
// for are no longer in the log. The index is then built anew.
var ErrLogTrimmed = errors.New("the log of deleted chunks does not reach back that far")

// Blob is a stored part of an index: all that happened in (From, To]. One from
// generation 0 is a base, any other a delta.
type Blob struct {
	From, To int64
	Docs     int    // chunks in it; for a delta, chunks added and deleted
	Data     []byte // checked by its reader: a store need not
}

// isBase reports whether the blob stands alone.
func (b *Blob) isBase() bool { return b.From == 0 }

// Head says what a store has of an index without its data; zero for nothing.
type Head struct {
	To        int64 // generation of the newest blob
	BaseDocs  int   // Blob.Docs of the base
	Deltas    int   // blobs behind the base
	DeltaDocs int   // Σ Blob.Docs of the deltas
}

// Store keeps blobs for good (L3). One base and the deltas that continue it are
// kept per knowledge base and field, whatever the index's options.
type Store interface {
	// Load gives the base and the deltas behind it in order, each continuing the one
	// before, read from one database snapshot; none when there is no base.
	Load(ctx context.Context, index Index) ([]Blob, error)
	// Head tells what Load would give.
	Head(ctx context.Context, index Index) (Head, error)
	// Save stores a blob in one transaction, if nothing newer is there: a base when
	// the base stored has To <= its To, dropping every delta with From < its To; a
	// delta when the newest blob stored has To == its From. saved is false when the
	// condition does not hold (another gateway was faster), or when the knowledge
	// base is gone; nothing is changed then.
	Save(ctx context.Context, index Index, blob Blob) (saved bool, err error)
	// Drop removes base and deltas.
	Drop(ctx context.Context, index Index) error
}

// Locker makes one process at a time build or store an index.
type Locker interface {
	// Lock waits for the lock of a knowledge base and field until ctx ends. unlock
	// must work after ctx ended; a lock whose holder dies is free.
	Lock(ctx context.Context, index Index) (unlock func(), err error)
}

// MovedError says that the index is newer than the generation asked for: the
// caller's transaction is too old. Begin another and ask again.
type MovedError struct{ Asked, Have int64 }

// Error implements error.
func (e *MovedError) Error() string {
	return fmt.Sprintf("the keyword index is at generation %d, the search at %d", e.Have, e.Asked)
}
