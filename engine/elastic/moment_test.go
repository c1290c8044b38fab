package elastic_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic"
	"github.com/hybridge-search/hybridge/engine/enginetest"
	"github.com/hybridge-search/hybridge/internal/devservices"
)

// olderEngine makes indices as they were before times were kept as moments: without the mark, and with
// documents that have none.
type olderEngine struct {
	*elastic.Engine
	t      *testing.T
	prefix string
}

func (e *olderEngine) CreateKnowledgeBase(ctx context.Context, kb engine.KnowledgeBase) error {
	if err := e.Engine.CreateKnowledgeBase(ctx, kb); err != nil {
		return err
	}
	unmark(e.t, e.prefix)
	return nil
}

func (e *olderEngine) Write(ctx context.Context, req engine.WriteRequest) ([]engine.WriteOutcome, error) {
	outcomes, err := e.Engine.Write(ctx, req)
	forgetMoments(e.t, e.prefix)
	return outcomes, err
}

// unmark takes the mark off all indices.
func unmark(t *testing.T, prefix string) {
	t.Helper()
	server := devservices.Elasticsearch(t)
	var indices map[string]struct {
		Mappings struct {
			Meta map[string]any `json:"_meta"`
		} `json:"mappings"`
	}
	if err := json.Unmarshal(ask(t, "GET", server+"/"+prefix+"-*/_mapping", ""), &indices); err != nil {
		t.Fatal(err)
	}
	for name, index := range indices {
		if index.Mappings.Meta["moments"] == nil {
			continue
		}
		delete(index.Mappings.Meta, "moments")
		body, err := json.Marshal(map[string]any{"_meta": index.Mappings.Meta})
		if err != nil {
			t.Fatal(err)
		}
		ask(t, "PUT", server+"/"+name+"/_mapping", string(body))
	}
}

// forgetMoments takes the moments out of all documents.
func forgetMoments(t *testing.T, prefix string) {
	t.Helper()
	url := devservices.Elasticsearch(t) + "/" + prefix + "-*/_update_by_query?refresh&conflicts=proceed"
	ask(t, "POST", url, `{"query": {"exists": {"field": "meta"}}, "script": {"source":
		"ctx._source.meta.keySet().removeIf(key -> key.startsWith('%moments'))"}}`)
}

// TestIndicesOfBefore: indices that were made before moments were kept give the same answers.
func TestIndicesOfBefore(t *testing.T) {
	t.Parallel()
	enginetest.Run(t, enginetest.Harness{
		New: func(t *testing.T) engine.Engine {
			e, prefix := open(t)
			return &olderEngine{e, t, prefix}
		},
		Only: []string{"data/moments", "data/written", "data/qa", "data/filter", "random/filters", "signals/hits"},
	})
}
