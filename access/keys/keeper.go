package keys

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/hybridge-search/hybridge/fault"
)

const (
	// lookEvery is how often the store is read: what another gateway changed holds here at
	// most that long after, and a moment more.
	lookEvery = time.Second
	// touchEvery is how often last uses are written.
	touchEvery = 30 * time.Second
	// trusted is how long known keys work while the store is unavailable.
	trusted = 5 * time.Minute
	// storeTimeout bounds one request to the store.
	storeTimeout = 5 * time.Second
)

// Keeper knows the keys of a store. It is safe for concurrent use.
type Keeper struct {
	store Store
	log   *slog.Logger
	now   func() time.Time

	mu     sync.RWMutex
	known  []Record
	loaded time.Time // when the store was last read; zero: never
	failed error     // why it could not be read, the last time
	used   map[string]int64
}

// NewKeeper reads the store once; that it cannot be read now is logged, and then nobody
// without a key of the configuration gets in.
func NewKeeper(ctx context.Context, store Store, log *slog.Logger) *Keeper {
	k := &Keeper{store: store, log: log, now: time.Now, used: map[string]int64{}}
	k.look(ctx)
	return k
}

// Run follows the store until ctx ends, and then writes the last uses.
func (k *Keeper) Run(ctx context.Context) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	touched := k.now()
	for {
		select {
		case <-ctx.Done():
			k.touch(context.WithoutCancel(ctx))
			return
		case <-ticker.C:
			k.look(ctx)
		}
		if k.now().Sub(touched) >= touchEvery {
			touched = k.now()
			k.touch(ctx)
		}
	}
}

func (k *Keeper) look(ctx context.Context) {
	if err := k.read(ctx); err != nil && ctx.Err() == nil {
		k.mu.Lock()
		first := k.failed == nil
		k.failed = err
		k.mu.Unlock()
		if first {
			k.log.Warn("the stored keys cannot be read; those known stay valid for 5 minutes", "error", err)
		}
	}
}

func (k *Keeper) read(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	began := k.now()
	rows, err := k.store.Load(ctx)
	if err != nil {
		return err
	}
	known := make([]Record, 0, len(rows))
	for _, row := range rows {
		record, err := decode(row)
		if err != nil {
			return err
		}
		known = append(known, record)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.loaded.After(began) { // a change made here was read meanwhile
		return nil
	}
	k.known, k.loaded, k.failed = known, began, nil
	return nil
}

func (k *Keeper) touch(ctx context.Context) {
	k.mu.Lock()
	used := k.used
	k.used = map[string]int64{}
	k.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	err := k.store.Touch(ctx, used)
	if err == nil {
		return
	}
	k.mu.Lock()
	for name, when := range used { // for the next time
		k.used[name] = max(k.used[name], when)
	}
	k.mu.Unlock()
	if ctx.Err() == nil {
		k.log.Warn("the last uses of keys were not written", "error", err)
	}
}

// Any reports whether there are keys, or were, or whether that is not known: then nobody gets
// in without one.
func (k *Keeper) Any() bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return len(k.known) > 0 || k.loaded.IsZero()
}

// Unread is why the store was never read; nil once it was.
func (k *Keeper) Unread() error {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if !k.loaded.IsZero() {
		return nil
	}
	return k.failed
}

// Find gives the valid key with this hash, nil without one. It compares with all of them in
// constant time. fault.Unavailable when the store was unavailable for too long to tell.
func (k *Keeper) Find(hash [sha256.Size]byte) (*Record, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	if k.loaded.IsZero() || now.Sub(k.loaded) > trusted {
		return nil, fault.New(fault.Unavailable, "the stored keys cannot be read at present")
	}
	var found *Record
	for i := range k.known {
		if subtle.ConstantTimeCompare(k.known[i].Hash[:], hash[:]) == 1 {
			found = &k.known[i]
		}
	}
	if found == nil || !found.Valid(now) {
		return nil, nil
	}
	k.used[found.Name] = now.Unix()
	record := *found
	return &record, nil
}

// List gives the keys of a tenant by name, also those revoked, read anew.
func (k *Keeper) List(ctx context.Context, tenant string) ([]Record, error) {
	k.touch(ctx)
	if err := k.read(ctx); err != nil {
		return nil, err
	}
	k.mu.RLock()
	defer k.mu.RUnlock()
	all := []Record{}
	for i := range k.known {
		if k.known[i].Tenant == tenant {
			all = append(all, k.known[i])
		}
	}
	return all, nil
}

// Create stores a new key and returns its secret, which cannot be read again.
func (k *Keeper) Create(ctx context.Context, r Record) (Record, string, error) {
	now := k.now().UTC().Truncate(time.Second)
	if err := check(&r, now); err != nil {
		return r, "", err
	}
	var secret string
	secret, r.Hash = newSecret()
	r.CreatedAt, r.RevokedAt = now, nil
	body, err := encode(&r)
	if err == nil {
		err = k.store.Insert(ctx, r.Name, body)
	}
	if err != nil {
		return r, "", err
	}
	return r, secret, k.read(ctx)
}

// Revoke ends a key of a tenant at once, also one that is rotated at the same time.
func (k *Keeper) Revoke(ctx context.Context, tenant, name string) (Record, error) {
	for {
		r, err := k.change(ctx, tenant, name, func(r *Record) {
			now := k.now().UTC().Truncate(time.Second)
			r.RevokedAt = &now
		})
		if !fault.Is(err, fault.Conflict) || ctx.Err() != nil {
			return r, err
		}
	}
}

// Rotate gives a key of a tenant a new secret; the old one ends at once. fault.Conflict where somebody else has changed
// it meanwhile: their secret stays.
func (k *Keeper) Rotate(ctx context.Context, tenant, name string) (Record, string, error) {
	var secret string
	r, err := k.change(ctx, tenant, name, func(r *Record) { secret, r.Hash = newSecret() })
	return r, secret, err
}

func (k *Keeper) change(ctx context.Context, tenant, name string, do func(*Record)) (Record, error) {
	rows, err := k.store.Load(ctx)
	if err != nil {
		return Record{}, err
	}
	i := slices.IndexFunc(rows, func(r Row) bool { return r.Name == name })
	absent := fault.New(fault.NotFound, "there is no valid key %q", name)
	absent.Field = "name"
	if i < 0 {
		return Record{}, absent
	}
	r, err := decode(rows[i])
	if err != nil {
		return r, err
	}
	if r.Tenant != tenant || !r.Valid(k.now()) {
		return Record{}, absent
	}
	do(&r)
	body, err := encode(&r)
	if err == nil {
		err = k.store.Update(ctx, name, rows[i].Body, body)
	}
	if err != nil {
		return r, err
	}
	return r, k.read(ctx)
}
