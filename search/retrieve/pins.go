package retrieve

import (
	"context"
	"maps"
	"math"
	"slices"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/engines"
	"github.com/hybridge-search/hybridge/search/plan"
)

// Filter is the question's filter and excludes what rules hide.
func (t *target) Filter() engine.Filter {
	kept := t.Question.FilterOf(&t.KB)
	if t.Rules == nil {
		return kept
	}
	kept.Except = slices.Sorted(maps.Keys(t.Rules.Chunks))
	if len(t.Rules.Documents) > 0 {
		hidden := filter.Condition{Field: plan.FieldDocumentID, Not: true}
		for _, id := range slices.Sorted(maps.Keys(t.Rules.Documents)) {
			hidden.In = append(hidden.In, filter.Value{V: id})
		}
		kept.Conditions = append(slices.Clip(kept.Conditions), hidden)
	}
	return kept
}

// choosePins decides which of a knowledge base's ranked hits are pinned, before any threshold: for a
// document the best one.
func (rt *Retrieval) choosePins() {
	if rt.Rules == nil || len(rt.Rules.Pins) == 0 {
		return
	}
	rt.Pins, rt.PinnedBy = slices.Clone(rt.Rules.Pins), map[string]string{}
	best, found := map[string]string{}, map[string]bool{} // chunk by document; chunks
	for i := range rt.ranked {
		if rt.ranked[i].Source != rt.Source {
			continue
		}
		hit := &rt.Hits[int(rt.ranked[i].Index)-rt.Offset]
		found[hit.ID] = true
		if best[hit.DocumentID] == "" {
			best[hit.DocumentID] = hit.ID
		}
	}
	for i := range rt.Pins {
		p := &rt.Pins[i]
		switch {
		case p.DocumentID != "":
			rt.show(p, best[p.DocumentID])
		case found[p.ChunkID]:
			rt.show(p, p.ChunkID)
		}
	}
}

// show notes that a pin shows a chunk; the first pin of a chunk has it.
func (rt *Retrieval) show(p *ask.Pin, id string) {
	if p.Shown = id; id != "" && rt.PinnedBy[id] == "" {
		rt.PinnedBy[id] = p.Rule
	}
}

// ReadPins reads the pinned chunks that no leg found, as far as the search may show them, and gives their
// entries by id.
func (rt *Retrieval) ReadPins(ctx context.Context, r *ask.Asked) (map[string]scoring.Fused, error) {
	var ids []string
	for i := range rt.Pins {
		if p := &rt.Pins[i]; p.Shown == "" && p.ChunkID != "" {
			ids = append(ids, p.ChunkID)
		}
	}
	chunks := map[string]*engine.Chunk{}
	if len(ids) > 0 {
		read, err := rt.ReadChunks(ctx, ids)
		if err != nil {
			return nil, err
		}
		for i := range read {
			if r.MayShow(int(rt.Source), &read[i]) {
				chunks[read[i].ID] = &read[i]
			}
		}
	}
	found := len(rt.Hits)
	for i := range rt.Pins {
		p := &rt.Pins[i]
		if p.Shown != "" {
			continue
		}
		chunk := chunks[p.ChunkID]
		if p.DocumentID != "" {
			var err error
			if chunk, err = rt.firstOf(ctx, r, p.DocumentID); err != nil {
				return nil, err
			}
		}
		if chunk != nil && rt.PinnedBy[chunk.ID] == "" {
			rt.show(p, chunk.ID)
			rt.addPinned(chunk)
		}
	}
	return rt.unfound(found), nil
}

// firstOf reads the first chunk of a document that may be shown, nil if there is none.
func (rt *Retrieval) firstOf(ctx context.Context, r *ask.Asked, document string) (*engine.Chunk, error) {
	page := engine.DocumentChunksRequest{KB: rt.KB, DocumentID: document, To: -1, Limit: 1}
	for range neighbourPages {
		read, err := engines.Ask(ctx, rt.Subject, engines.CallDocumentChunks, rt.Engine.DocumentChunks, page)
		if err != nil {
			return nil, err
		}
		for i := range read {
			if r.MayShow(int(rt.Source), &read[i]) {
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

// addPinned adds a chunk to the hits without observations of any leg.
func (rt *Retrieval) addPinned(chunk *engine.Chunk) {
	hit := engine.Hit{
		Candidate:  scoring.Candidate{ID: chunk.ID, Observations: make([]scoring.Observation, len(rt.Legs))},
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
	rt.Hits = append(rt.Hits, hit)
}

// unfound gives the entries of the hits behind those that legs found, by id.
func (rt *Retrieval) unfound(found int) map[string]scoring.Fused {
	candidates := append(make([]scoring.Candidate, rt.Offset), rt.candidates()...)
	var places []int
	for at := rt.Offset + found; at < len(candidates); at++ {
		places = append(places, at)
	}
	entries := make(map[string]scoring.Fused, len(places))
	for _, e := range rt.Plan.Fusion.Unfound(rt.ScoringLegs(), candidates, places) {
		e.Source = rt.Source
		entries[e.ID()] = e
	}
	return entries
}
