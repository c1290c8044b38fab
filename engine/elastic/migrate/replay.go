package migrate

import (
	"context"
	"encoding/json"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/storage"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
)

// replayPage is how many entries of the log are replayed at a time.
const replayPage = 200

// replay makes the other index agree with the current one on every document that
// the change log names after m.Replayed.
func (s *Steps) replay(ctx context.Context, m *engine.Migration, save func(context.Context) error) error {
	log := s.store.ChangeLogOf(m)
	if err := s.refreshIndex(ctx, log.Index); err != nil {
		return err
	}
	for {
		entries, err := s.searchDocuments(ctx, log.Index, documentSearch{Search: esquery.Search{
			Query: esquery.Range{Field: "_seq_no", GT: m.Replayed}, Size: replayPage, Sort: ascending("_seq_no"),
			WholeSource: true,
		}})
		if err != nil || len(entries) == 0 {
			return err
		}
		if err := s.replayEntries(ctx, m, log, entries); err != nil {
			return err
		}
		m.Replayed = entries[len(entries)-1].SeqNo
		m.Progress.Replayed += len(entries)
		if err := save(ctx); err != nil {
			return err
		}
	}
}

// replayEntries copies the documents of log entries from the current index to the other one.
// A document that the current index does not have is deleted from the other. If the entry is
// of a write, that may still be under way: the deletion's version is the one below.
func (s *Steps) replayEntries(
	ctx context.Context, m *engine.Migration, log *storage.ChangeLog, entries []storedDocument,
) error {
	ids := make([]string, len(entries))
	for i := range entries {
		ids[i] = entries[i].ID
	}
	docs, err := s.getDocuments(ctx, log.Current.Index, ids)
	if err != nil {
		return err
	}
	var ops []storage.Operation
	var existing []storedDocument
	for i := range docs {
		if docs[i].Found {
			existing = append(existing, docs[i])
			continue
		}
		var entry storage.LogEntry
		if err := json.Unmarshal(entries[i].Source, &entry); err != nil {
			return fault.Wrap(fault.Corrupt, err, "an entry of the change log cannot be read")
		}
		version := log.Base + entries[i].SeqNo
		if entry.Op == storage.LogIndex {
			version--
		}
		ops = append(ops, storage.Versioned(log.Other.Index, ids[i], version, nil))
	}
	made, err := s.convert(ctx, m, log.Current, log.Other, existing)
	if err != nil {
		return err
	}
	for i := range existing {
		ops = append(ops, storage.Versioned(log.Other.Index, existing[i].ID, existing[i].Version, made[i]))
	}
	return s.store.Apply(ctx, ops)
}

func (s *Steps) replayStep(ctx context.Context, m *engine.Migration, env engine.MigrationEnv) error {
	return s.replay(ctx, m, env.Save)
}
