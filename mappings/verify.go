package mappings

import (
	"fmt"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// Verify compares a live index with what a knowledge base needs. A different layout,
// kind, analyzer, embedding model or dimension is a fault.Conflict.
func Verify(kb *engine.KnowledgeBase, live *Mappings) error {
	found := live.Meta
	if found == nil || found.Version == 0 {
		return fault.New(fault.Conflict,
			"the index of knowledge base %q was not made by this gateway; attach it, or delete it", kb.ID)
	}
	wanted := meta(kb, found.Tokenizer)
	for _, c := range []struct {
		what          string
		found, wanted any
	}{
		{"layout version", found.Version, wanted.Version},
		{"kind", found.Kind, wanted.Kind},
		{"analyzer", found.Analyzer, wanted.Analyzer},
		{"dimensions", found.Dimensions, wanted.Dimensions},
		{"embedding_model", found.EmbeddingModel, wanted.EmbeddingModel},
	} {
		if c.found != c.wanted {
			return conflict(kb, c.what, c.found, c.wanted)
		}
	}
	return nil
}

func conflict(kb *engine.KnowledgeBase, what string, found, wanted any) error {
	return &fault.Error{
		Kind: fault.Conflict, Field: what,
		Detail: fmt.Sprintf("the index of knowledge base %q has %s %v, the knowledge base says %v; "+
			"delete the knowledge base and write it again", kb.ID, what, found, wanted),
	}
}
