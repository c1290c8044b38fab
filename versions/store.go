// Package versions keeps sets that are edited while the gateway runs, such as synonyms and
// query rules: texts, per tenant and with their versions, and the compiled form of the ones in use.
package versions

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/sqlite"
)

//go:embed migrations/*.sql
var migrations embed.FS

const (
	// MaxText is the most bytes that the text of a set may have.
	MaxText = 4 << 20
	// Kept is how many versions of a set are kept where nothing else is said.
	Kept = 100
)

// Version is one state of a set. Versions are never changed: an edit and a
// rollback each make a new one, and the highest is in use.
type Version struct {
	Set       string
	Version   int // from 1; 0: there is none yet
	Rules     int // that the text has
	Author    string
	Comment   string
	CreatedAt time.Time
	Text      string
}

// Edit is a new text of a set.
type Edit struct {
	Tenant, Set string
	Text        string
	// Base is the version that was edited, 0 where there was none. If another is in use by now,
	// the edit is a fault.Conflict. Nil edits whatever is in use.
	Base            *int
	Author, Comment string
}

// Options configure a Store of sets that compile to T.
type Options[T any] struct {
	Folder string // of the file, which must exist
	File   string // such as synonyms.db
	// Compile compiles a text, and counts its rules. Errors name the set and
	// the version.
	Compile  func(name string, version int, text string) (set T, rules int, err error)
	Versions int // of each set that are kept; Kept when 0
	Sets     int // that a tenant may have; any number when 0
	Logger   *slog.Logger
}

// Store keeps sets. It is safe for concurrent use.
type Store[T any] struct {
	options Options[T]
	db      *sql.DB
	editing sync.Mutex
	sets    atomic.Pointer[map[setKey]compiled[T]]
}

type setKey struct{ tenant, name string }

// compiled is the compiled form of a set in use.
type compiled[T any] struct {
	set T
	sum string // of its text
}

// Open opens or creates the file and compiles the versions in use. A set that no
// longer compiles is logged and skipped.
func Open[T any](ctx context.Context, o Options[T]) (*Store[T], error) {
	if o.Versions <= 0 {
		o.Versions = Kept
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	db, err := sqlite.Open(ctx, filepath.Join(o.Folder, o.File), migrations)
	if err != nil {
		return nil, err
	}
	s := &Store[T]{options: o, db: db}
	if err := s.load(ctx); err != nil {
		return nil, s.fault(errors.Join(err, db.Close()))
	}
	return s, nil
}

func (s *Store[T]) load(ctx context.Context) error {
	rows, err := s.db.QueryContext(ctx, `SELECT tenant, name, version, text FROM versions AS v
		WHERE version = (SELECT MAX(version) FROM versions WHERE tenant = v.tenant AND name = v.name)`)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	sets := map[setKey]compiled[T]{}
	for rows.Next() {
		var key setKey
		var version int
		var text string
		if err := rows.Scan(&key.tenant, &key.name, &version, &text); err != nil {
			return err
		}
		set, _, err := s.options.Compile(key.name, version, text)
		if err != nil {
			s.options.Logger.WarnContext(ctx, "a stored set is not used", "file", s.options.File,
				"tenant", key.tenant, "set", key.name, "version", version, "error", err)
			continue
		}
		sets[key] = newCompiled(set, text)
	}
	s.sets.Store(&sets)
	return rows.Err()
}

func newCompiled[T any](set T, text string) compiled[T] {
	sum := sha256.Sum256([]byte(text))
	return compiled[T]{set: set, sum: hex.EncodeToString(sum[:])}
}

// Close closes the file; the sets stay usable.
func (s *Store[T]) Close() error { return s.fault(s.db.Close()) }

// InUse gives the set in use; the zero value where there is none. It does not change.
func (s *Store[T]) InUse(tenant, name string) T { return (*s.sets.Load())[setKey{tenant, name}].set }

// Names gives the names of a tenant's sets in use, in order.
func (s *Store[T]) Names(tenant string) []string {
	var all []string
	for key := range *s.sets.Load() {
		if key.tenant == tenant {
			all = append(all, key.name)
		}
	}
	slices.Sort(all)
	return all
}

// Fingerprint changes with what InUse gives; empty where there is no set. It is of the text, as
// two gateways may number their versions differently.
func (s *Store[T]) Fingerprint(tenant, name string) string {
	return (*s.sets.Load())[setKey{tenant, name}].sum
}

// Save compiles the text and puts it into use at once. One that does not compile is refused
// and changes nothing.
func (s *Store[T]) Save(ctx context.Context, e Edit) (*Version, error) {
	if len(e.Text) > MaxText {
		return nil, fault.Invalid("text", fmt.Sprintf("%d bytes", len(e.Text)), fmt.Sprintf("at most %d bytes", MaxText))
	}
	s.editing.Lock()
	defer s.editing.Unlock()
	last, ended, err := s.last(ctx, e.Tenant, e.Set)
	if err != nil {
		return nil, err
	}
	if err := s.checkBase(ctx, e.Tenant, e.Set, e.Base, last); err != nil {
		return nil, err
	}
	if last == 0 {
		if err := s.room(ctx, e.Tenant); err != nil {
			return nil, err
		}
	}
	v := &Version{
		Set: e.Set, Version: max(last, ended) + 1, Author: e.Author, Comment: e.Comment, Text: e.Text,
		CreatedAt: time.Now().UTC().Truncate(time.Millisecond),
	}
	set, rules, err := s.options.Compile(v.Set, v.Version, v.Text)
	if err != nil {
		var f *fault.Error
		if errors.As(err, &f) && f.Field == "" {
			f.Field = "text"
		}
		return nil, err
	}
	v.Rules = rules
	_, err = s.db.ExecContext(ctx, `INSERT INTO versions (tenant, name, version, text, rules, author, comment, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		e.Tenant, v.Set, v.Version, v.Text, v.Rules, v.Author, v.Comment, v.CreatedAt.UnixMilli())
	if err != nil {
		return nil, s.fault(err)
	}
	s.change(func(sets map[setKey]compiled[T]) { sets[setKey{e.Tenant, e.Set}] = newCompiled(set, v.Text) })
	s.prune(ctx, v, e.Tenant)
	return v, nil
}

// room refuses one more set of a tenant than it may have.
func (s *Store[T]) room(ctx context.Context, tenant string) error {
	if s.options.Sets == 0 {
		return nil
	}
	var n int
	err := s.db.QueryRowContext(ctx, "SELECT COUNT(DISTINCT name) FROM versions WHERE tenant = ?", tenant).Scan(&n)
	if err == nil && n >= s.options.Sets {
		return fault.New(fault.Conflict, "there are %d already, and a tenant may have %d; delete one first",
			n, s.options.Sets)
	}
	return s.fault(err)
}

// change puts other sets into use. The caller holds editing.
func (s *Store[T]) change(how func(sets map[setKey]compiled[T])) {
	sets := maps.Clone(*s.sets.Load())
	how(sets)
	s.sets.Store(&sets)
}

// prune drops the oldest versions; if it fails, the next edit drops them.
func (s *Store[T]) prune(ctx context.Context, newest *Version, tenant string) {
	_, err := s.db.ExecContext(ctx, "DELETE FROM versions WHERE tenant = ? AND name = ? AND version <= ?",
		tenant, newest.Set, newest.Version-s.options.Versions)
	if err != nil {
		s.options.Logger.WarnContext(ctx, "old versions of a set were not dropped", "file", s.options.File,
			"tenant", tenant, "set", newest.Set, "error", err)
	}
}

// Delete drops a set with all its versions; a missing one is no error. base is the version that was
// edited: a newer one is not dropped.
func (s *Store[T]) Delete(ctx context.Context, tenant, name string, base *int) error {
	s.editing.Lock()
	defer s.editing.Unlock()
	last, _, err := s.last(ctx, tenant, name)
	if err != nil {
		return err
	}
	if err := s.checkBase(ctx, tenant, name, base, last); err != nil {
		return err
	}
	if last == 0 {
		return nil
	}
	if err := s.drop(ctx, tenant, name, last); err != nil {
		return s.fault(err)
	}
	s.change(func(sets map[setKey]compiled[T]) { delete(sets, setKey{tenant, name}) })
	return nil
}

func (s *Store[T]) drop(ctx context.Context, tenant, name string, last int) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it does nothing
	_, err = tx.ExecContext(ctx, "INSERT OR REPLACE INTO ended (tenant, name, version) VALUES (?, ?, ?)",
		tenant, name, last)
	if err != nil {
		return err
	}
	if _, err = tx.ExecContext(ctx, "DELETE FROM versions WHERE tenant = ? AND name = ?", tenant, name); err != nil {
		return err
	}
	return tx.Commit()
}

// last gives the version in use, 0 where there is none, and that of a set of the name that was deleted.
func (s *Store[T]) last(ctx context.Context, tenant, name string) (last, ended int, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT
		(SELECT COALESCE(MAX(version), 0) FROM versions WHERE tenant = ?1 AND name = ?2),
		(SELECT COALESCE(MAX(version), 0) FROM ended WHERE tenant = ?1 AND name = ?2)`, tenant, name).Scan(&last, &ended)
	return last, ended, s.fault(err)
}

// checkBase refuses a change of another version than that in use, and says whose that is.
func (s *Store[T]) checkBase(ctx context.Context, tenant, name string, base *int, last int) error {
	if base == nil || *base == last {
		return nil
	}
	refused := &fault.Error{Kind: fault.Conflict, Field: "base_version"}
	if last == 0 {
		refused.Detail = fmt.Sprintf("base_version is %d and there is no version any more; 0 makes the first one anew", *base)
		return refused
	}
	now, err := s.Get(ctx, tenant, name, last)
	if err != nil {
		return err
	}
	at := now.CreatedAt.Format(time.RFC3339)
	if now.Author == "" {
		refused.Detail = fmt.Sprintf("base_version is %d and version %d is in use, saved at %s; read it and edit that",
			*base, last, at)
	} else {
		refused.Detail = fmt.Sprintf("base_version is %d and version %d is in use, saved by %s at %s; read it and edit that",
			*base, last, now.Author, at)
	}
	return refused
}

// Rollback puts the text of an earlier version into use, as a new version.
func (s *Store[T]) Rollback(ctx context.Context, e Edit, version int) (*Version, error) {
	old, err := s.Get(ctx, e.Tenant, e.Set, version)
	if err != nil {
		return nil, err
	}
	e.Text = old.Text
	if e.Comment == "" {
		e.Comment = fmt.Sprintf("back to version %d", version)
	}
	return s.Save(ctx, e)
}

const columns = "name, version, rules, author, comment, created_at, "

// Get returns a version. 0 means the one in use; if there is none, it is empty.
func (s *Store[T]) Get(ctx context.Context, tenant, name string, version int) (*Version, error) {
	found, err := s.query(ctx, "SELECT "+columns+"text FROM versions WHERE tenant = ? AND name = ? "+
		"AND (version = ? OR ? = 0) ORDER BY version DESC LIMIT 1", tenant, name, version, version)
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0 && version == 0:
		return &Version{Set: name}, nil
	case len(found) == 0:
		return nil, &fault.Error{
			Kind: fault.NotFound, Field: "version",
			Detail: fmt.Sprintf("the set of %q has no version %d", name, version),
		}
	}
	return &found[0], nil
}

// List returns the versions in use of a tenant's sets, without their texts.
func (s *Store[T]) List(ctx context.Context, tenant string) ([]Version, error) {
	return s.query(ctx, "SELECT "+columns+`'' FROM versions AS v WHERE tenant = ?
		AND version = (SELECT MAX(version) FROM versions WHERE tenant = v.tenant AND name = v.name) ORDER BY name`, tenant)
}

// History returns the latest versions of a set, newest first, without their texts.
func (s *Store[T]) History(ctx context.Context, tenant, name string, limit int) ([]Version, error) {
	return s.query(ctx, "SELECT "+columns+"'' FROM versions WHERE tenant = ? AND name = ? ORDER BY version DESC LIMIT ?",
		tenant, name, limit)
}

func (s *Store[T]) query(ctx context.Context, statement string, args ...any) ([]Version, error) {
	rows, err := s.db.QueryContext(ctx, statement, args...)
	if err != nil {
		return nil, s.fault(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	all := []Version{}
	for rows.Next() {
		var v Version
		var created int64
		if err := rows.Scan(&v.Set, &v.Version, &v.Rules, &v.Author, &v.Comment, &created, &v.Text); err != nil {
			return nil, s.fault(err)
		}
		v.CreatedAt = time.UnixMilli(created).UTC()
		all = append(all, v)
	}
	return all, s.fault(rows.Err())
}

// fault is the error of a failed use of the file.
func (s *Store[T]) fault(err error) error {
	return sqlite.Fault(err, "using the versions in %s", s.options.File)
}
