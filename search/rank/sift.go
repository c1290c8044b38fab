package rank

import (
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
)

// Sieve removes near-duplicates from a ranking.
type Sieve struct {
	// next is how many more entries are examined; 0: enough are kept.
	Next func(kept, seen int) int
	Read func(window []scoring.Fused) ([]*engine.Chunk, error)
	// better finds the kept chunk that replaces an entry.
	Better func(e *scoring.Fused, chunk *engine.Chunk) (StandIn, bool)
}

// Sift removes near-duplicates from the answer set, from its start on, so that the same are
// removed whichever page is shown.
func (set *Ranked) Sift(s *Sieve) error {
	if set.Copies == nil {
		set.Copies = map[Key]StandIn{}
	}
	kept := make([]scoring.Fused, 0, len(set.Entries))
	rest := set.Entries
	for len(rest) > 0 {
		window := rest[:min(s.Next(len(kept), len(set.Entries)-len(rest)), len(rest))]
		if len(window) == 0 {
			break
		}
		rest = rest[len(window):]
		chunks, err := s.Read(window)
		if err != nil {
			return err
		}
		for i := range window {
			if better, copied := s.Better(&window[i], chunks[i]); copied {
				set.Copies[set.Key(&window[i])] = better
			} else {
				kept = append(kept, window[i])
			}
		}
	}
	kept = append(kept, rest...)
	set.Entries = kept
	return nil
}
