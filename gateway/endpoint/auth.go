package endpoint

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
)

// DefaultTenant is the tenant of all requests if no key is configured.
const DefaultTenant = "default"

// Key is an API key: what it may see and do. The key itself is not stored.
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
	// Filter restricts the key, see access.Scope; nil: it does not.
	Filter []filter.Condition
	Hash   [sha256.Size]byte // SHA-256 of the key
}

// keyring finds the keys of callers.
type keyring struct {
	given   []Key        // of the configuration
	stored  *keys.Keeper // further ones, which change; nil: there are none
	needed  bool         // also while there is no key
	callers *callers
	proxies proxies
}

// keyed reports whether callers need a key.
func (k *keyring) keyed() bool {
	return k.needed || len(k.given) > 0 || k.stored != nil && k.stored.Any()
}

// unknownKeys is the error while it is unknown whether callers need a key: for a gateway
// without keys whose store is misconfigured, it says what to fix.
func (k *keyring) unknownKeys() error {
	if k.needed || len(k.given) > 0 || k.stored == nil {
		return nil
	}
	return k.stored.Unread()
}

// authorise identifies the caller and checks the permissions of the key. Scopes are made
// nowhere else.
func (k *keyring) authorise(c *fiber.Ctx, x *Exchange, r *Route) (access.Scope, error) {
	if r.Access == public {
		if k.keyed() {
			key, err := k.findKey(PresentedKey(c))
			x.stranger = key == nil || err != nil
		}
		return access.Scope{}, nil
	}
	x.restricted = true
	scope := access.Scope{Tenant: DefaultTenant}
	if k.keyed() {
		key, err := k.tryKey(c)
		if err != nil {
			return scope, err
		}
		if key == nil {
			if err := k.unknownKeys(); err != nil {
				return scope, err
			}
			return scope, fault.New(fault.Unauthenticated,
				"a valid key is needed, as \"Authorization: Bearer KEY\" or \"X-API-Key: KEY\"")
		}
		x.Key, x.tenant, x.Roles = key.Name, key.Tenant, key.Roles
		scope = access.Scope{
			Tenant: key.Tenant, KnowledgeBases: key.KnowledgeBases, Key: key.Name,
			Indexes: append([]string{}, key.Attach...), Filter: key.Filter,
		}
		if role := r.needs(); key.Roles != nil && !slices.Contains(key.Roles, role) {
			return scope, fault.New(fault.Forbidden, "this key lacks the role %q", role)
		}
		if key.ReadOnly && r.Access >= Writes {
			return scope, fault.New(fault.Forbidden, "this key may only read")
		}
		if (r.Access == Governs || r.Whole) && key.Filter != nil {
			return scope, fault.New(fault.Forbidden,
				"this key is bound to a filter; what concerns a whole knowledge base needs a key that is not")
		}
	}
	return scope, checkKnowledgeBase(c, scope)
}

// tryKey looks up the key of a request, unless its address tried too many wrong ones.
func (k *keyring) tryKey(c *fiber.Ctx) (*Key, error) {
	presented := PresentedKey(c)
	if presented == "" {
		return nil, nil //nolint:nilnil // no key is no wrong one
	}
	address, hash := k.proxies.addressOf(c), sha256.Sum256([]byte(presented))
	if !k.callers.mayTry(address, hash) {
		return nil, fault.New(tooManyRequests, "too many wrong keys came from this address; one is looked at each second")
	}
	key, err := k.findKey(presented)
	if err == nil {
		k.callers.tried(address, hash, key != nil)
	}
	return key, err
}

// checkKnowledgeBase hides the knowledge base of the path from keys that are not bound to
// it: for them it does not exist.
func checkKnowledgeBase(c *fiber.Ctx, scope access.Scope) error {
	raw := c.Params("kb")
	if raw == "" {
		return nil
	}
	id, err := unescape("kb", raw)
	if err != nil {
		return err
	}
	if !scope.Allows(id) {
		err := fault.New(fault.NotFound, "knowledge base %q does not exist", Clip(id))
		err.Field = "knowledge_base"
		return err
	}
	return nil
}

// findKey gives the key of the configuration or the store, nil without one. It compares with
// all keys in constant time, even after a match.
func (k *keyring) findKey(presented string) (*Key, error) {
	if presented == "" {
		return nil, nil
	}
	hash := sha256.Sum256([]byte(presented))
	var found *Key
	for i := range k.given {
		if subtle.ConstantTimeCompare(k.given[i].Hash[:], hash[:]) == 1 {
			found = &k.given[i]
		}
	}
	if found != nil || k.stored == nil {
		return found, nil
	}
	record, err := k.stored.Find(hash)
	if record == nil || err != nil {
		return nil, err
	}
	key := &Key{
		Name: record.Name, Tenant: record.Tenant, KnowledgeBases: record.KnowledgeBases, Roles: record.Roles,
		Attach: record.Attach, Hash: hash,
	}
	if record.Filter != nil {
		var expression filter.Expression
		if err = json.Unmarshal(record.Filter, &expression); err == nil {
			key.Filter, err = filter.Parse(expression)
		}
		if err != nil {
			return nil, fault.Wrap(fault.Corrupt, err, "read the filter of key %q", record.Name)
		}
	}
	return key, nil
}

// PresentedKey is the key in a request; empty without one.
func PresentedKey(c *fiber.Ctx) string {
	scheme, credentials, ok := strings.Cut(c.Get(fiber.HeaderAuthorization), " ")
	if ok && strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(credentials)
	}
	return c.Get("X-API-Key")
}
