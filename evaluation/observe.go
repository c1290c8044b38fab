package evaluation

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// Observer tells what the legs of a search say before they are fused; *search.Searcher is one.
type Observer interface {
	Observe(ctx context.Context, scope access.Scope, req search.Request) (*search.Observed, error)
}

// Observe asks every judged query of the set by the legs of the system, as Run does, and gives what they said to
// each, which may be called by several goroutines at a time, in no order. An error of each ends it.
func Observe(
	ctx context.Context, o Observer, stored *StoredSet, system System, each func(q *Query, said *search.Observed) error,
) error {
	set := stored.set
	queries := set.judged()
	if len(queries) == 0 {
		return nil
	}
	scope := access.Scope{Tenant: tenant}
	base, err := stored.searchable(func(kb string) error {
		_, err := o.Observe(ctx, scope, set.request(&system, kb, queries[0]))
		return err
	})
	if err != nil {
		return fault.Wrap(fault.KindOf(err), err, "%s by %s", set.Name, system.Name)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, q := range queries {
		group.Go(func() error {
			said, err := o.Observe(ctx, scope, set.request(&system, base, q))
			if err != nil {
				return fault.Wrap(fault.KindOf(err), err, "query %s of %s by %s", q.ID, set.Name, system.Name)
			}
			return each(q, said)
		})
	}
	return group.Wait()
}

// Scale is the highest grade of the judgments.
func (s *Set) Scale() (scale int) {
	for _, judged := range s.Judgments {
		for _, grade := range judged {
			scale = max(scale, grade)
		}
	}
	return scale
}

// Digest is the SHA-256 of the judged queries and their judgments, in hexadecimal: what figures are of, whatever the
// order of lines in files.
func (s *Set) Digest() string {
	lines := make([]string, 0, len(s.Judgments))
	for _, q := range s.judged() {
		judged := s.Judgments[q.ID]
		line := fmt.Sprintf("%q %q", q.ID, q.Text)
		for _, id := range slices.Sorted(maps.Keys(judged)) {
			line += fmt.Sprintf(" %q %d", id, judged[id])
		}
		lines = append(lines, line+"\n")
	}
	slices.Sort(lines)
	hash := sha256.New()
	for _, line := range lines {
		hash.Write([]byte(line)) // a hash takes everything
	}
	return hex.EncodeToString(hash.Sum(nil))
}
