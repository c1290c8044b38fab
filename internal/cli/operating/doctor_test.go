package operating

import (
	"slices"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine/elastic"
)

// TestDoctorMindsWatermarks where the cluster does.
func TestDoctorMindsWatermarks(t *testing.T) {
	t.Parallel()
	f := func(path elastic.PathExamination, want ...string) {
		t.Helper()
		now := time.Now()
		node := elastic.NodeExamination{Name: "one", Paths: []elastic.PathExamination{path}, Clock: now}
		var states []string
		for _, one := range nodeFindings(&elastic.Examination{Nodes: []elastic.NodeExamination{node}}, now) {
			states = append(states, one.State)
		}
		if !slices.Equal(states, want) {
			t.Errorf("%+v: %v, want %v", path, states, want)
		}
	}
	f(elastic.PathExamination{Free: 4 << 20, Low: 3 << 20, Flood: 1 << 20})
	f(elastic.PathExamination{Free: 2 << 20, Low: 3 << 20, Flood: 1 << 20}, isWarning)
	f(elastic.PathExamination{Free: 0, Low: 3 << 20, Flood: 1 << 20}, isProblem)
	f(elastic.PathExamination{Free: 0}) // the cluster does not mind
}
