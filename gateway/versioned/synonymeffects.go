package versioned

import (
	"context"
	"fmt"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
	"github.com/hybridge-search/hybridge/synonyms"
)

// Drafts answers questions by synonyms that are not saved.
type Drafts interface {
	// SearchBy searches as if the draft had been saved; nil: by what is saved. No answer is cached, and none is part of
	// an experiment.
	SearchBy(ctx context.Context, scope access.Scope, draft *synonyms.Draft, req search.Request) (*search.Response, error)
}

// Limits on one request for effects: each question is searched twice.
const (
	effectQueries = 10
	effectHits    = 10
)

// SynonymEffectsQuestion asks for the effects of a draft on questions.
type SynonymEffectsQuestion struct {
	Queries        []string `json:"queries" doc:"1 to 10 questions."`
	Text           string   `json:"text" doc:"The draft: rules in Solr's format, one a line."`
	KnowledgeBases []string `json:"knowledge_bases,omitempty" doc:"Those that are searched; left out, the one of the set. The global set needs them."`
	Preset         string   `json:"preset,omitempty" doc:"Named plan; the default is that of searches."`
}

// SynonymEffects are the answers before and after.
type SynonymEffects struct {
	Questions []SynonymEffect `json:"questions" doc:"In the order of the request."`
}

// SynonymEffect is the effect on one question.
type SynonymEffect struct {
	Query   string      `json:"query"`
	Current SynonymSide `json:"current" doc:"By the version in use."`
	Draft   SynonymSide `json:"draft" doc:"By the text given."`
}

// SynonymSide is a question as it is searched by one text.
type SynonymSide struct {
	Synonyms []synonyms.Applied `json:"synonyms" doc:"What this set adds to the question."`
	Hits     []SynonymHit       `json:"hits" doc:"The first 10."`
}

// SynonymHit is a hit, without its text.
type SynonymHit struct {
	KnowledgeBase string  `json:"knowledge_base"`
	ID            string  `json:"id"`
	DocumentID    string  `json:"document_id"`
	DocumentName  string  `json:"document_name,omitempty"`
	Title         string  `json:"title,omitempty"`
	Score         float64 `json:"score" minimum:"0" maximum:"1"`
}

type synonymEffectsInput struct {
	KB   string `path:"kb" doc:"A knowledge base, or global."`
	Body SynonymEffectsQuestion
}

func (s *synonymService) effects(
	ctx context.Context, scope access.Scope, in *synonymEffectsInput,
) (*SynonymEffects, error) {
	if err := s.sets.check(ctx, scope, in.KB); err != nil {
		return nil, err
	}
	body := &in.Body
	if n := len(body.Queries); n < 1 || n > effectQueries {
		return nil, fault.Invalid("queries", fault.Length(n), fmt.Sprintf("a list of 1 to %d questions", effectQueries))
	}
	if s.drafts == nil {
		return nil, fault.New(fault.Unsupported, "this gateway does not search by drafts")
	}
	if len(body.KnowledgeBases) == 0 && in.KB != synonyms.Global {
		body.KnowledgeBases = []string{in.KB}
	}
	draft, err := s.synonyms.Draft(scope.Tenant, in.KB, body.Text)
	if err != nil {
		return nil, err
	}
	used, err := s.synonyms.Get(ctx, scope.Tenant, in.KB, 0)
	if err != nil {
		return nil, err
	}
	effects := &SynonymEffects{Questions: make([]SynonymEffect, len(body.Queries))}
	for i, query := range body.Queries {
		s.log.NoteQuery(ctx, query)
		effect := &effects.Questions[i]
		effect.Query = query
		if effect.Current, err = s.side(ctx, scope, in, query, effectOf{text: used.Text}); err == nil {
			effect.Draft, err = s.side(ctx, scope, in, query, effectOf{text: body.Text, draft: draft})
		}
		if err != nil {
			return nil, fault.Within(fmt.Sprintf("queries[%d].", i), err)
		}
	}
	return effects, nil
}

// effectOf is a text of a set, and its draft where it is one.
type effectOf struct {
	text  string
	draft *synonyms.Draft
}

// side searches by one text.
func (s *synonymService) side(
	ctx context.Context, scope access.Scope, in *synonymEffectsInput, query string, of effectOf,
) (side SynonymSide, err error) {
	name := in.KB
	if of.draft != nil {
		name = "draft"
	}
	if side.Synonyms, _, err = s.synonyms.Try(name, of.text, query); err != nil {
		return side, err
	}
	response, err := s.drafts.SearchBy(ctx, scope, of.draft, search.Request{
		Query: query, KnowledgeBases: in.Body.KnowledgeBases, Preset: in.Body.Preset, Limit: new(effectHits),
	})
	if err != nil {
		return side, err
	}
	side.Hits = make([]SynonymHit, len(response.Hits))
	for i := range response.Hits {
		h := &response.Hits[i]
		side.Hits[i] = SynonymHit{
			KnowledgeBase: h.KnowledgeBase, ID: h.ID, DocumentID: h.DocumentID, DocumentName: h.DocumentName,
			Title: h.Title, Score: h.Score,
		}
	}
	return side, nil
}
