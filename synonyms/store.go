package synonyms

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/sqlite"
)

//go:embed migrations/*.sql
var migrations embed.FS

// MaxText is the most bytes that the text of a set may have.
const MaxText = 4 << 20

const defaultVersions = 100

// Version is one state of a set. Versions are never changed: an edit and a
// rollback each make a new one, and the highest is in use.
type Version struct {
	Set       string    `json:"set" doc:"A knowledge base, or global."`
	Version   int       `json:"version" doc:"From 1; 0: there is none yet."`
	Rules     int       `json:"rules"`
	Author    string    `json:"author,omitempty" doc:"Name of the key that made it."`
	Comment   string    `json:"comment,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	Text      string    `json:"text,omitempty" doc:"Rules in Solr's format, one a line."`
}

// Edit is a new text of a set.
type Edit struct {
	Tenant, Set string
	Text        string
	// Base is the version that was edited. If another is in use by now, the edit is a
	// fault.Conflict. Nil edits whatever is in use.
	Base            *int
	Author, Comment string
}

// StoreOptions configure a Store.
type StoreOptions struct {
	Path      string // the folder of its file, which must exist
	Tokenizer Tokenizer
	Versions  int // of each set that are kept; 100 when 0
	Logger    *slog.Logger
}

// Store keeps the sets that are edited while the gateway runs, per tenant and with all
// their versions. It is safe for concurrent use.
type Store struct {
	options StoreOptions
	db      *sql.DB
	editing sync.Mutex
	sets    atomic.Pointer[map[setKey]*Set]
}

type setKey struct{ tenant, name string }

// OpenStore opens or creates the file and compiles the versions in use. A set that no
// longer compiles is logged and left out.
func OpenStore(ctx context.Context, o StoreOptions) (*Store, error) {
	if o.Versions <= 0 {
		o.Versions = defaultVersions
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	db, err := sqlite.Open(ctx, filepath.Join(o.Path, "synonyms.db"), migrations)
	if err != nil {
		return nil, err
	}
	s := &Store{options: o, db: db}
	if err := s.load(ctx); err != nil {
		return nil, storeFault(errors.Join(err, db.Close()))
	}
	return s, nil
}

func (s *Store) load(ctx context.Context) error {
	rows, err := s.db.QueryContext(ctx, `SELECT tenant, name, version, text FROM versions AS v
		WHERE version = (SELECT MAX(version) FROM versions WHERE tenant = v.tenant AND name = v.name)`)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	sets := map[setKey]*Set{}
	for rows.Next() {
		var key setKey
		var version int
		var text string
		if err := rows.Scan(&key.tenant, &key.name, &version, &text); err != nil {
			return err
		}
		set, err := s.compile(key.name, version, text)
		if err != nil {
			s.options.Logger.WarnContext(ctx, "these synonyms are not used",
				"tenant", key.tenant, "set", key.name, "version", version, "error", err)
			continue
		}
		sets[key] = set
	}
	s.sets.Store(&sets)
	return rows.Err()
}

// compile parses a text. Errors and rules name the set, the version and the line.
func (s *Store) compile(name string, version int, text string) (*Set, error) {
	return Parse(fmt.Sprintf("%s (version %d)", name, version), strings.NewReader(text), s.options.Tokenizer)
}

// Close closes the file; the sets stay usable.
func (s *Store) Close() error { return storeFault(s.db.Close()) }

// For returns the edited synonyms of a tenant's knowledge base, its own before those for
// all knowledge bases of the tenant.
func (s *Store) For(tenant, knowledgeBase string) analysis.Expander {
	sets := *s.sets.Load()
	return both{own: sets[setKey{tenant, knowledgeBase}], global: sets[setKey{tenant, Global}]}.expander()
}

// Fingerprint changes with what For uses. It is of the texts, as two gateways may number
// their versions differently.
func (s *Store) Fingerprint(tenant, knowledgeBase string) string {
	sets := *s.sets.Load()
	return sets[setKey{tenant, knowledgeBase}].fingerprint() + "/" + sets[setKey{tenant, Global}].fingerprint()
}

// Save compiles the text and puts it into use at once. A bad line is an InvalidArgument
// with its number, and changes nothing.
func (s *Store) Save(ctx context.Context, e Edit) (*Version, error) {
	if len(e.Text) > MaxText {
		return nil, fault.Invalid("text", fmt.Sprintf("%d bytes", len(e.Text)), fmt.Sprintf("at most %d bytes", MaxText))
	}
	s.editing.Lock()
	defer s.editing.Unlock()
	last, err := s.last(ctx, e.Tenant, e.Set)
	if err != nil {
		return nil, err
	}
	if e.Base != nil && *e.Base != last {
		return nil, &fault.Error{
			Kind: fault.Conflict, Field: "base_version",
			Detail: fmt.Sprintf("base_version is %d and version %d is in use; read it and edit that", *e.Base, last),
		}
	}
	v := &Version{
		Set: e.Set, Version: last + 1, Author: e.Author, Comment: e.Comment, Text: e.Text,
		CreatedAt: time.Now().UTC().Truncate(time.Millisecond),
	}
	set, err := s.compile(v.Set, v.Version, v.Text)
	if err != nil {
		var f *fault.Error
		if errors.As(err, &f) && f.Field == "" {
			f.Field = "text"
		}
		return nil, err
	}
	v.Rules = set.Len()
	_, err = s.db.ExecContext(ctx, `INSERT INTO versions (tenant, name, version, text, rules, author, comment, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		e.Tenant, v.Set, v.Version, v.Text, v.Rules, v.Author, v.Comment, v.CreatedAt.UnixMilli())
	if err != nil {
		return nil, storeFault(err)
	}
	s.use(setKey{e.Tenant, e.Set}, set)
	s.prune(ctx, v, e.Tenant)
	return v, nil
}

// use puts a set into use, nil none. The caller holds editing.
func (s *Store) use(key setKey, set *Set) {
	sets := maps.Clone(*s.sets.Load())
	if sets[key] = set; set == nil {
		delete(sets, key)
	}
	s.sets.Store(&sets)
}

// prune drops versions beyond those that are kept; what it leaves goes with the next edit.
func (s *Store) prune(ctx context.Context, newest *Version, tenant string) {
	_, err := s.db.ExecContext(ctx, "DELETE FROM versions WHERE tenant = ? AND name = ? AND version <= ?",
		tenant, newest.Set, newest.Version-s.options.Versions)
	if err != nil {
		s.options.Logger.WarnContext(ctx, "old versions of synonyms were not dropped",
			"tenant", tenant, "set", newest.Set, "error", err)
	}
}

// Delete drops a set with all its versions, because its knowledge base was deleted. One that is
// not there is no error.
func (s *Store) Delete(ctx context.Context, tenant, name string) error {
	s.editing.Lock()
	defer s.editing.Unlock()
	if _, err := s.db.ExecContext(ctx, "DELETE FROM versions WHERE tenant = ? AND name = ?", tenant, name); err != nil {
		return storeFault(err)
	}
	s.use(setKey{tenant, name}, nil)
	return nil
}

func (s *Store) last(ctx context.Context, tenant, name string) (last int, err error) {
	err = s.db.QueryRowContext(ctx,
		"SELECT COALESCE(MAX(version), 0) FROM versions WHERE tenant = ? AND name = ?", tenant, name).Scan(&last)
	return last, storeFault(err)
}

// Rollback puts the text of an earlier version into use, as a new version.
func (s *Store) Rollback(ctx context.Context, e Edit, version int) (*Version, error) {
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
func (s *Store) Get(ctx context.Context, tenant, name string, version int) (*Version, error) {
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
			Detail: fmt.Sprintf("the synonyms of %q have no version %d", name, version),
		}
	}
	return &found[0], nil
}

// List returns the versions in use of a tenant's sets, without their texts.
func (s *Store) List(ctx context.Context, tenant string) ([]Version, error) {
	return s.query(ctx, "SELECT "+columns+`'' FROM versions AS v WHERE tenant = ?
		AND version = (SELECT MAX(version) FROM versions WHERE tenant = v.tenant AND name = v.name) ORDER BY name`, tenant)
}

// History returns the latest versions of a set, newest first, without their texts.
func (s *Store) History(ctx context.Context, tenant, name string, limit int) ([]Version, error) {
	return s.query(ctx, "SELECT "+columns+"'' FROM versions WHERE tenant = ? AND name = ? ORDER BY version DESC LIMIT ?",
		tenant, name, limit)
}

func (s *Store) query(ctx context.Context, statement string, args ...any) ([]Version, error) {
	rows, err := s.db.QueryContext(ctx, statement, args...)
	if err != nil {
		return nil, storeFault(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	all := []Version{}
	for rows.Next() {
		var v Version
		var created int64
		if err := rows.Scan(&v.Set, &v.Version, &v.Rules, &v.Author, &v.Comment, &created, &v.Text); err != nil {
			return nil, storeFault(err)
		}
		v.CreatedAt = time.UnixMilli(created).UTC()
		all = append(all, v)
	}
	return all, storeFault(rows.Err())
}

// Applied is a synonym that a rule adds to a question.
type Applied struct {
	Source []string `json:"source" doc:"Words of the question."`
	Target []string `json:"target" doc:"The synonym; several words are a phrase."`
	Weight float64  `json:"weight" doc:"The rule's own, in (0, 1]."`
	Rule   string   `json:"rule"`
}

// Try shows what a text, saved or not, would do to a question. cut is how many synonyms
// are over the limits and left out.
func (s *Store) Try(name, text, question string) (applied []Applied, cut int, err error) {
	set, err := Parse(name, strings.NewReader(text), s.options.Tokenizer)
	if err != nil {
		return nil, 0, err
	}
	words := terms(s.options.Tokenizer.Tokens(question))
	applied = []Applied{}
	expansions := set.Expand(words)
	for _, e := range expansions.All {
		applied = append(applied, Applied{Source: words[e.Start:e.End], Target: e.Terms, Weight: e.Weight, Rule: e.Rule})
	}
	return applied, expansions.Cut, nil
}

// storeFault is the error of a failed use of the file.
func storeFault(err error) error { return sqlite.Fault(err, "using the stored synonyms") }
