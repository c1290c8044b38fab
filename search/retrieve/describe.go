package retrieve

import (
	"context"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/engines"
)

// Describe shows the requests to the engines of a search, without running a leg.
func (s *Retriever) Describe(ctx context.Context, r *ask.Asked, m []Measured, into *answer.AnalyzeResponse) error {
	for i, t := range s.targets(ctx, r, m, Demand{}) {
		p, err := s.prepare(t, t.Plan.Text)
		if err != nil {
			return err
		}
		if i == 0 {
			if err := s.describeQuery(ctx, t, into); err != nil {
				return err
			}
		}
		if err := p.render(into); err != nil {
			return err
		}
	}
	return nil
}

// describeQuery shows the text query as the first knowledge base gets it.
func (s *Retriever) describeQuery(ctx context.Context, t *target, into *answer.AnalyzeResponse) error {
	q := t.Question
	field := t.KB.FieldsOf(scoring.Text)[0]
	vocabulary := t.vocabulary(0)
	stats, err := engines.Ask(ctx, t.Subject, engines.CallStatistics, t.Engine.Statistics, &engine.StatisticsRequest{
		KB: t.KB, Field: field, Terms: vocabulary.Words, Alone: true,
	})
	if err != nil {
		return err
	}
	if stats.TextErr != nil {
		return stats.TextErr
	}
	frequencies, expander := ask.FrequenciesOf(vocabulary, stats), s.Asker.Expander(&t.KB)
	query := analysis.Compose(q.Parsed, frequencies, expander, t.Plan.Text)
	into.Query, into.Known = &query, analysis.Known(q.Parsed, frequencies)
	into.Synonyms, into.SynonymsCut = expansions(q, expander, t.Plan.Text)
	weight := map[string]float64{}
	for _, term := range query.Terms {
		weight[term.Text] = term.Weight
	}
	for i, term := range q.Parsed.Terms {
		into.Tokens = append(into.Tokens, answer.AnalyzedToken{
			Text: term.Text, Start: term.Start, End: term.End,
			Weight: weight[term.Text], DF: frequencies.Of(i), IDF: frequencies.IDF(i), Stop: term.Stop,
		})
	}
	return nil
}

// expansions shows the synonyms that apply and the rules they come from.
func expansions(
	q *ask.Question, expander analysis.Expander, rules analysis.Rules,
) (applied []answer.AppliedSynonym, cut int) {
	applied = []answer.AppliedSynonym{}
	if expander == nil || rules.SynonymBoost == 0 {
		return applied, 0
	}
	sequence := q.Parsed.Sequence()
	found := expander.Expand(sequence)
	for _, e := range found.All {
		applied = append(applied, answer.AppliedSynonym{
			Source: sequence[e.Start:e.End], Target: e.Terms,
			Weight: e.Weight * rules.SynonymBoost, Rule: e.Rule,
		})
	}
	return applied, found.Cut
}

// render adds the statements of an engine that is a Renderer.
func (p *prepared) render(into *answer.AnalyzeResponse) error {
	renderer := p.Renderer()
	req, sent := p.request()
	if renderer == nil || len(sent) == 0 {
		return nil
	}
	statements, err := renderer.Render(req)
	if err != nil {
		return err
	}
	for _, st := range statements {
		into.Statements = append(into.Statements, answer.Statement{KnowledgeBase: p.KB.ID, Statement: st})
	}
	return nil
}
