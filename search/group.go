package search

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/retrieve"
)

// group keeps the first, which is the best, chunk of each document.
func (set *answerSet) group() {
	seen := make(map[documentKey]bool, len(set.entries))
	var kept []scoring.Fused
	for i := range set.entries {
		e := &set.entries[i]
		if document := set.document(e); !seen[document] {
			seen[document] = true
			kept = append(kept, *e)
		}
	}
	set.entries = kept
}

// dropCopies drops every chunk for which a better one of its knowledge base is alike
// in all of the plan's Distinct fields. Only chunks that share their document with
// others are read, a window at a time, until there are candidates enough.
func (s *Searcher) dropCopies(ctx context.Context, r *run, set *answerSet) error {
	plan := r.Plan
	if len(plan.Distinct) == 0 {
		return nil
	}
	shared := set.sharedDocuments()
	best := make(map[string]string, len(set.entries)) // id by likeness
	fields := strings.Join(plan.Distinct, ", ")
	return set.sift(&sieve{
		next: func(kept, _ int) int {
			if kept > plan.Candidates {
				return 0
			}
			return plan.Candidates
		},
		read: func(window []scoring.Fused) ([]*engine.Chunk, error) {
			chunks, err := set.fetch(ctx, set.among(window, shared), (*retrieve.Retrieval).ReadChunks)
			if err != nil {
				return nil, err
			}
			all := make([]*engine.Chunk, len(window))
			for i := range window {
				if shared[set.document(&window[i])] {
					all[i], chunks = chunks[0], chunks[1:]
				}
			}
			return all, nil
		},
		better: func(e *scoring.Fused, chunk *engine.Chunk) (standIn, bool) {
			likeness := likeness(e, chunk, plan.Distinct)
			id, copied := best[likeness]
			if !copied {
				best[likeness] = e.ID()
			}
			return standIn{chunkOf: chunkOf{set.from(e), id}, fields: fields}, copied
		},
	})
}

// sharedDocuments are those with more than one chunk in the ranking.
func (set *answerSet) sharedDocuments() map[documentKey]bool {
	shared := make(map[documentKey]bool, len(set.entries))
	for i := range set.entries {
		document := set.document(&set.entries[i])
		_, again := shared[document]
		shared[document] = again
	}
	return shared
}

// among gives the entries of these documents.
func (set *answerSet) among(window []scoring.Fused, documents map[documentKey]bool) []scoring.Fused {
	var those []scoring.Fused
	for i := range window {
		if documents[set.document(&window[i])] {
			those = append(those, window[i])
		}
	}
	return those
}

// likeness is equal for chunks of a knowledge base that are alike in the fields. A
// chunk that was not read is like no other.
func likeness(e *scoring.Fused, chunk *engine.Chunk, fields []string) string {
	var b strings.Builder
	b.WriteString(strconv.Itoa(int(e.Source)))
	if chunk == nil {
		return b.String() + strconv.Quote(e.ID())
	}
	for _, field := range fields {
		b.WriteByte(' ')
		for _, text := range fieldValues(chunk, field) {
			b.WriteString(strconv.Quote(text))
		}
	}
	return b.String()
}

// fieldValues are the texts of a field as it was written.
func fieldValues(chunk *engine.Chunk, field string) []string {
	switch {
	case field == engine.FieldQuestion && chunk.QA != nil:
		return []string{chunk.Question}
	case field == engine.FieldAnswer && chunk.QA != nil:
		return []string{chunk.Answer}
	case field == engine.FieldText:
		return []string{chunk.Title, chunk.Content}
	}
	var texts []string
	for _, v := range chunk.Values(field) {
		texts = append(texts, fmt.Sprint(v.V))
	}
	return texts
}
