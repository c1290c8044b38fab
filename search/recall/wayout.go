package recall

import (
	"fmt"
	"slices"

	"github.com/hybridge-search/hybridge/engine"
)

// good is the recall below which something is to be done.
const good = 0.99

// coarse are the vector indexes of Elasticsearch that keep less of a vector than int8_hnsw.
var coarse = []string{"int4_hnsw", "bbq_hnsw"}

// An exact answer is affordable up to so many milliseconds, or up to so many times the time of an
// approximate one.
const (
	affordable = 250
	dearer     = 4
)

// widest is the number of hits beyond which more let no index look further: PostgreSQL walks its graph for 500.
const widest = 500

// wayOut names the setting that would mend the worst field; empty where none needs it.
func wayOut(kb *engine.KnowledgeBase, r *Report) (detail string) {
	worst := -1
	for i := range r.Fields {
		if high := r.Fields[i].Recall.High; high < good && (worst < 0 || high < r.Fields[worst].Recall.High) {
			worst = i
		}
	}
	if worst < 0 {
		return ""
	}
	f := &r.Fields[worst]
	dear := f.ExactMS > affordable && f.ExactMS > dearer*f.ApproximateMS
	switch {
	case slices.Contains(coarse, kb.VectorIndex):
		return fmt.Sprintf("%s: vector_index int8_hnsw keeps more of each vector than %s does (hybridge mappings plan "+
			"--vector-index int8_hnsw)", f.Field, kb.VectorIndex)
	case dear && f.Depth < widest:
		return fmt.Sprintf("%s: candidates from %d on let the index look further than for %d; comparing every vector, "+
			"which vector_index none does, took %.0f ms here beside %.0f ms",
			f.Field, 2*f.Depth, f.Depth, f.ExactMS, f.ApproximateMS)
	case r.Engine == "elasticsearch":
		return fmt.Sprintf("%s: elasticsearch.exact_limit from %d on compares every vector, which took %.0f ms here beside "+
			"%.0f ms; so does vector_index none, for this knowledge base alone", f.Field, f.Vectors, f.ExactMS, f.ApproximateMS)
	case r.Engine == "postgres":
		return fmt.Sprintf("%s: postgres.exact_limit from %d on compares every vector, which took %.0f ms here beside "+
			"%.0f ms; so does vector_index none, for this knowledge base alone", f.Field, f.Vectors, f.ExactMS, f.ApproximateMS)
	default:
		return ""
	}
}
