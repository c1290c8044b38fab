package refine

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/rank"
	"github.com/hybridge-search/hybridge/search/retrieve"
)

// Small chunks are found more easily, and larger ones answer better. With ReturnParent a hit brings
// its section along: the chunks beside it in its document that have the same parent_id in their
// metadata or, without one, the same title. Chunks of one section become one hit, the best of
// them.

const (
	// metadataParent names the section of a chunk, if titles do not.
	metadataParent = "parent_id"
	// parentRunes is the maximum length of a returned section, in characters.
	parentRunes = 4_000
	// ParentReach is how many chunks before and after a hit are considered.
	ParentReach = 32
)

// SameSection is the value of standIn.fields for chunks merged into a section.
const SameSection = "section"

// section is the section of a chunk: the document, and the key that its chunks share.
type section struct {
	source        int32
	document, key string
}

func sectionOf(source int32, c *engine.Chunk) section {
	key := "title " + c.Title
	for _, v := range c.Values(metadataParent) {
		if id, ok := v.V.(string); ok {
			key = "parent " + id
		}
	}
	return section{source, c.DocumentID, key}
}

// Gather merges the chunks of a section into one hit, as far as the answer reaches: the same on
// every page.
func (s *Refiner) Gather(ctx context.Context, r *ask.Asked, set *Set) error {
	if !r.ReturnsParents() || len(set.Entries) == 0 {
		return nil
	}
	shown := min(r.Plan.TopK, len(set.Entries))
	if set.read == nil {
		set.read = map[rank.Key]*engine.Chunk{}
	}
	set.Parents = map[rank.Key]*answer.Parent{}
	known := map[section][]rank.Key{} // the hits that have a part of it
	read := map[rank.Key]*answer.Parent{}
	return set.Sift(&rank.Sieve{
		Next: func(kept, seen int) int {
			if kept >= shown || seen >= ask.MaxFolded {
				return 0
			}
			return min(max(shown-kept, seen), ask.MaxFolded-seen)
		},
		Read: func(window []scoring.Fused) ([]*engine.Chunk, error) {
			chunks, err := set.readTexts(ctx, window)
			if err != nil {
				return nil, err
			}
			parents, err := readSections(ctx, r, set, window, chunks)
			for i := range parents {
				read[set.Key(&window[i])] = parents[i]
			}
			return chunks, err
		},
		Better: func(e *scoring.Fused, chunk *engine.Chunk) (rank.StandIn, bool) {
			own := set.Key(e)
			if chunk == nil || read[own] == nil {
				return rank.StandIn{}, false
			}
			in := sectionOf(own.Source, chunk)
			child := answer.Child{ID: chunk.ID, Ordinal: chunk.Ordinal, Score: e.Score}
			for _, first := range known[in] {
				if p := set.Parents[first]; p.From <= chunk.Ordinal && chunk.Ordinal <= p.To {
					p.Children = append(p.Children, child)
					return rank.StandIn{Key: first, Fields: SameSection}, true
				}
			}
			known[in] = append(known[in], own)
			set.Parents[own] = read[own]
			set.Parents[own].Children = []answer.Child{child}
			return rank.StandIn{}, false
		},
	})
}

// readSections reads the sections of chunks at the same time.
func readSections(
	ctx context.Context, r *ask.Asked, set *Set, window []scoring.Fused, chunks []*engine.Chunk,
) ([]*answer.Parent, error) {
	parents := make([]*answer.Parent, len(window))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(retrieve.ParallelReads)
	for i, chunk := range chunks {
		if chunk == nil || chunk.QA != nil { // a pair is complete
			continue
		}
		rt := set.From(&window[i])
		group.Go(func() error {
			around, err := retrieve.Around(ctx, r, int(rt.Source), engine.DocumentChunksRequest{
				DocumentID: chunk.DocumentID, From: chunk.Ordinal - ParentReach, To: chunk.Ordinal + ParentReach,
			})
			if err != nil {
				return err
			}
			parents[i] = parentOf(rt.Source, chunk, around)
			return set.Bytes.Take(len(parents[i].Content))
		})
	}
	return parents, group.Wait()
}

// parentOf joins a chunk with the neighbours in its section, nearest first, as long
// as they fit.
func parentOf(source int32, chunk *engine.Chunk, around []engine.Chunk) *answer.Parent {
	own := sectionOf(source, chunk)
	around = slices.DeleteFunc(around, func(c engine.Chunk) bool { return c.ID == chunk.ID })
	slices.SortStableFunc(around, func(a, b engine.Chunk) int { return cmp.Compare(a.Ordinal, b.Ordinal) })
	place := func(c engine.Chunk, ordinal int) int { return cmp.Compare(c.Ordinal, ordinal) }
	at, _ := slices.BinarySearchFunc(around, chunk.Ordinal, place)
	room := parentRunes - utf8.RuneCountInString(chunk.Content)
	low, high := at, at // around[low:high] are taken, with the chunk among them
	fits := func(i int) bool {
		if i < 0 || i >= len(around) || sectionOf(source, &around[i]) != own {
			return false
		}
		size := 2 + utf8.RuneCountInString(around[i].Content)
		if size > room {
			return false
		}
		room -= size
		return true
	}
	before, after := true, true
	for before || after {
		if before = before && fits(low-1); before {
			low--
		}
		if after = after && fits(high); after {
			high++
		}
	}
	p := &answer.Parent{Title: chunk.Title, From: chunk.Ordinal, To: chunk.Ordinal}
	texts := make([]string, 0, high-low+1)
	for i := low; i < high; i++ {
		if i == at {
			texts = append(texts, chunk.Content)
		}
		texts = append(texts, around[i].Content)
		p.From, p.To = min(p.From, around[i].Ordinal), max(p.To, around[i].Ordinal)
	}
	if high == at {
		texts = append(texts, chunk.Content)
	}
	p.Content = strings.Join(texts, "\n\n")
	return p
}
