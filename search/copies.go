package search

import (
	"context"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/retrieve"
)

// standIn is the better chunk that stands for a copy.
type standIn struct {
	chunkOf
	fields string // that are alike; empty: the whole text is
}

// sieve is how copies are taken out of a ranking.
type sieve struct {
	// next is how many more entries are looked at; 0: enough are kept.
	next func(kept, seen int) int
	read func(window []scoring.Fused) ([]*engine.Chunk, error)
	// better finds the chunk, of those kept, that stands for an entry.
	better func(e *scoring.Fused, chunk *engine.Chunk) (standIn, bool)
}

// sift takes copies out of the answer set, from its start on, so that the same are taken
// out whichever page is shown.
func (set *answerSet) sift(s *sieve) error {
	if set.copies == nil {
		set.copies = map[chunkOf]standIn{}
	}
	kept := make([]scoring.Fused, 0, len(set.entries))
	rest := set.entries
	for len(rest) > 0 {
		window := rest[:min(s.next(len(kept), len(set.entries)-len(rest)), len(rest))]
		if len(window) == 0 {
			break
		}
		rest = rest[len(window):]
		chunks, err := s.read(window)
		if err != nil {
			return err
		}
		for i := range window {
			if better, copied := s.better(&window[i], chunks[i]); copied {
				set.copies[set.chunkOf(&window[i])] = better
			} else {
				kept = append(kept, window[i])
			}
		}
	}
	kept = append(kept, rest...)
	set.entries = kept
	return nil
}

// fold makes one hit of chunks that have the same text, or nearly, as far as the page
// reaches. What it reads is what the page shows, so it costs no request unless chunks are
// folded. Copies are counted all the same: the answer set is what it was.
func (s *Searcher) fold(ctx context.Context, r *run, set *answerSet) error {
	fold, within := r.Request.Folds()
	if !fold || len(set.entries) < 2 {
		return nil
	}
	shown := min(r.foldReach, len(set.entries))
	set.folded, set.read = map[chunkOf][]scoring.Fused{}, map[chunkOf]*engine.Chunk{}
	var originals []original
	return set.sift(&sieve{
		next: func(kept, seen int) int {
			if kept >= shown || seen >= ask.MaxFolded {
				return 0
			}
			return min(max(r.Reads(shown-kept), seen), ask.MaxFolded-seen) // twice as many each time: few requests
		},
		read: func(window []scoring.Fused) ([]*engine.Chunk, error) { return set.readTexts(ctx, window) },
		better: func(e *scoring.Fused, chunk *engine.Chunk) (standIn, bool) {
			if chunk == nil {
				return standIn{}, false
			}
			text := newShingles(chunkText(chunk))
			for i := range originals {
				o := &originals[i]
				if (within || o.from != set.from(e)) && o.text.standsFor(&text) {
					set.folded[o.chunkOf] = append(set.folded[o.chunkOf], *e)
					return standIn{chunkOf: o.chunkOf}, true
				}
			}
			originals = append(originals, original{set.chunkOf(e), text})
			return standIn{}, false
		},
	})
}

// original is a chunk that may stand for copies.
type original struct {
	chunkOf
	text shingles
}

// readTexts reads chunks as pages do and keeps them. Once some could be read, others that
// cannot are missing, which degrades the answer.
func (set *answerSet) readTexts(ctx context.Context, window []scoring.Fused) ([]*engine.Chunk, error) {
	chunks, err := set.fetchAllowed(ctx, window, (*retrieve.Retrieval).ReadPage)
	refused := fault.Is(err, fault.TooLarge) || fault.Is(err, fault.Overloaded)
	if err != nil && (refused || len(set.read) == 0 || ctx.Err() != nil) {
		return nil, err
	}
	for i := range window {
		set.read[set.chunkOf(&window[i])] = chunks[i]
	}
	return chunks, nil
}

// chunksOf gives what fetch gives, and reads only what is not read yet.
func (set *answerSet) chunksOf(ctx context.Context, entries []scoring.Fused, read reader) ([]*engine.Chunk, error) {
	chunks := make([]*engine.Chunk, len(entries))
	var unread []scoring.Fused
	var places []int
	for i := range entries {
		chunk, known := set.read[set.chunkOf(&entries[i])]
		if chunks[i] = chunk; !known {
			unread, places = append(unread, entries[i]), append(places, i)
		}
	}
	rest, err := set.fetchAllowed(ctx, unread, read)
	if err != nil {
		return nil, err
	}
	for i, at := range places {
		chunks[at] = rest[i]
	}
	return chunks, nil
}

// copiesOf are the chunks that an entry stands for, best first.
func (set *answerSet) copiesOf(entry *scoring.Fused) []answer.Copy {
	var copies []answer.Copy
	for _, folded := range set.folded[set.chunkOf(entry)] {
		hit := set.hit(&folded)
		copies = append(copies, answer.Copy{
			KnowledgeBase: set.from(&folded).KB.ID, ID: hit.ID,
			DocumentID: hit.DocumentID, DocumentName: hit.DocumentName,
		})
	}
	return copies
}

// chunkText is what is compared of a chunk: its content, or the question and the answer.
func chunkText(chunk *engine.Chunk) string {
	if chunk.QA != nil {
		return chunk.Question + "\n" + chunk.Answer
	}
	return chunk.Content
}
