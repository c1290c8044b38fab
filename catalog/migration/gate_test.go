package migration

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

func TestJudge(t *testing.T) {
	f := func(gate engine.MappingGate, passed bool, cases ...gateCase) {
		t.Helper()
		if got := judge(&gate, cases); got.Passed != passed {
			t.Errorf("%+v: %+v, want passed %t", gate, got, passed)
		}
	}
	same := gateCase{[]string{"a", "b"}, []string{"b", "a"}, nil}
	half := gateCase{[]string{"a", "b"}, []string{"a", "c"}, nil}
	empty := gateCase{}
	f(engine.MappingGate{}, true, same, empty)
	f(engine.MappingGate{}, false, half)
	f(engine.MappingGate{MinOverlap: 0.5}, true, half)
	// Judged: the best hit falls from rank 1 to rank 2, nDCG from 1 to 1/log2(3).
	worse := gateCase{[]string{"a", "b"}, []string{"b", "a"}, map[string]int{"a": 1}}
	f(engine.MappingGate{}, false, worse)
	f(engine.MappingGate{MaxLoss: 0.4}, true, worse)
	other := gateCase{[]string{"a"}, []string{"x", "a"}[1:], map[string]int{"a": 1}}
	f(engine.MappingGate{}, true, other)
	// Where some are judged, the others still have to find the same; a list that is shorter now is another one.
	f(engine.MappingGate{}, false, other, half)
	f(engine.MappingGate{}, false, gateCase{[]string{"a", "b"}, []string{"a"}, nil})
	better := gateCase{worse.after, worse.before, worse.relevant}
	f(engine.MappingGate{}, true, better)
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

// TestAGateWithoutAnswersFails: it does not wait for a missing leg as long as for an
// engine that is away.
func TestAGateWithoutAnswersFails(t *testing.T) {
	asked := 0
	r := &run{
		Service: &Service{Options: Options{
			Patience: 50 * time.Millisecond,
			Answer: func(context.Context, engine.KnowledgeBase, engine.Engine, string, int) ([]string, error) {
				asked++
				return nil, fault.New(fault.Unavailable, "no vector leg")
			},
		}},
		m: &engine.Migration{},
	}
	_, err := r.search(t.Context(), engine.KnowledgeBase{}, nil, "q")
	if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "no vector leg") || asked == 0 {
		t.Errorf("asked %d times: %v, want conflict with the reason", asked, err)
	}
}
