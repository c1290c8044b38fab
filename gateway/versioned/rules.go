package versioned

import (
	"context"
	"net/http"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/rules"
	"github.com/hybridge-search/hybridge/versions"
)

// RuleSet is one state of a knowledge base's rules.
type RuleSet struct {
	KnowledgeBase string       `json:"knowledge_base"`
	Version       int          `json:"version" doc:"From 1; 0: there is none yet."`
	Count         int          `json:"count" doc:"Rules that it has."`
	Author        string       `json:"author,omitempty" doc:"Name of the key that made it."`
	Comment       string       `json:"comment,omitempty"`
	CreatedAt     time.Time    `json:"created_at"`
	Rules         []rules.Rule `json:"rules,omitzero" doc:"Left out of lists."`
}

// RuleSets is the answer to listing them.
type RuleSets struct {
	Sets []RuleSet `json:"sets" doc:"What is in use of each knowledge base, without the rules."`
}

// RuleHistory is the answer to listing a set's versions.
type RuleHistory struct {
	Versions []RuleSet `json:"versions" doc:"The newest first, without the rules."`
}

// RuleList is a new state of a knowledge base's rules.
type RuleList struct {
	Rules       []rules.Rule `json:"rules" doc:"All of them, at most 1000, in the order in which they apply."`
	BaseVersion *int         `json:"base_version,omitempty" minimum:"0" maximum:"1000000000" doc:"The version that was edited; a conflict when another came since."`
	Comment     string       `json:"comment,omitempty" doc:"Why, for the history; at most 1000 bytes."`
}

type saveRulesInput struct {
	KB   string `path:"kb" doc:"A knowledge base."`
	Body RuleList
}

const (
	rulesPath = "/v1/rules"
	rulePath  = rulesPath + "/{kb}"
)

// ruleService keeps query rules.
type ruleService struct {
	api  *endpoint.API
	sets *sets[RuleSet]
}

// register adds routes closed to keys that are bound to a filter: rules name chunks and documents that
// such a key must not see.
func (s *ruleService) register() {
	const tag = "rules"
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodGet, Path: rulesPath, Tag: tag, Access: endpoint.Reads, Whole: true,
		ID: "list-rules", Summary: "List the rule sets of the tenant",
		About: "Of each knowledge base that has any: its version in use, how many rules that has, who saved " +
			"it and when.",
	}, s.list)
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodGet, Path: rulePath, Tag: tag, Access: endpoint.Reads, Whole: true,
		ID: "get-rules", Summary: "Get a knowledge base's rules, of the version in use or an earlier one",
		About: "With the version that an edit is based on.",
	}, s.sets.get)
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodPut, Path: rulePath, Tag: tag, Access: endpoint.Governs, Role: keys.Manage, BodyBytes: synonymBody,
		ID: "save-rules", Summary: "Put new rules into use, at once, as a new version",
		About: "Rules pin chunks and documents to the top of the answers to some questions, or hide them. " +
			"A bad rule is refused with its place and changes nothing.",
	}, s.save)
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodGet, Path: rulePath + "/versions", Tag: tag, Access: endpoint.Reads, Whole: true,
		ID: "list-rule-versions", Summary: "List the versions of a knowledge base's rules",
		About: "The newest first: who saved it, when and with which comment.",
	}, s.history)
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodPost, Path: rulePath + "/rollback", Tag: tag, Access: endpoint.Governs, Role: keys.Manage,
		ID: "rollback-rules", Summary: "Put an earlier version's rules into use again",
		About: "They become a new version, so that nothing is lost.",
	}, s.sets.rollback)
}

func (s *ruleService) list(ctx context.Context, scope access.Scope, _ *struct{}) (*RuleSets, error) {
	all, err := s.sets.list(ctx, scope)
	return &RuleSets{Sets: all}, err
}

func (s *ruleService) history(ctx context.Context, scope access.Scope, in *versionsInput) (*RuleHistory, error) {
	all, err := s.sets.history(ctx, scope, in)
	return &RuleHistory{Versions: all}, err
}

func (s *ruleService) save(ctx context.Context, scope access.Scope, in *saveRulesInput) (*RuleSet, error) {
	if in.Body.Rules == nil { // a mistake must not take all rules away
		return nil, fault.Invalid("rules", nil, "a list of rules, which may be empty")
	}
	text, err := rules.Text(in.Body.Rules)
	if err != nil {
		return nil, err
	}
	return s.sets.save(ctx, scope, versions.Edit{
		Set: in.KB, Text: text, Base: in.Body.BaseVersion, Comment: in.Body.Comment,
	})
}

// wholeRules is a version with its rules.
func wholeRules(v *versions.Version) (RuleSet, error) {
	set := briefRules(v)
	var err error
	set.Rules, err = rules.Read(v.Text)
	return set, err
}

// briefRules is a version without its rules.
func briefRules(v *versions.Version) RuleSet {
	return RuleSet{
		KnowledgeBase: v.Set, Version: v.Version, Count: v.Rules,
		Author: v.Author, Comment: v.Comment, CreatedAt: v.CreatedAt,
	}
}
