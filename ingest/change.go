package ingest

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// DeleteWhere removes the chunks that pass all conditions, hidden ones too, and tells how many they
// were; with dryRun it only counts them. It reads the whole knowledge base once, a page at a time: what
// is written meanwhile may stay. An error leaves what was deleted before it deleted.
func (p *Pipeline) DeleteWhere(
	ctx context.Context, scope access.Scope, kb string, conditions []engine.Condition, dryRun bool,
) (int, error) {
	if len(conditions) == 0 {
		return 0, fault.Invalid("filter", "empty", "a filter with a field; without one delete the knowledge base")
	}
	t, err := p.writable(ctx, scope, kb)
	if err != nil {
		return 0, err
	}
	count := 0
	err = t.eachPage(ctx, "", func(chunks []engine.Chunk) (bool, error) {
		var ids []string
		for i := range chunks {
			if c := &chunks[i]; scope.Sees(c) && engine.MatchesAll(conditions, c) {
				ids = append(ids, c.ID)
			}
		}
		if dryRun || len(ids) == 0 {
			count += len(ids)
			return true, nil
		}
		deleted, err := t.engine.DeleteChunks(ctx, t.kb, ids)
		count += deleted
		return true, err
	})
	return count, err
}

// MetadataPatch changes the metadata of a document's chunks: members that are null are removed, the
// others set, and those that are not named stay.
type MetadataPatch struct {
	DocumentRef
	Members map[string]json.RawMessage
	Refresh bool // return only when a search sees it
}

// PatchMetadata changes the metadata of all chunks of a document that the scope sees, which keep
// their vectors, and tells how many they are. A patch that one of them cannot have changes nothing
// of its page and of those after it. fault.NotFound for a document without chunks.
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
	scanner, err := t.scanner()
	if err != nil {
		return 0, err
	}
	count := 0
	request := engine.DocumentChunksRequest{KB: t.kb, DocumentID: patch.ID, To: -1, Limit: mostExport}
	for listed, err := range engine.DocumentPages(ctx, t.engine, request) {
		if err != nil {
			return count, err
		}
		var ids []string
		for i := range listed {
			if scope.Sees(&listed[i]) {
				ids = append(ids, listed[i].ID)
			}
		}
		last := len(listed) < mostExport
		chunks, err := scanner.Scan(ctx, engine.ScanRequest{KB: t.kb, IDs: ids, Limit: len(ids)})
		if err != nil {
			return count, err
		}
		if err := t.patch(ctx, chunks, &patch, set, last); err != nil {
			return count, err
		}
		count += len(chunks)
	}
	if count == 0 {
		return 0, noDocument(patch.DocumentRef)
	}
	return count, nil
}

// patch writes a page of chunks with their changed metadata.
func (t *target) patch(
	ctx context.Context, chunks []engine.Chunk, patch *MetadataPatch, set map[string]any, last bool,
) error {
	for i := range chunks {
		c := &chunks[i]
		c.Metadata, c.WrittenAt = patched(c.Metadata, patch.Members, set), dateOf(time.Now())
		if len(c.Metadata) > maxKeys {
			return fault.Invalid("metadata", len(c.Metadata), "at most 256 members in a chunk")
		}
		if err := outside(&t.scope, c); err != nil {
			return err
		}
		tellLanguage(c)
	}
	if len(chunks) == 0 {
		return nil
	}
	outcomes, err := t.engine.Write(ctx, engine.WriteRequest{KB: t.kb, Chunks: chunks, Refresh: patch.Refresh && last})
	for i := range outcomes {
		if err == nil {
			err = outcomes[i].Err
		}
	}
	return err
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
