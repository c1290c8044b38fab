package migration

import (
	"math"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
)

func TestJudge(t *testing.T) {
	f := func(gate engine.MappingGate, passed bool, both ...answers) {
		t.Helper()
		if got := judge(&gate, both); got.Passed != passed {
			t.Errorf("%+v: %+v, want passed %t", gate, got, passed)
		}
	}
	same := answers{[]string{"a", "b"}, []string{"b", "a"}, nil}
	half := answers{[]string{"a", "b"}, []string{"a", "c"}, nil}
	empty := answers{}
	f(engine.MappingGate{}, true, same, empty)
	f(engine.MappingGate{}, false, half)
	f(engine.MappingGate{MinOverlap: 0.5}, true, half)
	// Judged: the best hit falls from rank 1 to rank 2, nDCG from 1 to 1/log2(3).
	worse := answers{[]string{"a", "b"}, []string{"b", "a"}, map[string]int{"a": 1}}
	f(engine.MappingGate{}, false, worse)
	f(engine.MappingGate{MaxLoss: 0.4}, true, worse)
	other := answers{[]string{"a"}, []string{"x", "a"}[1:], map[string]int{"a": 1}}
	f(engine.MappingGate{}, true, other)
}

func TestNDCG(t *testing.T) {
	f := func(found []string, gains map[string]int, want float64) {
		t.Helper()
		if got := ndcg(found, gains, 10); math.Abs(got-want) > 1e-12 {
			t.Errorf("%v: %v, want %v", found, got, want)
		}
	}
	gains := map[string]int{"a": 3, "b": 1}
	f([]string{"a", "b"}, gains, 1)
	f([]string{"b", "a"}, gains, (1+3/math.Log2(3))/(3+1/math.Log2(3)))
	f([]string{"x"}, gains, 0)
	f(nil, nil, 0)
}
