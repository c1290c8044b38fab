package gateway

import (
	"context"
	"net/http"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/access/quota"
	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/gateway/versioned"
)

// Catalog keeps the list of knowledge bases.
type Catalog interface {
	Create(ctx context.Context, scope access.Scope, spec catalog.Spec) (engine.KnowledgeBase, error)
	List(ctx context.Context, scope access.Scope) ([]engine.KnowledgeBase, error)
	// Choices are the engines that a knowledge base may be created on.
	Choices() []catalog.Choice
	Describe(ctx context.Context, scope access.Scope, id string) (catalog.Described, error)
	Delete(ctx context.Context, scope access.Scope, id string) error
	Check(ctx context.Context, scope access.Scope, id string, repair bool) (*engine.DriftReport, error)
	Invalidate(ctx context.Context, scope access.Scope, id string) error
}

// KnowledgeBases is the answer to listing them.
type KnowledgeBases struct {
	KnowledgeBases []engine.KnowledgeBase `json:"knowledge_bases"`
	Engines        []catalog.Choice       `json:"engines" doc:"Those that this gateway has: a knowledge base may be created on any."`
}

type createInput struct {
	Body catalog.Spec
}

type knowledgeBaseInput struct {
	KB string `path:"kb" doc:"Id of the knowledge base."`
}

const (
	basesPath = "/v1/knowledge-bases"
	basePath  = basesPath + "/{kb}"
)

// knowledgeBaseService makes, describes and deletes knowledge bases.
type knowledgeBaseService struct {
	api     *endpoint.API
	catalog Catalog
	quota   *quota.Meter     // nil: nothing bounds what tenants store
	edited  versioned.Edited // deleted with a knowledge base
}

func (s *knowledgeBaseService) register() {
	const tag = "knowledge-bases"
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodPost, Path: basesPath, Tag: tag, Access: endpoint.Governs, Status: http.StatusCreated,
		ID: "create-knowledge-base", Summary: "Create a knowledge base, or attach to an index",
		About: "Everything but its id has a default. With attach it reads an index that is already there, " +
			"which is never written to.",
	}, s.create)
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodGet, Path: basesPath, Tag: tag, Access: endpoint.Reads,
		ID: "list-knowledge-bases", Summary: "List the knowledge bases that the key may see",
		About: "By id. Those of other tenants, and those that the key is not for, do not exist to it.",
	}, s.list)
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodGet, Path: basePath, Tag: tag, Access: endpoint.Reads,
		ID: "describe-knowledge-base", Summary: "Describe a knowledge base and count what it holds",
		About: "Its settings, and how many documents, chunks and vectors it has, and how many bytes they " +
			"take.",
	}, s.describe)
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodDelete, Path: basePath, Tag: tag, Access: endpoint.Governs, Status: http.StatusNoContent,
		ID: "delete-knowledge-base", Summary: "Delete a knowledge base with all it holds",
		About: "Of an attached index only the attachment is removed.",
	}, s.remove)
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodPost, Path: basePath + "/invalidate", Tag: tag, Access: endpoint.Governs,
		Status: http.StatusNoContent,
		ID:     "invalidate-knowledge-base", Summary: "Drop the stored keyword indexes of a knowledge base",
		About: "For engine postgres: memory, Redis and the database forget them, and the next search builds them " +
			"from the chunks.",
	}, s.invalidate)
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodPost, Path: basePath + "/check", Tag: tag, Access: endpoint.Governs, Timeout: s.api.Limits.Ingest,
		ID: "check-knowledge-base", Summary: "Look for damage, and compare the engines of a knowledge base chunk by chunk",
		About: "Compares what the embedded engine stores with its checksums; with repair, damaged chunks are taken from " +
			"another engine. Where there are several, it tells what the others lack, have too much of, or have in another " +
			"version than the first, " +
			"and with repair makes them like it. What the outbox owes is made up for first.",
	}, s.check)
}

// Check asks how the engines of a knowledge base differ.
type Check struct {
	Repair bool `json:"repair,omitempty" doc:"Take damaged chunks from another engine, and make the others like the reference."`
}

type checkInput struct {
	KB   string `path:"kb" doc:"Id of the knowledge base."`
	Body Check
}

func (s *knowledgeBaseService) check(
	ctx context.Context, scope access.Scope, in *checkInput,
) (*engine.DriftReport, error) {
	return s.catalog.Check(ctx, scope, in.KB, in.Body.Repair)
}

func (s *knowledgeBaseService) create(
	ctx context.Context, scope access.Scope, in *createInput,
) (*engine.KnowledgeBase, error) {
	settle, err := s.takePlace(ctx, scope)
	if err != nil {
		return nil, err
	}
	kb, err := s.catalog.Create(ctx, scope, in.Body)
	settle(err == nil)
	return &kb, err
}

func (s *knowledgeBaseService) list(
	ctx context.Context, scope access.Scope, _ *struct{},
) (*KnowledgeBases, error) {
	list, err := s.catalog.List(ctx, scope)
	return &KnowledgeBases{KnowledgeBases: list, Engines: s.catalog.Choices()}, err
}

func (s *knowledgeBaseService) describe(
	ctx context.Context, scope access.Scope, in *knowledgeBaseInput,
) (*catalog.Described, error) {
	described, err := s.catalog.Describe(ctx, scope, in.KB)
	return &described, err
}

func (s *knowledgeBaseService) invalidate(
	ctx context.Context, scope access.Scope, in *knowledgeBaseInput,
) (*struct{}, error) {
	return nil, s.catalog.Invalidate(ctx, scope, in.KB)
}

func (s *knowledgeBaseService) remove(
	ctx context.Context, scope access.Scope, in *knowledgeBaseInput,
) (*struct{}, error) {
	if err := s.catalog.Delete(ctx, scope, in.KB); err != nil {
		return nil, err
	}
	if s.quota != nil {
		s.quota.Deleted(scope.Tenant)
	}
	return nil, s.edited.Drop(ctx, scope, in.KB)
}

// takePlace reserves a place for a knowledge base; the caller reports whether one was made.
func (s *knowledgeBaseService) takePlace(ctx context.Context, scope access.Scope) (settle func(made bool), err error) {
	if s.quota == nil {
		return func(bool) {}, nil
	}
	return s.quota.Create(ctx, scope.Tenant)
}
