package refine

import (
	"context"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/rank"
	"github.com/hybridge-search/hybridge/search/retrieve"
)

// Fold makes one hit of chunks that have the same text, or nearly, as far as the page
// reaches. It reads only what the page shows, so it costs no request unless chunks are
// folded. Near-duplicates still count: the answer set is unchanged.
func (s *Refiner) Fold(ctx context.Context, r *ask.Asked, set *Set, reach int) error {
	acrossBases, withinBase := r.Request.Folds()
	if !acrossBases || len(set.Entries) < 2 {
		return nil
	}
	shown := min(reach, len(set.Entries))
	set.Folded, set.read = map[rank.Key][]scoring.Fused{}, map[rank.Key]*engine.Chunk{}
	var originals []rank.Original
	return set.Sift(&rank.Sieve{
		Next: func(kept, seen int) int {
			if kept >= shown || seen >= ask.MaxFolded {
				return 0
			}
			return min(max(r.Reads(shown-kept), seen), ask.MaxFolded-seen) // twice as many each time: few requests
		},
		Read: func(window []scoring.Fused) ([]*engine.Chunk, error) { return set.readTexts(ctx, window) },
		Better: func(e *scoring.Fused, chunk *engine.Chunk) (rank.StandIn, bool) {
			if chunk == nil {
				return rank.StandIn{}, false
			}
			text := rank.NewShingles(rank.ChunkText(chunk))
			for i := range originals {
				o := &originals[i]
				if (withinBase || o.Source != e.Source) && o.Text.StandsFor(&text) {
					set.Folded[o.Key] = append(set.Folded[o.Key], *e)
					return rank.StandIn{Key: o.Key}, true
				}
			}
			originals = append(originals, rank.Original{Key: set.Key(e), Text: text})
			return rank.StandIn{}, false
		},
	})
}

// readTexts reads chunks as pages do and caches them. Once some could be read, any others that
// cannot are missing, which degrades the answer.
func (set *Set) readTexts(ctx context.Context, window []scoring.Fused) ([]*engine.Chunk, error) {
	chunks, err := set.fetchAllowed(ctx, window, (*retrieve.Retrieval).ReadPage)
	refused := fault.Is(err, fault.TooLarge) || fault.Is(err, fault.Overloaded)
	if err != nil && (refused || len(set.read) == 0 || ctx.Err() != nil) {
		return nil, err
	}
	for i := range window {
		set.read[set.Key(&window[i])] = chunks[i]
	}
	return chunks, nil
}

// ReadChunks is a reader that fetches only chunks not read yet.
func (set *Set) ReadChunks(ctx context.Context, entries []scoring.Fused, read Reader) ([]*engine.Chunk, error) {
	chunks := make([]*engine.Chunk, len(entries))
	var unread []scoring.Fused
	var places []int
	for i := range entries {
		chunk, known := set.read[set.Key(&entries[i])]
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

// CopiesOf gives the chunks folded into an entry, best first.
func (set *Set) CopiesOf(entry *scoring.Fused) []answer.Copy {
	var copies []answer.Copy
	for _, folded := range set.Folded[set.Key(entry)] {
		hit := set.Hit(&folded)
		copies = append(copies, answer.Copy{
			KnowledgeBase: set.From(&folded).KB.ID, ID: hit.ID,
			DocumentID: hit.DocumentID, DocumentName: hit.DocumentName,
		})
	}
	return copies
}
