package engine

import "context"

// Generations is what an engine offers that can tell whether a knowledge base has
// changed since it was last asked; answers can then be kept.
type Generations interface {
	// Generation names the state of a knowledge base. A search that begins after
	// the call sees that state or a later one. Where two calls give the same text,
	// no search between them could see a change that was acknowledged, whoever
	// made it. Empty: the engine cannot tell, for this knowledge base or now.
	Generation(ctx context.Context, kb *KnowledgeBase) (string, error)
}
