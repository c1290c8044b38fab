package mcp

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/gateway/protocols/documents"
	"github.com/hybridge-search/hybridge/ingest"
)

const (
	documentScheme   = "hybridge"
	documentTemplate = documentScheme + "://documents/{knowledge_base}/{document}"
	listedResources  = 100 // a page

	// PlainText is the media type of documents.
	PlainText = "text/plain"
)

// addResources makes every document a resource. The SDK lists resources that are known
// beforehand, so that the list is given here.
func (p *protocol) addResources(server *sdk.Server) {
	server.AddResourceTemplate(&sdk.ResourceTemplate{
		Name: "document", Title: "Document", URITemplate: documentTemplate, MIMEType: PlainText,
		Description: "The text of a document of a knowledge base; ids are percent-encoded.",
	}, func(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		text, err := within(ctx, p, func(ctx context.Context, scope access.Scope) (string, error) {
			kb, document, ok := documentOfURI(req.Params.URI)
			if !ok {
				return "", sdk.ResourceNotFoundError(req.Params.URI)
			}
			texts, err := documents.Texts(
				ctx, p.documents, scope, ingest.DocumentRef{KB: kb, ID: document}, p.api.Limits.AnswerBytes)
			return strings.Join(texts, "\n\n"), err
		})
		if err != nil {
			return nil, rpcError(req.Params.URI, err)
		}
		return &sdk.ReadResourceResult{
			Contents: []*sdk.ResourceContents{{URI: req.Params.URI, MIMEType: PlainText, Text: text}},
		}, nil
	})
	server.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			list, ok := req.(*sdk.ListResourcesRequest)
			if !ok {
				return next(ctx, method, req)
			}
			cursor := ""
			if list.Params != nil {
				cursor = list.Params.Cursor
			}
			listed, err := within(ctx, p, func(ctx context.Context, scope access.Scope) (*sdk.ListResourcesResult, error) {
				return p.documentList(ctx, scope, cursor)
			})
			if err != nil {
				return nil, rpcError("", err)
			}
			return listed, nil
		}
	})
}

// rpcError is an error of the protocol itself, not of a tool.
func rpcError(uri string, err error) error {
	problem := endpoint.ProblemOf(err)
	told := &jsonrpc.Error{Code: rpcServer, Message: problem.Detail}
	switch fault.Kind(problem.Code) { //nolint:exhaustive // the others are the server's
	case fault.NotFound:
		return sdk.ResourceNotFoundError(uri)
	case fault.InvalidArgument:
		told.Code = jsonrpc.CodeInvalidParams
	case fault.Internal:
		told.Code = jsonrpc.CodeInternalError
	}
	return told
}

// DocumentURI names a document as a resource.
func DocumentURI(kb, document string) string {
	return documentScheme + "://documents/" + encoded(kb) + "/" + encoded(document)
}

// encoded escapes a text as a URI template's simple expansion does.
func encoded(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

func documentOfURI(uri string) (kb, document string, ok bool) {
	rest, ours := strings.CutPrefix(uri, documentScheme+"://documents/")
	kb, document, found := strings.Cut(rest, "/")
	kb, badKB := url.PathUnescape(kb)
	document, badDocument := url.PathUnescape(document)
	return kb, document, ours && found && badKB == nil && badDocument == nil
}

// documentCursor is where a page of the list continues.
type documentCursor struct {
	KB    string `json:"kb"`
	After string `json:"after"`
}

// documentList is a page of the documents of all knowledge bases, by their ids.
func (p *protocol) documentList(
	ctx context.Context, scope access.Scope, cursor string,
) (*sdk.ListResourcesResult, error) {
	var from documentCursor
	if cursor != "" {
		text, err := base64.RawURLEncoding.DecodeString(cursor)
		if err == nil {
			err = json.Unmarshal(text, &from)
		}
		if err != nil {
			return nil, fault.Invalid("cursor", cursor, "the nextCursor of a page")
		}
	}
	list, err := p.catalog.List(ctx, scope)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b engine.KnowledgeBase) int { return strings.Compare(a.ID, b.ID) })
	page := &sdk.ListResourcesResult{Resources: []*sdk.Resource{}, Cacheable: sdk.Cacheable{CacheScope: onePersons}}
	for i := range list {
		kb := &list[i]
		if kb.ID < from.KB || kb.Attach != nil { // of a foreign index, documents cannot be listed
			continue
		}
		after := ""
		if kb.ID == from.KB {
			after = from.After
		}
		room := listedResources - len(page.Resources)
		documents, err := p.documents.Documents(ctx, scope, kb.ID, ingest.Page{After: after, Limit: room + 1})
		if err != nil {
			return nil, err
		}
		for d := range documents[:min(len(documents), room)] {
			after = documents[d].ID
			page.Resources = append(page.Resources, documentResource(kb, &documents[d]))
		}
		if len(documents) > room {
			next, err := json.Marshal(documentCursor{kb.ID, after})
			page.NextCursor = base64.RawURLEncoding.EncodeToString(next)
			return page, err
		}
	}
	return page, nil
}

func documentResource(kb *engine.KnowledgeBase, d *engine.Document) *sdk.Resource {
	return &sdk.Resource{
		URI: DocumentURI(kb.ID, d.ID), Name: cmp.Or(d.Name, d.ID), MIMEType: PlainText,
		Description: "A document of the knowledge base " + cmp.Or(kb.Name, kb.ID),
	}
}
