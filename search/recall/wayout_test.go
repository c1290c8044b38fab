package recall

import (
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/evaluation/metric"
)

func TestWayOut(t *testing.T) {
	t.Parallel()
	f := func(of, index string, field Field, want string) {
		t.Helper()
		field.Field, field.Vectors = engine.FieldVector, 7000
		got := wayOut(&engine.KnowledgeBase{VectorIndex: index}, &Report{Engine: of, Fields: []Field{{
			Field: "other", Recall: Share{Interval: metric.Interval{Mean: 1, Low: 1, High: 1}},
		}, field}})
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s %s %+v: %q, want %q", of, index, field, got, want)
		}
	}
	lossy := Share{Interval: metric.Interval{Mean: 0.9, Low: 0.85, High: 0.95}}
	f("postgres", "", Field{Recall: Share{Interval: metric.Interval{Mean: 0.98, Low: 0.96, High: 0.995}}}, "")
	f("postgres", "", Field{Recall: lossy, Depth: 20, ExactMS: 40, ApproximateMS: 4}, "postgres.exact_limit from 7000 on")
	f("elasticsearch", "", Field{Recall: lossy, Depth: 20, ExactMS: 40, ApproximateMS: 4}, "elasticsearch.exact_limit from 7000 on")
	f("elasticsearch", "bbq_hnsw", Field{Recall: lossy, ExactMS: 4000, ApproximateMS: 4}, "vector_index int8_hnsw keeps more")
	f("postgres", "", Field{Recall: lossy, Depth: 20, ExactMS: 4000, ApproximateMS: 4}, "candidates from 40 on")
	f("postgres", "", Field{Recall: lossy, Depth: 1024, ExactMS: 4000, ApproximateMS: 4}, "postgres.exact_limit from 7000 on")
	f("postgres", "", Field{Recall: lossy, Depth: 20, ExactMS: 900, ApproximateMS: 600}, "postgres.exact_limit from 7000 on")
	f("embedded", "", Field{Recall: lossy}, "")
}
