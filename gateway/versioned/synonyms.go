package versioned

import (
	"context"
	"fmt"
	"net/http"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/search"
	"github.com/hybridge-search/hybridge/synonyms"
	"github.com/hybridge-search/hybridge/versions"
)

// Synonyms stores the sets that are edited at run time.
type Synonyms interface {
	Sets
	Try(set, text, question string) (applied []synonyms.Applied, cut int, err error)
	Check(text string) (rules int, problems []synonyms.Problem, err error)
	Draft(tenant, set, text string) (*synonyms.Draft, error)
}

// SynonymSets is the answer to listing them.
type SynonymSets struct {
	Sets []synonyms.Version `json:"sets" doc:"What is in use of each set, without the texts."`
}

// SynonymHistory is the answer to listing a set's versions.
type SynonymHistory struct {
	Versions []synonyms.Version `json:"versions" doc:"The newest first, without the texts."`
}

// SynonymTrial shows the effect of synonyms on a question.
type SynonymTrial struct {
	Current []synonyms.Applied `json:"current" doc:"With the version in use."`
	Draft   []synonyms.Applied `json:"draft,omitempty" doc:"With the text given."`
	Cut     int                `json:"cut,omitempty" doc:"Synonyms that are over a limit and left out of both, at least: a rule gives a word 64, a set a question 2048."`
}

// SynonymText is a new text of a set.
type SynonymText struct {
	Text        string `json:"text" doc:"Rules in Solr's format, one a line; a weight as in auto^0.5."`
	BaseVersion *int   `json:"base_version,omitempty" minimum:"0" maximum:"1000000000" doc:"The version that was edited; a conflict when another came since."`
	Comment     string `json:"comment,omitempty" doc:"Why, for the history; at most 1000 bytes."`
}

// SynonymDraft is a text that is not saved.
type SynonymDraft struct {
	Text string `json:"text" doc:"Rules in Solr's format, one a line."`
}

// SynonymProblems lists the errors that saving would report.
type SynonymProblems struct {
	Rules    int                `json:"rules" doc:"Rules among the lines that were read."`
	Problems []synonyms.Problem `json:"problems" doc:"Every line that cannot be used, in order; the first 100, behind which nothing was read. Empty: the text can be saved."`
}

// SynonymQuestion is a question to try synonyms on.
type SynonymQuestion struct {
	Query string  `json:"query"`
	Text  *string `json:"text,omitempty" doc:"A draft that is not saved."`
}

type saveSynonymsInput struct {
	KB   string `path:"kb" doc:"A knowledge base, or global."`
	Body SynonymText
}

type trySynonymsInput struct {
	KB   string `path:"kb" doc:"A knowledge base, or global."`
	Body SynonymQuestion
}

type checkSynonymsInput struct {
	KB   string `path:"kb" doc:"A knowledge base, or global."`
	Body SynonymDraft
}

// synonymBody is room for a text of the largest size as JSON, every letter of it escaped once.
const synonymBody = 2*versions.MaxText + 64<<10

const (
	synonymsPath = "/v1/synonyms"
	synonymPath  = synonymsPath + "/{kb}"
)

// synonymService keeps synonyms, and tries drafts of them.
type synonymService struct {
	api      *endpoint.API
	sets     *sets[synonyms.Version]
	synonyms Synonyms // nil: they cannot be edited
	drafts   Drafts   // nil: nothing is searched by them
	log      queryLog
}

func (s *synonymService) register() {
	const tag = "synonyms"
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodGet, Path: synonymsPath, Tag: tag, Access: endpoint.Reads,
		ID: "list-synonyms", Summary: "List the edited synonym sets of the tenant",
		About: "Of each knowledge base that has one: its version in use, who saved it and when.",
	}, s.list)
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodGet, Path: synonymPath, Tag: tag, Access: endpoint.Reads,
		ID: "get-synonyms", Summary: "Get a set's text, of the version in use or an earlier one",
		About: "With the version that an edit is based on.",
	}, s.sets.get)
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodPut, Path: synonymPath, Tag: tag, Access: endpoint.Governs, Role: keys.Manage,
		BodyBytes: synonymBody, ID: "save-synonyms", Summary: "Put a new text into use, at once, as a new version",
		About: "A bad line is refused with its number and changes nothing.",
	}, s.save)
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodGet, Path: synonymPath + "/versions", Tag: tag, Access: endpoint.Reads,
		ID: "list-synonym-versions", Summary: "List the versions of a set",
		About: "The newest first: who saved it, when and with which comment.",
	}, s.history)
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodPost, Path: synonymPath + "/rollback", Tag: tag, Access: endpoint.Governs, Role: keys.Manage,
		ID: "rollback-synonyms", Summary: "Put an earlier version's text into use again",
		About: "It becomes a new version, so that nothing is lost.",
	}, s.sets.rollback)
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodPost, Path: synonymPath + "/try", Tag: tag, Access: endpoint.Reads, BodyBytes: synonymBody,
		ID: "try-synonyms", Summary: "Show what the synonyms, or a draft of them, do to a question",
		About: "Saves nothing: the question's tokens, and what each of them is searched by besides.",
	}, s.try)
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodPost, Path: synonymPath + "/check", Tag: tag, Access: endpoint.Reads, BodyBytes: synonymBody,
		ID: "check-synonyms", Summary: "Name every line of a draft that saving would refuse",
		About: "Saves nothing: the lines that cannot be used, with what is wrong with each.",
	}, s.check)
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodPost, Path: synonymPath + "/effects", Tag: tag, Access: endpoint.Reads, BodyBytes: synonymBody,
		ID: "show-synonym-effects", Summary: "Search by the synonyms in use and by a draft of them",
		About: "Saves nothing: for each question the first hits before and after, and the synonyms that were added to it.",
	}, s.effects)
}

func (s *synonymService) check(
	ctx context.Context, scope access.Scope, in *checkSynonymsInput,
) (*SynonymProblems, error) {
	if err := s.sets.check(ctx, scope, in.KB); err != nil {
		return nil, err
	}
	if n := len(in.Body.Text); n > synonyms.MaxText {
		return nil, fault.Invalid("text", fmt.Sprintf("%d bytes", n), fmt.Sprintf("at most %d bytes", synonyms.MaxText))
	}
	rules, problems, err := s.synonyms.Check(in.Body.Text)
	return &SynonymProblems{Rules: rules, Problems: problems}, err
}

func (s *synonymService) list(ctx context.Context, scope access.Scope, _ *struct{}) (*SynonymSets, error) {
	all, err := s.sets.list(ctx, scope)
	return &SynonymSets{Sets: all}, err
}

func (s *synonymService) history(ctx context.Context, scope access.Scope, in *versionsInput) (*SynonymHistory, error) {
	all, err := s.sets.history(ctx, scope, in)
	return &SynonymHistory{Versions: all}, err
}

func (s *synonymService) save(
	ctx context.Context, scope access.Scope, in *saveSynonymsInput,
) (*synonyms.Version, error) {
	return s.sets.save(ctx, scope, versions.Edit{
		Set: in.KB, Text: in.Body.Text, Base: in.Body.BaseVersion, Comment: in.Body.Comment,
	})
}

func (s *synonymService) try(ctx context.Context, scope access.Scope, in *trySynonymsInput) (*SynonymTrial, error) {
	if err := s.sets.check(ctx, scope, in.KB); err != nil {
		return nil, err
	}
	if in.Body.Query == "" || len(in.Body.Query) > search.MaxQueryBytes {
		return nil, fault.Invalid("query", in.Body.Query, fmt.Sprintf("a question of 1 to %d bytes", search.MaxQueryBytes))
	}
	used, err := s.synonyms.Get(ctx, scope.Tenant, in.KB, 0)
	if err != nil {
		return nil, err
	}
	trial := &SynonymTrial{}
	if trial.Current, trial.Cut, err = s.synonyms.Try(in.KB, used.Text, in.Body.Query); err != nil {
		return nil, err
	}
	if in.Body.Text != nil {
		var cut int
		trial.Draft, cut, err = s.synonyms.Try("draft", *in.Body.Text, in.Body.Query)
		trial.Cut += cut
	}
	return trial, err
}
