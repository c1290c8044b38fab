package gateway

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/access/audit"
	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
)

// AuditLog reads the records of Options.Audit.
type AuditLog interface {
	// Read gives the records that the scope may see, the newest first.
	Read(ctx context.Context, scope access.Scope, q audit.Query) (*audit.Page, error)
}

// AuditRecords is a page of the audit log.
type AuditRecords struct {
	Records []audit.Record `json:"records" doc:"Newest first."`
	Next    string         `json:"next,omitempty" doc:"The after of the next page, also where this one is not full: a page reads 16 MiB of the log at most."`
}

type auditInput struct {
	Key     string `query:"key" doc:"Name of the key."`
	Action  string `query:"action" doc:"Part of method and route, as DELETE /v1/keys."`
	Base    string `query:"knowledge_base" doc:"Id of a knowledge base that the path names."`
	Outcome string `query:"outcome" doc:"done, refused or failed."`
	From    string `query:"from" doc:"Not before this time, as 2026-11-28T12:00:00Z."`
	Until   string `query:"until" doc:"Not after this time."`
	Changes bool   `query:"changes" doc:"Only what changes something, or was to: not what reads, searches, plans or tells events."`
	After   string `query:"after" doc:"The next of the page before."`
	Limit   int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"Records of the page."`
}

var errNoAudit = fault.New(fault.Unsupported, "this gateway keeps no audit log; set audit.path to a file")

// auditService reads the audit log.
type auditService struct {
	api *endpoint.API
	log AuditLog // nil: it is not stored where it can be read
}

func (s *auditService) register() {
	endpoint.RegisterWith(s.api, endpoint.Need(s.log, errNoAudit), endpoint.Route{
		Method: http.MethodGet, Path: "/v1/audit", Tag: "operation", Access: endpoint.Governs, Role: keys.Operate,
		ID: "read-audit-log", Summary: "Who did what, when, and how it ended",
		About: "Requests of the tenant that need a key, the newest first, from the file of audit.path of this gateway. " +
			"What was refused for lack of a key belongs to the tenant default.",
	}, s.readAudit)
}

// changed reports whether a request of the log was meant to change something. Without a route of this gateway, as for
// unknown paths or logs of earlier versions, the method decides.
func (s *auditService) changed(method, route string) bool {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	changes, ok := s.api.Changes(method, route)
	return changes || !ok && method != http.MethodGet
}

func (s *auditService) readAudit(
	ctx context.Context, log AuditLog, scope access.Scope, in *auditInput,
) (*AuditRecords, error) {
	q := audit.Query{Key: in.Key, Action: in.Action, Base: in.Base, Outcome: in.Outcome, Before: -1, Limit: in.Limit}
	if in.Outcome != "" && !slices.Contains(audit.Outcomes, in.Outcome) {
		return nil, fault.Invalid("outcome", endpoint.Clip(in.Outcome), strings.Join(audit.Outcomes, ", "))
	}
	if in.Changes {
		q.Only = s.changed
	}
	var err error
	if q.From, err = timeOf("from", in.From); err != nil {
		return nil, err
	}
	if q.Until, err = timeOf("until", in.Until); err != nil {
		return nil, err
	}
	if in.After != "" {
		if q.Before, err = strconv.ParseInt(in.After, 10, 64); err != nil || q.Before < 1 {
			return nil, fault.Invalid("after", endpoint.Clip(in.After), "the next of the page before")
		}
	}
	page, err := log.Read(ctx, scope, q)
	if err != nil {
		return nil, err
	}
	answer := &AuditRecords{Records: page.Records}
	if page.Before > 0 {
		answer.Next = strconv.FormatInt(page.Before, 10)
	}
	return answer, nil
}

// timeOf reads a query parameter that is a time; empty: none.
func timeOf(name, text string) (at time.Time, err error) {
	if text == "" {
		return at, nil
	}
	if at, err = time.Parse(time.RFC3339, text); err != nil {
		return at, fault.Invalid(name, endpoint.Clip(text), "a time, as 2026-11-28T12:00:00Z")
	}
	return at, nil
}
