package elastic_test

import (
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/devservices"
)

// TestAFullDiskIsATrouble sets the block that Elasticsearch gives an index when a disk is full.
func TestAFullDiskIsATrouble(t *testing.T) {
	t.Parallel()
	e, prefix := open(t)
	kb := engine.KnowledgeBase{
		Ref: engine.Ref{Tenant: "t", ID: "kb"}, Engine: "elasticsearch", Kind: engine.KindChunks, Analyzer: engine.AnalyzerJieba,
	}
	chunk := engine.Chunk{ID: "a", DocumentID: "d", Available: true, Content: "a refund"}
	create(t, e, kb, chunk)
	for _, full := range []bool{true, false} {
		devservices.FullDisk(t, devservices.Elasticsearch(t), prefix+"-kb-*", full)
		stored, err := e.KnowledgeBase(t.Context(), kb.Ref)
		if err != nil {
			t.Fatal(err)
		}
		outcomes, err := e.Write(t.Context(), engine.WriteRequest{KB: stored, Chunks: []engine.Chunk{chunk}})
		if err == nil {
			err = outcomes[0].Err
		}
		troubles := e.Troubles()
		if fault.Is(err, fault.DiskFull) != full || (len(troubles) == 1) != full ||
			full && troubles[0].Code != engine.DiskFull {
			t.Errorf("full %v: %v, troubles %+v", full, err, troubles)
		}
	}
}
