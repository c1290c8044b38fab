package gateway

import (
	"crypto/sha256"
	"crypto/subtle"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
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
func (s *Server) keyed() bool { return len(s.options.Keys) > 0 }

// authorise identifies the caller and refuses what the key may not do. Scopes are made
// nowhere else.
func (s *Server) authorise(c *fiber.Ctx, x *exchange, r *route) (access.Scope, error) {
	if r.access == public {
		x.stranger = s.keyed() && s.findKey(presentedKey(c)) == nil
		return access.Scope{}, nil
	}
	scope := access.Scope{Tenant: DefaultTenant}
	if s.keyed() {
		key := s.findKey(presentedKey(c))
		if key == nil {
			return scope, fault.New(fault.Unauthenticated,
				"a valid key is needed, as \"Authorization: Bearer KEY\" or \"X-API-Key: KEY\"")
		}
		x.key, x.tenant = key.Name, key.Tenant
		scope = access.Scope{
			Tenant: key.Tenant, KnowledgeBases: key.KnowledgeBases, Key: key.Name,
			Indexes: append([]string{}, key.Attach...), Filter: key.Filter,
		}
		if key.ReadOnly && r.access >= writes {
			return scope, fault.New(fault.Forbidden, "this key may only read")
		}
		if r.access == governs && key.Filter != nil {
			return scope, fault.New(fault.Forbidden,
				"this key is bound to a filter; what concerns a whole knowledge base needs a key that is not")
		}
	}
	return scope, s.checkKnowledgeBase(c, scope)
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

// findKey compares with all keys in constant time, even after a match.
func (s *Server) findKey(presented string) *Key {
	if presented == "" {
		return nil
	}
	hash := sha256.Sum256([]byte(presented))
	var found *Key
	for i := range s.options.Keys {
		if subtle.ConstantTimeCompare(s.options.Keys[i].Hash[:], hash[:]) == 1 {
			found = &s.options.Keys[i]
		}
	}
	return found
}

func presentedKey(c *fiber.Ctx) string {
	scheme, credentials, ok := strings.Cut(c.Get(fiber.HeaderAuthorization), " ")
	if ok && strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(credentials)
	}
	return c.Get("X-API-Key")
}
