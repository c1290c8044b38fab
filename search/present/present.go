package present

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/lib/tracing"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/engines"
	"github.com/hybridge-search/hybridge/search/rank"
	"github.com/hybridge-search/hybridge/search/refine"
	"github.com/hybridge-search/hybridge/search/retrieve"
)

// Presenter makes a page of the ranking.
type Presenter struct {
	Asker     ask.Asker
	Sentences *Sentences
}

// Present cuts the page out of the answer set and reads its chunks.
func (s *Presenter) Present(
	ctx context.Context, r *ask.Asked, set *refine.Set, took *answer.Timings,
) (_ *answer.Response, err error) {
	ctx, span := tracing.Start(ctx, engines.SpanPresent)
	defer func() { span.End(err) }()
	response := &answer.Response{
		QueryID:   answer.NewQueryID(),
		Preset:    r.Plan.Preset,
		Engine:    EngineNames(r.Subjects),
		Total:     answer.Total{Value: len(set.Counted), Relation: "eq", Folded: len(set.Counted) - len(set.Entries)},
		Documents: set.DocumentCounts(),
		Facets:    set.FacetCounts(r.Request.Facets),
		Relaxed:   set.Relaxed,
		MergedBy:  set.MergedBy,

		Answerable: set.Calibrated.Answerable(),
		Language:   r.Question.Language,
	}
	if set.More {
		response.Total.Relation = "gte"
	}
	if len(set.Entries) > 0 {
		response.MaxScore = set.MaxScore()
	} else {
		response.Empty, response.EmptyReason = whyEmpty(set, r)
	}
	from, to := r.Page(min(r.Plan.TopK, len(set.Entries)))
	page := set.Entries[from:to]
	chunks, err := set.ReadChunks(ctx, page, (*retrieve.Retrieval).ReadPage)
	if err != nil {
		return nil, err
	}
	started := time.Now()
	marks := s.newMarker(r, set)
	if response.Hits, err = hitsOf(ctx, set, page, chunks, marks); err != nil {
		return nil, err
	}
	if err := s.showNearest(ctx, r, response.Hits, marks); err != nil {
		set.Degraded = append(set.Degraded, answer.NewDegraded(answer.StepHighlight, "", err))
	}
	took.Highlight = answer.Milliseconds(time.Since(started))
	if r.Request.Neighbours > 0 {
		if err := s.addNeighbours(ctx, r, response.Hits, set.Bytes); err != nil {
			return nil, err
		}
	}
	if r.Request.Explain {
		response.Explain = explanation(set, r)
	}
	response.Degraded = set.Degraded
	response.Timings = *took
	return response, nil
}

// EngineNames is the engine of all knowledge bases, or several.
func EngineNames(subjects []engines.Subject) string {
	name := subjects[0].Engine.Name()
	for _, other := range subjects[1:] {
		if other.Engine.Name() != name {
			return "several"
		}
	}
	return name
}

// hitsOf joins scores and contents. A chunk deleted between ranking and reading
// is skipped.
func hitsOf(
	ctx context.Context, set *refine.Set, page []scoring.Fused, chunks []*engine.Chunk, m *marker,
) ([]answer.Hit, error) {
	hits := make([]answer.Hit, 0, len(page))
	sources := make([]int, 0, len(page))
	legs := scoring.Explain(page)
	for i, chunk := range chunks {
		if chunk == nil {
			continue
		}
		hits = append(hits, newHit(set, &page[i], chunk, legs[i]))
		sources = append(sources, int(page[i].Source))
	}
	return hits, m.mark(ctx, hits, sources, set.Bytes)
}

func newHit(set *refine.Set, entry *scoring.Fused, chunk *engine.Chunk, legs []scoring.Contribution) answer.Hit {
	rt := set.From(entry)
	rt.Deferred.FillIn(chunk.ID, legs)
	hit := answer.Hit{
		ID: chunk.ID, DocumentID: chunk.DocumentID, DocumentName: chunk.DocumentName,
		KnowledgeBase: rt.KB.ID, Ordinal: chunk.Ordinal, Title: chunk.Title, Content: chunk.Content,
		ImportantKeywords: chunk.ImportantKeywords, Questions: chunk.Questions,
		Score: entry.Score, RawScore: entry.Raw, Positions: chunk.Positions, Metadata: chunk.Metadata,
		Legs: legs, Copies: set.CopiesOf(entry), QA: chunk.QA, Diversity: set.Diversity[set.Key(entry)],
		Rerank: set.Reranked[set.Key(entry)], Parent: set.Parents[set.Key(entry)],
	}
	if rule := rt.PinnedBy[chunk.ID]; rule != "" {
		hit.Pinned = &answer.Pinned{Rule: rule}
	}
	if set.Boosts != nil {
		hit.Boost = &set.Boosts[entry.Source]
	}
	if hit.Positions == nil {
		hit.Positions = [][]float64{}
	}
	if hit.Metadata == nil {
		hit.Metadata = map[string]any{}
	}
	hit.VectorSimilarity, hit.TermSimilarity = rt.Similarities(legs)
	if hit.SecondStage = set.Second[set.Key(entry)]; hit.SecondStage != nil {
		hit.TermSimilarity = &hit.SecondStage.Words
	}
	hit.Language = rt.LanguageOf(chunk)
	at := int(entry.Index) - rt.Offset
	rt.TellEvidence(at, legs)
	hit.Relevance = set.Calibrated.OfShown(int(entry.Source), at, legs, hit.Language)
	return hit
}

// The reasons for an answer without hits, for programs.
const (
	emptyRelevance = "nothing_relevant" // no chunk answers the question
	emptyThreshold = "threshold"        // every candidate was cut
	emptyWords     = "words"            // the query has no words to search
	emptyFilter    = "filter"           // no chunk that matches passes
	emptyMatch     = "match"            // no chunk matches
)

// whyEmpty explains an empty answer, by a code and a sentence.
func whyEmpty(set *refine.Set, r *ask.Asked) (code, why string) {
	switch {
	case set.Dropped[rank.AnswerableThreshold]+set.Dropped[rank.RelevanceThreshold] > 0:
		return emptyRelevance, "nothing here answers that: " + listCounts(set.Dropped)
	case len(set.Dropped) > 0:
		return emptyThreshold, "every candidate was cut by a threshold: " + listCounts(set.Dropped)
	case r.Request.Everything:
		return emptyFilter, "no chunk passes the filter"
	case len(r.Question.Parsed.Terms) == 0 && !r.Question.HasVector():
		return emptyWords, "the query has no searchable words"
	case r.Question.Restricts(), r.Hides():
		return emptyFilter, "no chunk passes the filter and matches the query"
	default:
		return emptyMatch, "no chunk matches the query"
	}
}

func listCounts(counts map[string]int) string {
	list := make([]string, 0, len(counts))
	for name, n := range counts {
		list = append(list, fmt.Sprintf("%s cut %d", name, n))
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// explanation explains the whole answer.
func explanation(set *refine.Set, r *ask.Asked) *answer.Explain {
	account := &answer.Explain{
		Plan: *r.Plan, Known: set.Known, Methods: map[string]string{}, Cut: maps.Clone(set.Dropped),
		Weights:     []answer.WeightAccount{},
		SynonymsCut: r.Vocabulary(0).Cut, Queries: r.Request.Queries, Rules: set.AppliedRules(r),
	}
	for i := range set.Retrievals {
		rt := &set.Retrievals[i]
		account.Methods[rt.KB.ID] = rt.Method
		if a := set.Calibrated.Account(i); a != nil {
			a.KnowledgeBase = rt.KB.ID
			account.Relevance = append(account.Relevance, *a)
		}
		account.Weights = append(account.Weights, rt.Weights()...)
		for l := range rt.Legs {
			if account.Query == nil && rt.Legs[l].Text != nil {
				account.Query = rt.Legs[l].Text
			}
		}
	}
	return account
}
