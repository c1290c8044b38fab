package gateway

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
)

// NewKey asks for a key of the caller's tenant.
type NewKey struct {
	Name           string            `json:"name" doc:"Name for the log, of its own among all stored keys, also those revoked."`
	Roles          []string          `json:"roles,omitempty" doc:"Of search, write, manage, operate; by default search."`
	KnowledgeBases []string          `json:"knowledge_bases,omitempty" doc:"Those that the key is limited to; left out, all that the caller may see."`
	Filter         filter.Expression `json:"filter,omitempty" doc:"Filter that the key is bound to, as of a search."`
	Attach         []string          `json:"attach,omitempty" doc:"Existing Elasticsearch indexes that the key may attach, * for any characters; by default none."`
	ExpiresAt      *time.Time        `json:"expires_at,omitempty" doc:"When the key ends; left out: never."`
}

// MadeKey is a key with its secret, which is shown only once.
type MadeKey struct {
	Key    string      `json:"key" doc:"The key itself; it cannot be read again."`
	Record keys.Record `json:"record"`
}

// KeyList is the stored keys of the caller's tenant.
type KeyList struct {
	Keys []keys.Record `json:"keys" doc:"By name, also those revoked; without the configuration's."`
}

type createKeyInput struct {
	Body NewKey
}

type keyInput struct {
	Name string `path:"name" doc:"Name of the key, percent-encoded."`
}

const (
	keysPath = "/v1/keys"
	keyPath  = keysPath + "/{name}"
)

// keyService makes keys, lists and revokes them.
type keyService struct {
	api    *endpoint.API
	given  []endpoint.Key // of the configuration
	keeper *keys.Keeper   // nil: no keys are stored
}

func (s *keyService) register() {
	const tag = "keys"
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodGet, Path: keysPath, Tag: tag, Access: endpoint.Governs, Role: keys.Operate,
		ID: "list-keys", Summary: "List the stored keys of the tenant",
		About: "Names, roles, knowledge bases and dates. The keys themselves are never shown again, and " +
			"those of the configuration are not listed.",
	}, s.list)
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodPost, Path: keysPath, Tag: tag, Access: endpoint.Governs, Role: keys.Operate,
		Status: http.StatusCreated, ID: "create-key", Summary: "Make a key",
		About: "It may not do or see more than the key that makes it. In use on every gateway within two seconds.",
	}, s.create)
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodPost, Path: keyPath + "/rotate", Tag: tag, Access: endpoint.Governs, Role: keys.Operate,
		ID: "rotate-key", Summary: "Give a key a new secret", About: "The old one ends within two seconds.",
	}, s.rotate)
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodDelete, Path: keyPath, Tag: tag, Access: endpoint.Governs, Role: keys.Operate,
		Status: http.StatusNoContent,
		ID:     "revoke-key", Summary: "Revoke a key", About: "It ends within two seconds and stays in the list.",
	}, s.revoke)
}

func (s *keyService) stored() (*keys.Keeper, error) {
	if s.keeper == nil {
		return nil, fault.New(fault.Unsupported, "this gateway stores no keys")
	}
	return s.keeper, nil
}

func (s *keyService) list(ctx context.Context, scope access.Scope, _ *struct{}) (*KeyList, error) {
	keeper, err := s.stored()
	if err != nil {
		return nil, err
	}
	list, err := keeper.List(ctx, scope.Tenant)
	return &KeyList{Keys: list}, err
}

func (s *keyService) create(ctx context.Context, scope access.Scope, in *createKeyInput) (*MadeKey, error) {
	keeper, err := s.stored()
	if err != nil {
		return nil, err
	}
	record, err := in.Body.within(ctx, scope)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(s.given, func(k endpoint.Key) bool { return k.Name == record.Name }) {
		return nil, fault.New(fault.Conflict, "the configuration has a key %q", endpoint.Clip(record.Name))
	}
	made, secret, err := keeper.Create(ctx, record)
	return &MadeKey{Key: secret, Record: made}, err
}

// within gives the requested key, if it has no more permissions than the caller.
func (n *NewKey) within(ctx context.Context, scope access.Scope) (keys.Record, error) {
	r := keys.Record{
		Name: n.Name, Tenant: scope.Tenant, Roles: n.Roles, KnowledgeBases: n.KnowledgeBases, Attach: n.Attach,
		ExpiresAt: n.ExpiresAt,
	}
	if r.Roles == nil {
		r.Roles = []string{keys.Search}
	}
	if r.KnowledgeBases == nil {
		r.KnowledgeBases = scope.KnowledgeBases
	}
	for _, kb := range r.KnowledgeBases {
		if !scope.Allows(kb) {
			return r, fault.Invalid("knowledge_bases", kb, "those that the key which asks may see")
		}
	}
	for _, pattern := range r.Attach {
		if !scope.AllowsIndex(pattern) {
			return r, fault.Invalid("attach", pattern, "what the key which asks may attach")
		}
	}
	if x := endpoint.ExchangeIn(ctx); x != nil && x.Roles != nil {
		for _, role := range r.Roles {
			if !slices.Contains(x.Roles, role) {
				return r, fault.New(fault.Forbidden, "roles has %q, which the key that asks does not have", endpoint.Clip(role))
			}
		}
	}
	if len(n.Filter) > 0 {
		if _, err := filter.Parse(n.Filter); err != nil {
			return r, err
		}
		raw, err := json.Marshal(n.Filter)
		if err != nil {
			return r, fault.Wrap(fault.InvalidArgument, err, "read the filter")
		}
		r.Filter = raw
	}
	return r, nil
}

func (s *keyService) rotate(ctx context.Context, scope access.Scope, in *keyInput) (*MadeKey, error) {
	keeper, err := s.stored()
	if err != nil {
		return nil, err
	}
	if err := s.mayChange(ctx, scope, keeper, in.Name); err != nil {
		return nil, err
	}
	record, secret, err := keeper.Rotate(ctx, scope.Tenant, in.Name)
	return &MadeKey{Key: secret, Record: record}, err
}

func (s *keyService) revoke(ctx context.Context, scope access.Scope, in *keyInput) (*struct{}, error) {
	keeper, err := s.stored()
	if err != nil {
		return nil, err
	}
	if err := s.mayChange(ctx, scope, keeper, in.Name); err != nil {
		return nil, err
	}
	_, err = keeper.Revoke(ctx, scope.Tenant, in.Name)
	return nil, err
}

// mayChange refuses to rotate or end a key with more permissions than the caller.
func (s *keyService) mayChange(ctx context.Context, scope access.Scope, keeper *keys.Keeper, name string) error {
	list, err := keeper.List(ctx, scope.Tenant)
	if err != nil {
		return err
	}
	for i := range list {
		if r := &list[i]; r.Name == name {
			same := &NewKey{Name: name, Roles: r.Roles, KnowledgeBases: r.KnowledgeBases, Attach: r.Attach}
			_, err := same.within(ctx, scope)
			if err != nil || r.KnowledgeBases == nil && scope.KnowledgeBases != nil {
				return fault.New(fault.Forbidden, "key %q may do or see more than the key that asks", endpoint.Clip(name))
			}
			return nil
		}
	}
	return nil
}
