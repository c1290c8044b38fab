package search

import (
	"context"
	"fmt"
	"slices"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/engines"
	"github.com/hybridge-search/hybridge/search/plan"
	"github.com/hybridge-search/hybridge/search/rank"
	"github.com/hybridge-search/hybridge/search/refine"
	"github.com/hybridge-search/hybridge/search/retrieve"
	"github.com/hybridge-search/hybridge/textquery"
)

// Explain tells why a chunk is, or is not, in the answer to a request: it runs
// the same search and follows the chunk through every step of it.
func (s *Searcher) Explain(
	ctx context.Context, scope access.Scope, req answer.ExplainRequest,
) (*answer.ExplainResponse, error) {
	if req.ChunkID == "" || len(req.ChunkID) > plan.MaxNameBytes {
		return nil, fault.Invalid("chunk_id", req.ChunkID, "an id of 1 to 256 bytes")
	}
	explain := func() (*answer.ExplainResponse, []answer.Degraded, error) {
		r, err := s.explain(ctx, scope, req)
		if err != nil {
			return nil, nil, err
		}
		return r, r.Degraded, nil
	}
	return engines.Settled(ctx, s.Catalog, scope, &req.Request, explain)
}

func (s *Searcher) explain(
	ctx context.Context, scope access.Scope, req answer.ExplainRequest,
) (*answer.ExplainResponse, error) {
	r, release, err := s.prepare(ctx, scope, &req.Request)
	if err != nil {
		return nil, err
	}
	defer release()
	ctx = engine.OneSearch(ctx)
	s.asker().Match(&r.Asked)
	r.forExplanation(s.allowance())
	defer r.bytes.Done()
	set, err := s.refine(ctx, r)
	if err != nil {
		return nil, err
	}
	c := &inquiry{searcher: s, run: r, set: set, id: req.ChunkID}
	c.response = &answer.ExplainResponse{
		ChunkID: req.ChunkID, Plan: *r.Plan, Degraded: set.Degraded, Legs: []answer.LegReport{},
	}
	if err := c.locate(ctx); err != nil {
		return nil, err
	}
	if c.chunk == nil {
		c.conclude(answer.OutcomeMissing, "no knowledge base of the request has a chunk with this id")
		return c.response, nil
	}
	if err := c.legs(ctx); err != nil {
		return nil, err
	}
	c.follow()
	return c.response, nil
}

// inquiry follows one chunk through the steps of a search.
type inquiry struct {
	searcher *Searcher
	run      *run
	set      *refine.Set
	id       string
	from     *retrieve.Retrieval // of the knowledge base that holds the chunk
	chunk    *engine.Chunk
	response *answer.ExplainResponse
}

func (c *inquiry) conclude(outcome, format string, args ...any) {
	c.response.Outcome, c.response.Detail = outcome, fmt.Sprintf(format, args...)
}

// locate finds the knowledge base that holds the chunk.
func (c *inquiry) locate(ctx context.Context) error {
	for i := range c.set.Retrievals {
		rt := &c.set.Retrievals[i]
		req := engine.ChunksRequest{KB: rt.KB, IDs: []string{c.id}, Hidden: true}
		chunks, err := engines.Ask(ctx, rt.Subject, engines.CallChunks, rt.Engine.Chunks, req)
		if err != nil {
			return err
		}
		if len(chunks) > 0 && filter.MatchesAll(c.run.Bound, &chunks[0]) {
			c.from, c.chunk = rt, &chunks[0]
			c.response.KnowledgeBase, c.response.Method = rt.KB.ID, rt.Method
			return nil
		}
	}
	return nil
}

// legs reports each leg's raw score of the chunk and its true rank, beyond the
// candidates too.
func (c *inquiry) legs(ctx context.Context) error {
	rt := c.from
	for i := range rt.Legs {
		l := &rt.Legs[i]
		report := answer.LegReport{Leg: l.Name, Candidates: l.K}
		if l.AskedSignal != nil {
			value := l.AskedSignal.Best(c.chunk.Values(l.AskedSignal.Field))
			report.Raw = &value
		}
		if l.Sends() {
			deep := &engine.Request{KB: rt.KB, Filter: rt.Filter(), Legs: []engine.Leg{{
				Name: l.Name, Field: l.Field, K: plan.MaxCandidates, Text: l.Text, Vector: l.Vector, Boosts: l.Boosts,
			}}}
			result, err := engines.Ask(ctx, rt.Subject, engines.CallSearch, rt.Engine.Search, deep)
			if err != nil {
				return err
			}
			findIn(result.Hits, c.id, &report)
		}
		c.response.Legs = append(c.response.Legs, report)
	}
	return nil
}

// findIn tells the rank and raw score of a chunk among the hits of its leg alone.
func findIn(hits []engine.Hit, id string, r *answer.LegReport) {
	for i := range hits {
		if hits[i].ID == id && hits[i].Observations[0].Rank > 0 {
			o := hits[i].Observations[0]
			r.Rank, r.Raw = &o.Rank, &o.Raw
			return
		}
	}
}

// follow finds the step that kept the chunk or lost it.
func (c *inquiry) follow() {
	if rank := c.rank(); rank > 0 {
		c.concludeRanked(rank)
		return
	}
	switch {
	case !c.chunk.Available:
		c.conclude(answer.OutcomeHidden, "the chunk is hidden: available is false")
	case c.filtered() != "":
		c.conclude(answer.OutcomeFiltered, "the chunk does not pass the filter: %s", c.filtered())
	case c.from.Rules.HiddenBy(c.id, c.chunk.DocumentID) != "":
		c.conclude(answer.OutcomeFiltered, "the rule %q hides the chunk", c.from.Rules.HiddenBy(c.id, c.chunk.DocumentID))
	case c.cutByLeg(), c.grouped(), c.cutReranked(), c.cutByScore():
	default:
		c.conclude(answer.OutcomeCandidates, "no leg has the chunk among its %d candidates", c.from.Plan.Candidates)
	}
}

// rank is the chunk's place in the answer set, from 1; 0 when it is not there.
func (c *inquiry) rank() int {
	for i := range c.set.Entries {
		if e := &c.set.Entries[i]; e.ID() == c.id && c.set.From(e) == c.from {
			return i + 1
		}
	}
	return 0
}

func (c *inquiry) concludeRanked(rank int) {
	e := &c.set.Entries[rank-1]
	c.response.Rerank, c.response.SecondStage = c.set.Reranked[c.set.Key(e)], c.set.Second[c.set.Key(e)]
	c.response.Rank, c.response.Score, c.response.RawScore = &rank, &e.Score, &e.Raw
	c.contributions(e.Legs())
	if topK := c.run.Plan.TopK; rank > topK {
		c.conclude(answer.OutcomeBeyondTopK,
			"the chunk is number %d of the answer set; the answer ends at top_k %d", rank, topK)
		return
	}
	if rule := c.from.PinnedBy[c.id]; rule != "" {
		c.conclude(answer.OutcomeHit, "the chunk is number %d of the answer, where the rule %q pins it", rank, rule)
		return
	}
	c.conclude(answer.OutcomeHit, "the chunk is number %d of the answer", rank)
}

func (c *inquiry) contributions(legs []scoring.Contribution) {
	for i := range c.response.Legs {
		if i < len(legs) {
			c.response.Legs[i].Contribution = &legs[i]
		}
	}
}

// filtered names the first part of the filter that the chunk does not pass.
func (c *inquiry) filtered() string {
	f := &c.run.Question.Filter
	for i := range f.Conditions {
		if !f.Conditions[i].Matches(c.chunk) {
			return f.Conditions[i].Field
		}
	}
	if f.Owner != "" && f.Owner != c.chunk.Owner {
		return "user " + f.Owner
	}
	for _, phrase := range f.Required {
		if !c.holds(phrase) {
			return fmt.Sprintf("required phrase %q", phrase.Terms)
		}
	}
	for _, phrase := range f.Excluded {
		if c.holds(phrase) {
			return fmt.Sprintf("excluded phrase %q", phrase.Terms)
		}
	}
	return ""
}

// holds reports whether any text field of the chunk has the phrase.
func (c *inquiry) holds(phrase textquery.Phrase) bool {
	for _, field := range c.from.KB.FieldsOf(scoring.Text) {
		terms := c.searcher.Analyzer.Terms(c.chunk.FieldText(field))
		for at := 0; at+len(phrase.Terms) <= len(terms); at++ {
			if slices.Equal(terms[at:at+len(phrase.Terms)], phrase.Terms) {
				return true
			}
		}
	}
	return false
}

// cutByLeg looks for the chunk among the hits that a leg's threshold cut.
func (c *inquiry) cutByLeg() bool {
	short, cut := c.from.CutByLeg(c.id)
	if cut {
		c.conclude(answer.OutcomeThreshold, "threshold %s: %s", short.Threshold, shortfall(short))
	}
	return cut
}

// cutReranked looks for it among those cut by the score that a reranker gave.
func (c *inquiry) cutReranked() bool {
	thresholds := scoring.Thresholds{Score: c.run.Plan.Threshold.Score}
	short, cut := thresholds.Why(c.set.Uncut, c.id)
	if !cut {
		return false
	}
	at := rank.Key{Source: c.from.Source, ID: c.id}
	c.response.Rerank, c.response.SecondStage = c.set.Reranked[at], c.set.Second[at]
	c.conclude(answer.OutcomeThreshold, "threshold %s: %s", short.Threshold, shortfall(short))
	return true
}

// cutByScore looks for it among those cut by the fused score.
func (c *inquiry) cutByScore() bool {
	for i := range c.from.Ranking {
		f := &c.from.Ranking[i]
		if f.ID() != c.id {
			continue
		}
		c.response.Score, c.response.RawScore = &f.Score, &f.Raw
		c.contributions(f.Legs())
		t := c.run.threshold
		if c.cutByRelevance(f, &t) {
			return true
		}
		thresholds := scoring.Thresholds{Score: t.Score, Relative: t.Relative}
		if short, cut := thresholds.Why(c.from.Ranking, c.id); cut {
			c.conclude(answer.OutcomeThreshold, "threshold %s: %s", short.Threshold, shortfall(short))
			return true
		}
		c.conclude(answer.OutcomeCandidates,
			"the chunk is behind the %d best that make the answer set", c.run.Plan.Candidates)
		return true
	}
	return false
}

// cutByRelevance looks whether the thresholds on relevance cut a chunk of the ranking.
func (c *inquiry) cutByRelevance(f *scoring.Fused, t *plan.Threshold) bool {
	known := c.set.Calibrated.Of(int(c.from.Source), int(f.Index)-c.from.Offset)
	switch all := c.set.Calibrated.Answerable(); {
	case t.Answerable != nil && all != nil && *all < *t.Answerable:
		c.conclude(answer.OutcomeThreshold, "threshold %s: %s", rank.AnswerableThreshold,
			fmt.Sprintf("the answer has %.6g, at least %.6g is asked", *all, *t.Answerable))
	case t.Relevance != nil && known != nil && *known < *t.Relevance:
		c.conclude(answer.OutcomeThreshold, "threshold %s: %s", rank.RelevanceThreshold,
			shortfall(scoring.Cut{Min: *t.Relevance, Best: known}))
	case t.Relevance != nil && !c.from.IsRelevant(known, *t.Relevance):
		c.conclude(answer.OutcomeThreshold, "threshold %s: %s", rank.RelevanceThreshold,
			shortfall(scoring.Cut{Min: *t.Relevance}))
	default:
		return false
	}
	return true
}

func shortfall(cut scoring.Cut) string {
	if cut.Best == nil {
		return fmt.Sprintf("the chunk has no known value there; at least %.6g is asked", cut.Min)
	}
	return fmt.Sprintf("the chunk has %.6g, at least %.6g is asked", *cut.Best, cut.Min)
}

// grouped finds the better chunk that stands for the chunk's document, or for a
// near-duplicate.
func (c *inquiry) grouped() bool {
	switch better, dropped := c.set.Copies[rank.Key{Source: c.from.Source, ID: c.id}]; {
	case !dropped:
	case better.Fields == "":
		c.conclude(answer.OutcomeGrouped, "chunk %q of knowledge base %q, which ranks higher, has the same text or nearly",
			better.ID, c.set.Retrievals[better.Source].KB.ID)
		return true
	case better.Fields == refine.SameSection:
		c.conclude(answer.OutcomeGrouped, "chunk %q, which ranks higher, is in the same section", better.ID)
		return true
	default:
		c.conclude(answer.OutcomeGrouped, "chunk %q, which ranks higher, is alike in %s", better.ID, better.Fields)
		return true
	}
	if c.run.Plan.GroupBy == "" || !c.ranked() {
		return false
	}
	for i := range c.set.Entries {
		e := &c.set.Entries[i]
		if c.set.From(e) == c.from && c.set.Hit(e).DocumentID == c.chunk.DocumentID {
			c.conclude(answer.OutcomeGrouped, "chunk %q, number %d of the answer set, stands for document %q",
				e.ID(), i+1, c.chunk.DocumentID)
			return true
		}
	}
	return false
}

func (c *inquiry) ranked() bool {
	for i := range c.from.Ranking {
		if c.from.Ranking[i].ID() == c.id {
			return true
		}
	}
	return false
}
