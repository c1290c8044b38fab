package histories_test

import (
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/hybridge-search/hybridge/internal/histories"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// historyOf is what the clients of a plan see of a store.
func historyOf(t *testing.T, m *memory) *histories.History {
	t.Helper()
	h := histories.NewHistory("memory", m.plan)
	h.Run(t.Context(), 60, m)
	m.silent = 0
	h.Settle(t.Context(), m)
	return h
}

// What is right is accepted, also where many operations got no answer.
func TestRightHistories(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		m := newMemory(histories.Usual(seed))
		m.silent = []int{0, 20}[seed%2]
		h := historyOf(t, m)
		violations, undecided := h.Check()
		for _, v := range violations {
			t.Error(v.Text)
		}
		if undecided > 0 {
			t.Errorf("seed %d: %d chunks are undecided; want undecided 0", seed, undecided)
		}
	}
}

func TestFaultsAreFound(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*memory){
		"patches are written back":         func(m *memory) { m.rewrite = true },
		"deleted chunks come back":         func(m *memory) { m.revives = true },
		"a write is acknowledged and lost": func(m *memory) { m.loses = 40 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(20) {
				m := newMemory(histories.Usual(seed))
				spoil(m)
				if violations, _ := historyOf(t, m).Check(); len(violations) > 0 {
					readable(t, &violations[0])
					return
				}
			}
			t.Error("20 histories of a store with this fault are accepted")
		})
	}
}

// readable looks at what is told of a wrong chunk.
func readable(t *testing.T, v *histories.Violation) {
	t.Helper()
	for _, want := range []string{"memory, seed ", histories.ChunkID(v.Chunk), "client ", " ms"} {
		if !strings.Contains(v.Text, want) {
			t.Errorf("no %q in\n%s", want, v.Text)
		}
	}
	name, err := v.Draw(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if page, err := os.ReadFile(name); err != nil || !strings.Contains(string(page), "<html") {
		t.Errorf(`the page has %d bytes, %v; want no error and "<html" in it`, len(page), err)
	}
	t.Log(v.Text)
}

// The same seed gives the same operations, another others.
func TestSeeds(t *testing.T) {
	t.Parallel()
	told := func(seed uint64) string {
		m := newMemory(histories.Plan{Seed: seed, Clients: 1, Documents: 2, Own: 3, Shared: 1})
		h := histories.NewHistory("memory", m.plan)
		h.Run(t.Context(), 30, m)
		return h.String()
	}
	if first, again := told(7), told(7); first != again || first == told(8) {
		t.Error("a seed is no history")
	}
}
