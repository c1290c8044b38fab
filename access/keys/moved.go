package keys

import (
	"context"
	"sync"

	"github.com/hybridge-search/hybridge/fault"
)

// moved is a store that has taken over the keys of another.
type moved struct {
	Store
	from Store

	mu   sync.Mutex
	done bool
}

// Moved gives a store that takes over the keys of another before it is read: those that data
// had before it moved still keep strangers out. A name that is taken stays as it is.
func Moved(to, from Store) Store { return &moved{Store: to, from: from} }

// Load implements Store.
func (m *moved) Load(ctx context.Context) ([]Row, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.done {
		if err := m.take(ctx); err != nil {
			return nil, err
		}
		m.done = true
	}
	return m.Store.Load(ctx)
}

func (m *moved) take(ctx context.Context) error {
	there, err := m.Store.Load(ctx)
	if err != nil {
		return err
	}
	names := map[string]bool{}
	for _, row := range there {
		names[row.Name] = true
	}
	rows, err := m.from.Load(ctx)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if names[row.Name] {
			continue
		}
		if err := m.Insert(ctx, row.Name, row.Body); err != nil && !fault.Is(err, fault.Conflict) {
			return err
		}
	}
	return nil
}
