// Package keys keeps API keys that are made, rotated and revoked while gateways run, stored
// where the data is. Of a key only its SHA-256 is stored.
package keys

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/fault"
)

// Roles of keys.
const (
	Search  = "search"  // search, context, explain, reading, events
	Write   = "write"   // documents, chunks and knowledge bases
	Manage  = "manage"  // mappings, synonyms
	Operate = "operate" // metrics, keys, jobs
)

// Roles are all of them.
var Roles = []string{Search, Write, Manage, Operate}

// Record is a key as it is stored.
type Record struct {
	Name           string          `json:"name" doc:"Name for the log, of its own among all keys."`
	Tenant         string          `json:"tenant"`
	Roles          []string        `json:"roles" doc:"Of search, write, manage, operate."`
	KnowledgeBases []string        `json:"knowledge_bases" doc:"Those that the key is limited to; null: all of the tenant's."`
	Filter         json.RawMessage `json:"filter,omitempty" doc:"Filter that the key is bound to."`
	Attach         []string        `json:"attach,omitempty" doc:"Existing Elasticsearch indexes that the key may attach; * stands for any characters."`
	CreatedAt      time.Time       `json:"created_at"`
	ExpiresAt      *time.Time      `json:"expires_at,omitempty"`
	RevokedAt      *time.Time      `json:"revoked_at,omitempty"`
	LastUsed       *time.Time      `json:"last_used,omitempty" doc:"To half a minute."`

	Hash [sha256.Size]byte `json:"-"`
}

// Valid reports whether the key opens anything at that time.
func (r *Record) Valid(now time.Time) bool {
	return r.RevokedAt == nil && (r.ExpiresAt == nil || now.Before(*r.ExpiresAt))
}

// Has reports whether the key has a role.
func (r *Record) Has(role string) bool { return slices.Contains(r.Roles, role) }

// Store is where records are. Implementations are safe for concurrent use and shared by all
// gateways of the same data; internal/keystest holds them to one suite. Bodies are opaque.
type Store interface {
	// Load gives all bodies and last uses, by the name of the key.
	Load(ctx context.Context) ([]Row, error)
	// Insert adds a row; fault.Conflict if the name is taken, also by a revoked key.
	Insert(ctx context.Context, name string, body []byte) error
	// Update replaces the body if it is still the old one: fault.NotFound without such a row,
	// fault.Conflict when another gateway was faster.
	Update(ctx context.Context, name string, old, body []byte) error
	// Touch notes uses, in Unix seconds; a later one stays.
	Touch(ctx context.Context, used map[string]int64) error
}

// Row is a key in a Store.
type Row struct {
	Name     string
	Body     []byte
	LastUsed int64 // Unix seconds; 0: never
}

// stored is the body of a row.
type stored struct {
	Record
	Hash []byte `json:"hash"`
}

func encode(r *Record) ([]byte, error) {
	r.LastUsed = nil
	body, err := json.Marshal(stored{*r, r.Hash[:]})
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "encode key %q", r.Name)
	}
	return body, nil
}

func decode(row Row) (Record, error) {
	var s stored
	if err := json.Unmarshal(row.Body, &s); err != nil || len(s.Hash) != sha256.Size {
		return Record{}, fault.New(fault.Corrupt, "the stored key %q cannot be read", row.Name)
	}
	s.Record.Hash = [sha256.Size]byte(s.Hash)
	if row.LastUsed > 0 {
		used := time.Unix(row.LastUsed, 0).UTC()
		s.LastUsed = &used
	}
	return s.Record, nil
}

// newSecret makes a key of 130 random bits.
func newSecret() (secret string, hash [sha256.Size]byte) {
	secret = "hyb_" + rand.Text()
	return secret, sha256.Sum256([]byte(secret))
}

// check validates the caller's description of a new key.
func check(r *Record, now time.Time) error {
	if r.Name == "" || len(r.Name) > 128 || !utf8.ValidString(r.Name) || strings.ContainsFunc(r.Name, func(c rune) bool {
		return unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c)
	}) {
		return fault.Invalid("name", r.Name, "1 to 128 bytes of printable UTF-8")
	}
	if len(r.Roles) == 0 {
		return fault.Invalid("roles", "[]", "at least one of "+strings.Join(Roles, ", "))
	}
	for _, role := range r.Roles {
		if !slices.Contains(Roles, role) {
			return fault.Invalid("roles", role, "of "+strings.Join(Roles, ", "))
		}
	}
	for _, pattern := range r.Attach {
		if !access.ValidIndexes(pattern) {
			return fault.Invalid("attach", pattern, access.AcceptedIndexes)
		}
	}
	if r.ExpiresAt != nil && !r.ExpiresAt.After(now) {
		return fault.Invalid("expires_at", r.ExpiresAt.Format(time.RFC3339), "a time to come")
	}
	return nil
}
