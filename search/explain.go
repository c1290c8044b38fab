package search

import (
	"context"
	"fmt"
	"strings"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/textquery"
)

// Explain tells why a chunk is, or is not, in the answer to a request: it runs
// the same search and follows the chunk through every step of it.
func (s *Searcher) Explain(ctx context.Context, scope access.Scope, req ExplainRequest) (*ExplainResponse, error) {
	if req.ChunkID == "" || len(req.ChunkID) > MaxNameBytes {
		return nil, fault.Invalid("chunk_id", req.ChunkID, "an id of 1 to 256 bytes")
	}
	r, err := s.prepare(ctx, scope, &req.Request)
	if err != nil {
		return nil, err
	}
	set, err := s.answerSet(ctx, r)
	if err != nil {
		return nil, err
	}
	c := &inquiry{searcher: s, run: r, set: set, id: req.ChunkID}
	c.response = &ExplainResponse{ChunkID: req.ChunkID, Plan: *r.plan(), Degraded: set.degraded, Legs: []LegReport{}}
	if err := c.locate(ctx); err != nil {
		return nil, err
	}
	if c.chunk == nil {
		c.conclude(OutcomeMissing, "no knowledge base of the request has a chunk with this id")
		return c.response, nil
	}
	if err := c.legs(ctx); err != nil {
		return nil, err
	}
	c.follow()
	return c.response, nil
}

// inquiry is the search for one chunk's fate.
type inquiry struct {
	searcher *Searcher
	run      *run
	set      *answerSet
	id       string
	answer   *answer // of the knowledge base that holds the chunk
	chunk    *engine.Chunk
	response *ExplainResponse
}

func (c *inquiry) conclude(outcome, format string, args ...any) {
	c.response.Outcome, c.response.Detail = outcome, fmt.Sprintf(format, args...)
}

// locate finds the knowledge base that holds the chunk.
func (c *inquiry) locate(ctx context.Context) error {
	for i := range c.set.answers {
		t := c.set.answers[i].target
		chunks, err := t.engine.Chunks(ctx, engine.ChunksRequest{KB: t.kb, IDs: []string{c.id}, Hidden: true})
		if err != nil {
			return err
		}
		if len(chunks) > 0 {
			c.answer, c.chunk = &c.set.answers[i], &chunks[0]
			c.response.KnowledgeBase, c.response.Method = t.kb.ID, c.answer.method
			return nil
		}
	}
	return nil
}

// legs reports each leg's raw score of the chunk and its true rank, beyond the
// candidates too.
func (c *inquiry) legs(ctx context.Context) error {
	a := c.answer
	for i := range a.legs {
		l := &a.legs[i]
		report := LegReport{Leg: l.Name, Candidates: l.K}
		if l.sends() {
			deep := &engine.Request{KB: a.target.kb, Filter: c.run.question.filterOf(&a.target.kb), Legs: []engine.Leg{{
				Name: l.Name, Field: l.Field, K: MaxCandidates, Text: l.text, Vector: l.vector,
			}}}
			result, err := a.target.engine.Search(ctx, deep)
			if err != nil {
				return err
			}
			report.find(result.Hits, c.id)
		}
		c.response.Legs = append(c.response.Legs, report)
	}
	return nil
}

func (r *LegReport) find(hits []engine.Hit, id string) {
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
		c.found(rank)
		return
	}
	switch {
	case !c.chunk.Available:
		c.conclude(OutcomeHidden, "the chunk is hidden: available is false")
	case c.filtered() != "":
		c.conclude(OutcomeFiltered, "the chunk does not pass the filter: %s", c.filtered())
	case c.cutByLeg(), c.grouped(), c.cutByScore():
	default:
		c.conclude(OutcomeCandidates, "no leg has the chunk among its %d candidates", c.answer.target.plan.Candidates)
	}
}

// rank is the chunk's place in the answer set, from 1; 0 when it is not there.
func (c *inquiry) rank() int {
	for i := range c.set.entries {
		if e := &c.set.entries[i]; e.ID() == c.id && c.set.from(e) == c.answer {
			return i + 1
		}
	}
	return 0
}

func (c *inquiry) found(rank int) {
	e := &c.set.entries[rank-1]
	c.response.Rank, c.response.Score, c.response.RawScore = &rank, &e.Score, &e.Raw
	c.contributions(e.Legs())
	if topK := c.run.plan().TopK; rank > topK {
		c.conclude(OutcomeBeyondTopK, "the chunk is number %d of the answer set; the answer ends at top_k %d", rank, topK)
		return
	}
	c.conclude(OutcomeHit, "the chunk is number %d of the answer", rank)
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
	f := &c.run.question.filter
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
	for _, field := range c.answer.target.kb.FieldsOf(scoring.Text) {
		terms := c.searcher.Analyzer.Terms(c.chunk.FieldText(field))
		for at := 0; at+len(phrase.Terms) <= len(terms); at++ {
			if equal(terms[at:at+len(phrase.Terms)], phrase.Terms) {
				return true
			}
		}
	}
	return false
}

func equal(a, b []string) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// cutByLeg looks for the chunk among the hits that a leg's threshold cut.
func (c *inquiry) cutByLeg() bool {
	a := c.answer
	planned := a.planned()
	thresholds := a.legThresholds().Applicable(planned)
	short, cut := thresholds.Why(a.ranked(planned), a.candidates(thresholds), c.id)
	if cut {
		c.conclude(OutcomeThreshold, "threshold %s: %s", short.Threshold, shortfall(short))
	}
	return cut
}

// cutByScore looks for it among those cut by the fused score.
func (c *inquiry) cutByScore() bool {
	for i := range c.answer.fused {
		f := &c.answer.fused[i]
		if f.ID() != c.id {
			continue
		}
		c.response.Score, c.response.RawScore = &f.Score, &f.Raw
		c.contributions(f.Legs())
		t := c.run.plan().Threshold
		thresholds := scoring.Thresholds{Score: t.Score, Relative: t.Relative}
		if short, cut := thresholds.Why(c.answer.fused, nil, c.id); cut {
			c.conclude(OutcomeThreshold, "threshold %s: %s", short.Threshold, shortfall(short))
			return true
		}
		c.conclude(OutcomeCandidates, "the chunk is behind the %d best that make the answer set", c.run.plan().Candidates)
		return true
	}
	return false
}

func shortfall(cut scoring.Cut) string {
	if cut.Best == nil {
		return fmt.Sprintf("the chunk has no known value there; at least %.6g is asked", cut.Min)
	}
	return fmt.Sprintf("the chunk has %.6g, at least %.6g is asked", *cut.Best, cut.Min)
}

// grouped finds the better chunk that stands for the chunk's document, or for a
// chunk that is alike.
func (c *inquiry) grouped() bool {
	if id, dropped := c.set.copies[chunkOf{c.answer, c.id}]; dropped {
		c.conclude(OutcomeGrouped, "chunk %q, which ranks higher, is alike in %s",
			id, strings.Join(c.run.plan().Distinct, ", "))
		return true
	}
	if c.run.plan().GroupBy == "" || !c.fusedHas() {
		return false
	}
	for i := range c.set.entries {
		e := &c.set.entries[i]
		if c.set.from(e) == c.answer && c.set.hit(e).DocumentID == c.chunk.DocumentID {
			c.conclude(OutcomeGrouped, "chunk %q, number %d of the answer set, stands for document %q",
				e.ID(), i+1, c.chunk.DocumentID)
			return true
		}
	}
	return false
}

func (c *inquiry) fusedHas() bool {
	for i := range c.answer.fused {
		if c.answer.fused[i].ID() == c.id {
			return true
		}
	}
	return false
}
