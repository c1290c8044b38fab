package gateway

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// DefaultTenant is the tenant of all requests if no key is configured.
const DefaultTenant = "default"

// Key is an API key: what it may see and do. The key itself is not kept.
type Key struct {
	Name   string // for the log
	Tenant string
	// KnowledgeBases that the key is bound to; nil: all of the tenant's.
	KnowledgeBases []string
	ReadOnly       bool
	Roles          []string // of package keys; nil: all
	// Attach names the indexes that the key may attach; * stands for any characters, nil
	// means none.
	Attach []string
	// Filter is what the key is bound to, see access.Scope; nil: nothing.
	Filter []engine.Condition
	Hash   [sha256.Size]byte // SHA-256 of the key
}

// permission is what a route requires of the caller's key.
type permission int

const (
	public  permission = iota // nothing
	reads                     // any valid key
	writes                    // a key that is not read-only
	governs                   // nor bound to a filter: it is about more than chunks
)

// keyed reports whether callers need a key.
func (s *Server) keyed() bool {
	return s.options.KeysNeeded || len(s.options.Keys) > 0 || s.options.StoredKeys != nil && s.options.StoredKeys.Any()
}

// unknownKeys is why it is not known whether callers need a key, where that is so: a gateway
// without keys, whose store is wrongly configured, says what to put right.
func (s *Server) unknownKeys() error {
	if s.options.KeysNeeded || len(s.options.Keys) > 0 || s.options.StoredKeys == nil {
		return nil
	}
	return s.options.StoredKeys.Unread()
}

// authorise identifies the caller and refuses what the key may not do. Scopes are made
// nowhere else.
func (s *Server) authorise(c *fiber.Ctx, x *exchange, r *route) (access.Scope, error) {
	if r.access == public {
		if s.keyed() {
			key, err := s.findKey(presentedKey(c))
			x.stranger = key == nil || err != nil
		}
		return access.Scope{}, nil
	}
	x.restricted = true
	scope := access.Scope{Tenant: DefaultTenant}
	if s.keyed() {
		key, err := s.tryKey(c)
		if err != nil {
			return scope, err
		}
		if key == nil {
			if err := s.unknownKeys(); err != nil {
				return scope, err
			}
			return scope, fault.New(fault.Unauthenticated,
				"a valid key is needed, as \"Authorization: Bearer KEY\" or \"X-API-Key: KEY\"")
		}
		x.key, x.tenant, x.roles = key.Name, key.Tenant, key.Roles
		scope = access.Scope{
			Tenant: key.Tenant, KnowledgeBases: key.KnowledgeBases, Key: key.Name,
			Indexes: append([]string{}, key.Attach...), Filter: key.Filter,
		}
		if role := r.needs(); key.Roles != nil && !slices.Contains(key.Roles, role) {
			return scope, fault.New(fault.Forbidden, "this key lacks the role %q", role)
		}
		if key.ReadOnly && r.access >= writes {
			return scope, fault.New(fault.Forbidden, "this key may only read")
		}
		if (r.access == governs || r.whole) && key.Filter != nil {
			return scope, fault.New(fault.Forbidden,
				"this key is bound to a filter; what concerns a whole knowledge base needs a key that is not")
		}
	}
	return scope, s.checkKnowledgeBase(c, scope)
}

// tryKey finds the key that a request presents, unless its address tried too many wrong ones.
func (s *Server) tryKey(c *fiber.Ctx) (*Key, error) {
	presented := presentedKey(c)
	if presented == "" {
		return nil, nil //nolint:nilnil // no key is no wrong one
	}
	address, hash := s.addressOf(c), sha256.Sum256([]byte(presented))
	if !s.callers.mayTry(address, hash) {
		return nil, fault.New(tooManyRequests, "too many wrong keys came from this address; one is looked at each second")
	}
	key, err := s.findKey(presented)
	if err == nil {
		s.callers.tried(address, hash, key != nil)
	}
	return key, err
}

// checkKnowledgeBase hides the knowledge base of the path from keys that are not bound to
// it: for them it does not exist.
func (s *Server) checkKnowledgeBase(c *fiber.Ctx, scope access.Scope) error {
	raw := c.Params("kb")
	if raw == "" {
		return nil
	}
	id, err := unescape("kb", raw)
	if err != nil {
		return err
	}
	if !scope.Allows(id) {
		err := fault.New(fault.NotFound, "knowledge base %q does not exist", clip(id))
		err.Field = "knowledge_base"
		return err
	}
	return nil
}

// needs is the role that a key must have for the route; empty for public ones.
func (r *route) needs() string {
	switch {
	case r.access == public:
		return ""
	case r.role != "":
		return r.role
	case r.access == reads:
		return keys.Search
	default:
		return keys.Write
	}
}

// changes reports whether requests for the route are to change something: what a key that only reads may not do,
// unless it is a GET or a dry run.
func (r *route) changes() bool { return r.access >= writes && r.method != http.MethodGet && !r.dry }

// findKey gives the key of the configuration or the store, nil without one. It compares with
// all keys in constant time, even after a match.
func (s *Server) findKey(presented string) (*Key, error) {
	if presented == "" {
		return nil, nil
	}
	hash := sha256.Sum256([]byte(presented))
	var found *Key
	for i := range s.options.Keys {
		if subtle.ConstantTimeCompare(s.options.Keys[i].Hash[:], hash[:]) == 1 {
			found = &s.options.Keys[i]
		}
	}
	if found != nil || s.options.StoredKeys == nil {
		return found, nil
	}
	record, err := s.options.StoredKeys.Find(hash)
	if record == nil || err != nil {
		return nil, err
	}
	key := &Key{
		Name: record.Name, Tenant: record.Tenant, KnowledgeBases: record.KnowledgeBases, Roles: record.Roles,
		Attach: record.Attach, Hash: hash,
	}
	if record.Filter != nil {
		var filter search.Filter
		if err := json.Unmarshal(record.Filter, &filter); err != nil {
			return nil, fault.Wrap(fault.Corrupt, err, "read the filter of key %q", record.Name)
		}
		if key.Filter, err = search.ParseFilter(filter); err != nil {
			return nil, fault.Wrap(fault.Corrupt, err, "read the filter of key %q", record.Name)
		}
	}
	return key, nil
}

func presentedKey(c *fiber.Ctx) string {
	scheme, credentials, ok := strings.Cut(c.Get(fiber.HeaderAuthorization), " ")
	if ok && strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(credentials)
	}
	return c.Get("X-API-Key")
}
