package migrate

import (
	"context"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/engine/elastic/storage"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/mappings"
)

// copyStep copies the documents into the new index.
func (s *Steps) copyStep(ctx context.Context, m *engine.Migration, env engine.MigrationEnv) error {
	if err := s.refreshIndex(ctx, m.FromIndex); err != nil { // a chunk that was mended a moment ago is to be seen
		return err
	}
	if err := s.countTotal(ctx, m); err != nil {
		return err
	}
	if m.Diff().Copy == engine.CopyReindex {
		return s.reindex(ctx, m, env)
	}
	return s.rebuild(ctx, m, env)
}

func (s *Steps) countTotal(ctx context.Context, m *engine.Migration) error {
	n, err := s.countAll(ctx, m.FromIndex)
	m.Progress.Total = n
	return err
}

// pace measures the speed of a copy since it began, or went on.
type pace struct {
	began time.Time
	done  int // documents copied before that
}

// update sets the progress of a migration.
func (p *pace) update(m *engine.Migration, done int) {
	m.Progress.Done = done
	m.Progress.Measure(done-p.done, time.Since(p.began))
}

const (
	copyPage  = 200 // documents copied at a time
	taskEvery = 300 * time.Millisecond
)

// rebuild writes the documents in their new shape, in the order of their ids. Interrupted,
// it goes on after the last id.
func (s *Steps) rebuild(ctx context.Context, m *engine.Migration, env engine.MigrationEnv) error {
	from, to := s.store.Sides(m)
	p := pace{time.Now(), m.Progress.Done}
	if m.Cursor == "" {
		p.done, m.Progress.Done = 0, 0
	}
	for {
		search := documentSearch{Search: esquery.Search{
			Query: esquery.MatchAll{}, Size: copyPage, Sort: ascending(mappings.FieldID), WholeSource: true,
		}}
		if m.Cursor != "" {
			search.SearchAfter = []any{m.Cursor}
		}
		docs, err := s.searchDocuments(ctx, from.Index, search)
		if err != nil || len(docs) == 0 {
			return err
		}
		made, err := s.convert(ctx, m, from, to, docs)
		if err != nil {
			return err
		}
		ops := make([]storage.Operation, len(docs))
		for i := range docs {
			ops[i] = storage.Versioned(to.Index, docs[i].ID, docs[i].Version, made[i])
		}
		if err := s.store.Apply(ctx, ops); err != nil {
			return err
		}
		m.Cursor, _ = docs[len(docs)-1].Sort[0].(string)
		p.update(m, m.Progress.Done+len(docs))
		if err := env.Save(ctx); err != nil {
			return err
		}
		if err := p.throttle(ctx, m); err != nil {
			return err
		}
	}
}

// throttle waits until the rate is within the limit.
func (p *pace) throttle(ctx context.Context, m *engine.Migration) error {
	if m.Progress.Throttle <= 0 {
		return nil
	}
	due := time.Duration(float64(m.Progress.Done-p.done) / m.Progress.Throttle * float64(time.Second))
	select {
	case <-time.After(min(due-time.Since(p.began), 5*time.Second)):
		return nil
	case <-ctx.Done():
		return rest.ContextFault(ctx)
	}
}
