package search

import (
	"context"
	"maps"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/lib/tracing"
	"github.com/hybridge-search/hybridge/rules"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/engines"
	"github.com/hybridge-search/hybridge/search/plan"
)

// filter is the question's, without what rules hide.
func (rt *retrieval) filter() engine.Filter {
	filter := rt.question.FilterOf(&rt.KB)
	if rt.rules == nil {
		return filter
	}
	filter.Except = slices.Sorted(maps.Keys(rt.rules.Chunks))
	if len(rt.rules.Documents) > 0 {
		hidden := engine.Condition{Field: plan.FieldDocumentID, Not: true}
		for _, id := range slices.Sorted(maps.Keys(rt.rules.Documents)) {
			hidden.In = append(hidden.In, engine.Value{V: id})
		}
		filter.Conditions = append(slices.Clip(filter.Conditions), hidden)
	}
	return filter
}

// choosePins says which of a knowledge base's ranked hits are pinned, before any threshold: of a
// document the best one.
func (rt *retrieval) choosePins(ranked []scoring.Fused) {
	if rt.rules == nil || len(rt.rules.Pins) == 0 {
		return
	}
	rt.pins, rt.pinned = slices.Clone(rt.rules.Pins), map[string]string{}
	best, found := map[string]string{}, map[string]bool{} // chunk by document; chunks
	for i := range ranked {
		hit := &rt.Hits[int(ranked[i].Index)-rt.offset]
		found[hit.ID] = true
		if best[hit.DocumentID] == "" {
			best[hit.DocumentID] = hit.ID
		}
	}
	for i := range rt.pins {
		p := &rt.pins[i]
		switch {
		case p.DocumentID != "":
			rt.show(p, best[p.DocumentID])
		case found[p.ChunkID]:
			rt.show(p, p.ChunkID)
		}
	}
}

// show notes that a pin shows a chunk; the first pin of a chunk has it.
func (rt *retrieval) show(p *ask.Pin, id string) {
	if p.Shown = id; id != "" && rt.pinned[id] == "" {
		rt.pinned[id] = p.Rule
	}
}

// isPinned reports whether a rule pins an entry: thresholds do not cut it.
func (set *answerSet) isPinned(entry *scoring.Fused) bool {
	return set.from(entry).pinned[entry.ID()] != ""
}

// pin puts what rules pin before all other entries, in the order of the knowledge bases, rules and
// pins, whatever was found of it. It reads what no leg found, so it knows that the search may
// show it.
func (s *Searcher) pin(ctx context.Context, r *run, set *answerSet) {
	if !r.Pins() {
		return
	}
	ctx, span := tracing.Start(ctx, engines.SpanRules)
	defer span.End(nil)
	for i := range set.retrievals {
		if rt := &set.retrievals[i]; rt.pins == nil {
			rt.choosePins(nil) // its legs had nothing to look for
		}
	}
	found := map[chunkOf]*scoring.Fused{}
	for i := range set.entries {
		if e := &set.entries[i]; set.isPinned(e) {
			found[set.chunkOf(e)] = e
		}
	}
	set.readPins(ctx, r)
	front := make([]scoring.Fused, 0, len(set.entries))
	for i := range set.retrievals {
		rt := &set.retrievals[i]
		unfound := rt.besides()
		placed := map[string]bool{}
		for _, p := range rt.pins {
			if p.Shown == "" || placed[p.Shown] {
				continue
			}
			placed[p.Shown] = true
			if e := found[chunkOf{rt, p.Shown}]; e != nil {
				front = append(front, *e)
			} else if e, read := unfound[p.Shown]; read {
				front = append(front, e)
			}
		}
	}
	for i := range set.entries {
		if e := &set.entries[i]; !set.isPinned(e) {
			front = append(front, *e)
		}
	}
	set.entries = front
}

// inFront is how many entries are pinned: the first ones, once pin has put them there.
func (set *answerSet) inFront() int {
	n := 0
	for n < len(set.entries) && set.isPinned(&set.entries[n]) {
		n++
	}
	return n
}

// readPins reads what is pinned and was not found by any leg, of all knowledge bases at a time.
// Where that fails the answer is without it, and says so.
func (set *answerSet) readPins(ctx context.Context, r *run) {
	var group errgroup.Group
	group.SetLimit(engines.ParallelSubjects)
	failed := make([]error, len(set.retrievals))
	for i := range set.retrievals {
		rt := &set.retrievals[i]
		if rt.Err == nil && slices.ContainsFunc(rt.pins, func(p ask.Pin) bool { return p.Shown == "" }) {
			group.Go(func() error {
				failed[i] = rt.readPins(ctx, r)
				return nil // each has its own error
			})
		}
	}
	_ = group.Wait()
	for i, err := range failed {
		if err != nil {
			set.degraded = append(set.degraded, answer.NewDegraded(answer.StepRules, set.retrievals[i].KB.ID, err))
		}
	}
}

func (rt *retrieval) readPins(ctx context.Context, r *run) error {
	var ids []string
	for i := range rt.pins {
		if p := &rt.pins[i]; p.Shown == "" && p.ChunkID != "" {
			ids = append(ids, p.ChunkID)
		}
	}
	chunks := map[string]*engine.Chunk{}
	if len(ids) > 0 {
		read, err := rt.readChunks(ctx, ids)
		if err != nil {
			return err
		}
		for i := range read {
			if r.MayShow(int(rt.source), &read[i]) {
				chunks[read[i].ID] = &read[i]
			}
		}
	}
	for i := range rt.pins {
		p := &rt.pins[i]
		if p.Shown != "" {
			continue
		}
		chunk := chunks[p.ChunkID]
		if p.DocumentID != "" {
			var err error
			if chunk, err = rt.firstOf(ctx, r, p.DocumentID); err != nil {
				return err
			}
		}
		if chunk != nil && rt.pinned[chunk.ID] == "" {
			rt.show(p, chunk.ID)
			rt.addUnfound(chunk)
		}
	}
	return nil
}

// firstOf reads the first chunk of a document that may be shown, nil where there is none.
func (rt *retrieval) firstOf(ctx context.Context, r *run, document string) (*engine.Chunk, error) {
	page := engine.DocumentChunksRequest{KB: rt.KB, DocumentID: document, To: -1, Limit: 1}
	for range neighbourPages {
		read, err := engines.Ask(ctx, rt.Subject, engines.CallDocumentChunks, rt.Engine.DocumentChunks, page)
		if err != nil {
			return nil, err
		}
		for i := range read {
			if r.MayShow(int(rt.source), &read[i]) {
				return &read[i], nil
			}
		}
		if len(read) < page.Limit || rt.KB.Attach != nil {
			break
		}
		page.After, page.Limit = read[len(read)-1].ID, neighbourPage
	}
	return nil, nil //nolint:nilnil // nothing to show is no failure
}

// addUnfound adds a chunk to the hits of which no leg says anything.
func (rt *retrieval) addUnfound(chunk *engine.Chunk) {
	hit := engine.Hit{
		Candidate:  scoring.Candidate{ID: chunk.ID, Observations: make([]scoring.Observation, len(rt.legs))},
		DocumentID: chunk.DocumentID, DocumentName: chunk.DocumentName, Facets: map[string][]string{},
	}
	for i := range hit.Observations {
		hit.Observations[i].Raw = math.NaN()
	}
	for _, field := range rt.facets() {
		for _, value := range chunk.Values(field) {
			if text, shown := value.Text(); shown && !slices.Contains(hit.Facets[field], text) {
				hit.Facets[field] = append(hit.Facets[field], text)
			}
		}
	}
	rt.unfound = append(rt.unfound, len(rt.Hits))
	rt.Hits = append(rt.Hits, hit)
}

// besides are the entries of the hits that no leg found, by id.
func (rt *retrieval) besides() map[string]scoring.Fused {
	if len(rt.unfound) == 0 {
		return nil
	}
	places := make([]int, len(rt.unfound))
	candidates := make([]scoring.Candidate, rt.offset+len(rt.Hits))
	for i, at := range rt.unfound {
		places[i] = rt.offset + at
		candidates[places[i]] = rt.Hits[at].Candidate
	}
	entries := make(map[string]scoring.Fused, len(places))
	for _, e := range rt.Plan.Fusion.Unfound(rt.scoringLegs(), candidates, places) {
		e.Source = rt.source
		entries[e.ID()] = e
	}
	return entries
}

// appliedRules tells what the rules did. What they hide may be beyond the filter of a key, and is
// not told to one that has any.
func (set *answerSet) appliedRules(r *run) []answer.AppliedRule {
	var all []answer.AppliedRule
	for i := range set.retrievals {
		rt := &set.retrievals[i]
		if rt.rules == nil {
			continue
		}
		for _, rule := range rt.rules.All {
			applied := answer.AppliedRule{
				KnowledgeBase: rt.KB.ID, Rule: rule.Name, Pinned: []string{}, Hidden: []rules.Target{},
			}
			for _, p := range rt.pins {
				if p.Shown != "" && p.Rule == rule.Name && !slices.Contains(applied.Pinned, p.Shown) {
					applied.Pinned = append(applied.Pinned, p.Shown)
				}
			}
			if len(r.Bound) == 0 {
				applied.Hidden = append(applied.Hidden, rule.Hide...)
			}
			all = append(all, applied)
		}
	}
	return all
}
