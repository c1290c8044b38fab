package engines

import "github.com/hybridge-search/hybridge/engine"

// able gives the engine of a knowledge base as one that can do more than the contract asks; nil if it cannot.
func able[T any](s *Subject) T {
	more, _ := s.Engine.(T)
	return more
}

// Lexicon completes and corrects words; nil if the engine cannot.
func (s *Subject) Lexicon() engine.Lexicon { return able[engine.Lexicon](s) }

// Scanner reads chunks with their vectors; nil if the engine cannot.
func (s *Subject) Scanner() engine.Scanner { return able[engine.Scanner](s) }

// DeferredScorer reads the scores of a page with its chunks; nil if the engine cannot.
func (s *Subject) DeferredScorer() engine.DeferredScorer { return able[engine.DeferredScorer](s) }

// Generations tells the state of the data; nil if the engine cannot.
func (s *Subject) Generations() engine.Generations { return able[engine.Generations](s) }

// Renderer shows the exact statements of a search without running it; nil if the engine sends none to a server.
func (s *Subject) Renderer() Renderer { return able[Renderer](s) }

// Renderer is an engine that sends statements to a server.
type Renderer interface {
	Render(req *engine.Request) ([]engine.Statement, error)
}
