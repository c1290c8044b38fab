package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
)

// Changed reports the chunks that a change has and has not changed. Changes are atomic per chunk.
type Changed struct {
	Chunks int // changed, or deleted
	// Failed are the first chunks that could not be, MaxFailed at most, and FailedChunks how many they are together.
	Failed       []FailedChunk
	FailedChunks int
}

// FailedChunk is a chunk that stays as it was.
type FailedChunk struct {
	ID  string
	Err error // a *fault.Error
}

// MaxFailed is how many chunks are named that could not be changed.
const MaxFailed = 100

// Incomplete is the error of a change that could not be done to every chunk.
type Incomplete struct {
	Changed
	first error
}

// Error implements error.
func (i *Incomplete) Error() string { return i.first.Error() }

// Unwrap returns the error of the first chunk, which decides the kind.
func (i *Incomplete) Unwrap() error { return i.first }

// How many chunks were changed, how many were not, the first of these and why.
const (
	incompleteChange   = "%d chunks were changed and %d could not be; the first of these is %q: %s"
	incompleteDeletion = "%d chunks were deleted and %d could not be; the first of these is %q: %s"
)

// outcome is the error of a change that a chunk refused; nil when none did.
func (c *Changed) outcome(format string) error {
	if c.FailedChunks == 0 {
		return nil
	}
	first := c.Failed[0]
	detail := fmt.Sprintf(format, c.Chunks, c.FailedChunks, clip(first.ID, 80), detailOf(first.Err))
	why := &fault.Error{Kind: fault.KindOf(first.Err), Detail: detail, Err: first.Err}
	if f, known := errors.AsType[*fault.Error](first.Err); known {
		why.Field = f.Field
	}
	return &Incomplete{Changed: *c, first: why}
}

func detailOf(err error) string {
	if f, known := errors.AsType[*fault.Error](err); known {
		return f.Detail
	}
	return "internal error"
}

func (c *Changed) add(outcomes []engine.ChangeOutcome) {
	for _, o := range outcomes {
		switch {
		case o.Err != nil:
			if c.FailedChunks++; len(c.Failed) < MaxFailed {
				c.Failed = append(c.Failed, FailedChunk{ID: o.ID, Err: o.Err})
			}
		case o.Verdict == engine.Put || o.Verdict == engine.Remove:
			c.Chunks++
		}
	}
}

// changeAll has an Edit decide about all chunks that pass the conditions, a page at a time. Those that are written
// meanwhile may be among them.
func (t *target) changeAll(
	ctx context.Context, conditions []filter.Condition, edit engine.Edit, refresh bool,
) (changed Changed, err error) {
	for after := ""; ; {
		ids, err := t.engine.SelectChunks(ctx, engine.SelectRequest{
			KB: t.kb, Conditions: conditions, After: after, Limit: engine.MaxChange,
		})
		if err != nil || len(ids) == 0 {
			return changed, err
		}
		last := len(ids) < engine.MaxChange
		outcomes, err := t.engine.ChangeChunks(ctx, engine.ChangeRequest{
			KB: t.kb, IDs: ids, Edit: edit, Refresh: refresh && last,
		})
		if changed.add(outcomes); err != nil || last {
			return changed, err
		}
		after = ids[len(ids)-1]
	}
}

// within are conditions and what the filter of the scope adds to them.
func (t *target) within(conditions ...filter.Condition) []filter.Condition {
	return slices.Concat(conditions, t.scope.Filter)
}

// removeAll deletes the chunks that pass conditions, each if it does when it is deleted.
func (t *target) removeAll(ctx context.Context, conditions []filter.Condition) (int, error) {
	changed, err := t.changeAll(ctx, conditions, engine.RemoveThose(conditions), false)
	if err == nil {
		err = changed.outcome(incompleteDeletion)
	}
	return changed.Chunks, err
}

// DeleteWhere removes the chunks that pass all conditions, hidden ones too, and tells how many they
// were; with dryRun it only counts them. A chunk is deleted if it passes them at that moment: what somebody
// rewrites meanwhile so that it does not stays. An error leaves what was deleted before it deleted.
func (p *Pipeline) DeleteWhere(
	ctx context.Context, scope access.Scope, kb string, conditions []filter.Condition, dryRun bool,
) (int, error) {
	if len(conditions) == 0 {
		return 0, fault.Invalid("filter", "empty", "a filter with a field; without one delete the knowledge base")
	}
	t, err := p.writable(ctx, scope, kb)
	if err != nil {
		return 0, err
	}
	if conditions = t.within(conditions...); !dryRun {
		return t.removeAll(ctx, conditions)
	}
	count := 0
	for after := ""; ; {
		ids, err := t.engine.SelectChunks(ctx, engine.SelectRequest{
			KB: t.kb, Conditions: conditions, After: after, Limit: engine.MaxChange,
		})
		count += len(ids)
		if err != nil || len(ids) < engine.MaxChange {
			return count, err
		}
		after = ids[len(ids)-1]
	}
}

// MetadataPatch changes the metadata of a document's chunks: members that are null are removed, the
// others set, and those that are not named stay.
type MetadataPatch struct {
	DocumentRef
	Members map[string]json.RawMessage
	Refresh bool // return only when a search sees it
}

// PatchMetadata changes the metadata of all chunks of a document that the scope sees, which keep
// their vectors, and tells how many they are. Each is changed as it is at that moment: of two patches at
// once both count, and a chunk that is deleted meanwhile stays deleted. A chunk that cannot have the patch stays as
// it is and is named by an *Incomplete. fault.NotFound for a document without chunks.
func (p *Pipeline) PatchMetadata(ctx context.Context, scope access.Scope, patch MetadataPatch) (int, error) {
	if err := givesOwn(patch.Members); err != nil {
		return 0, err
	}
	set, err := flatten(patch.Members)
	if err != nil {
		return 0, err
	}
	if len(patch.Members) == 0 {
		return 0, fault.Invalid("metadata", "empty", "an object with a member to set, or to remove by null")
	}
	t, err := p.writable(ctx, scope, patch.KB)
	if err != nil {
		return 0, err
	}
	document := t.within(engine.OfDocument(patch.ID))
	changed, err := t.changeAll(ctx, document, func(c *engine.Chunk) (engine.Verdict, error) {
		if !filter.MatchesAll(document, c) {
			return engine.Keep, nil
		}
		return engine.Put, t.patch(c, patch.Members, set)
	}, patch.Refresh)
	switch {
	case err != nil:
		return changed.Chunks, err
	case changed.FailedChunks > 0:
		return changed.Chunks, changed.outcome(incompleteChange)
	case changed.Chunks == 0:
		return 0, noDocument(patch.DocumentRef)
	default:
		return changed.Chunks, nil
	}
}

// patch changes the metadata of a chunk.
func (t *target) patch(c *engine.Chunk, members map[string]json.RawMessage, set map[string]any) error {
	c.Metadata, c.WrittenAt = patched(c.Metadata, members, set), dateOf(time.Now())
	if len(c.Metadata) > maxKeys {
		return fault.Invalid("metadata", len(c.Metadata), "at most 256 members in a chunk")
	}
	if err := outside(&t.scope, c); err != nil {
		return err
	}
	tellLanguage(c)
	return nil
}

// patched are metadata with changes.
func patched(metadata map[string]any, members map[string]json.RawMessage, set map[string]any) map[string]any {
	changed := make(map[string]any, len(metadata)+len(set))
	maps.Copy(changed, metadata)
	for name := range members { // what was there goes, an object with its members
		maps.DeleteFunc(changed, func(key string, _ any) bool {
			return key == name || strings.HasPrefix(key, name+".")
		})
	}
	maps.Copy(changed, set)
	return changed
}
