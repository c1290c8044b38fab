package search

import (
	"context"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
)

// Renderer is what an engine offers that sends requests to a server: the exact
// statements of a search, without running it.
type Renderer interface {
	Render(req *engine.Request) ([]engine.Statement, error)
}

// Analyze shows what a request would do: the tokens and their weights, the
// synonyms, the text query, the plan and the exact requests. No leg is run.
func (s *Searcher) Analyze(ctx context.Context, scope access.Scope, req Request) (*AnalyzeResponse, error) {
	r, err := s.prepare(ctx, scope, &req)
	if err != nil {
		return nil, err
	}
	response := &AnalyzeResponse{
		Plan: *r.plan(), Required: r.question.parsed.Required, Excluded: r.question.parsed.Excluded,
		Tokens: []AnalyzedToken{}, Synonyms: []AppliedSynonym{}, Statements: []Statement{},
	}
	for i := range r.targets {
		a := answer{target: &r.targets[i]}
		if err := s.equip(ctx, &a, &r.question, r.targets[i].plan.Text); err != nil {
			return nil, err
		}
		if i == 0 {
			if err := s.describeQuery(ctx, &a, &r.question, response); err != nil {
				return nil, err
			}
		}
		if err := render(&a, &r.question, response); err != nil {
			return nil, err
		}
	}
	return response, nil
}

// describeQuery shows the text query as the first knowledge base gets it.
func (s *Searcher) describeQuery(ctx context.Context, a *answer, q *question, into *AnalyzeResponse) error {
	field := a.target.kb.FieldsOf(scoring.Text)[0]
	terms := q.terms()
	stats, err := a.target.engine.Statistics(ctx, &engine.StatisticsRequest{KB: a.target.kb, Field: field, Terms: terms})
	if err != nil {
		return err
	}
	frequencies := frequenciesOf(stats)
	expander := s.expander(&a.target.kb)
	query := analysis.Compose(q.parsed, frequencies, expander, a.target.plan.Text)
	into.Query, into.Known = &query, analysis.Known(q.parsed, frequencies)
	into.Synonyms = expansions(q, expander, a.target.plan.Text)
	weight := map[string]float64{}
	for _, term := range query.Terms {
		weight[term.Text] = term.Weight
	}
	for i, term := range q.parsed.Terms {
		into.Tokens = append(into.Tokens, AnalyzedToken{
			Text: term.Text, Start: term.Start, End: term.End,
			Weight: weight[term.Text], DF: frequencies.Of(i), Stop: term.Stop,
		})
	}
	return nil
}

// expansions shows the synonyms that apply and the rules they come from.
func expansions(q *question, expander analysis.Expander, rules analysis.Rules) []AppliedSynonym {
	applied := []AppliedSynonym{}
	if expander == nil || rules.SynonymBoost == 0 {
		return applied
	}
	sequence := q.parsed.Sequence()
	for _, e := range expander.Expand(sequence) {
		applied = append(applied, AppliedSynonym{
			Source: sequence[e.Start:e.End], Target: e.Terms,
			Weight: e.Weight * rules.SynonymBoost, Rule: e.Rule,
		})
	}
	return applied
}

// render adds the statements of an engine that sends any.
func render(a *answer, q *question, into *AnalyzeResponse) error {
	renderer, ok := a.target.engine.(Renderer)
	if !ok {
		return nil
	}
	req, sent := a.request(q)
	if len(sent) == 0 {
		return nil
	}
	statements, err := renderer.Render(req)
	if err != nil {
		return err
	}
	for _, st := range statements {
		into.Statements = append(into.Statements, Statement{KnowledgeBase: a.target.kb.ID, Statement: st})
	}
	return nil
}
