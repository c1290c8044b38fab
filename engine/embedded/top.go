package embedded

import "slices"

// scored is a row with its score.
type scored struct {
	row   uint32
	score float64
}

// top keeps the best k rows, by score and then by chunk id. It is a heap with
// the worst of them at its root.
type top struct {
	k       int
	records *records
	heap    []scored
}

func newTop(k, most int, r *records) *top {
	return &top{k: k, records: r, heap: make([]scored, 0, max(0, min(k, most)))}
}

// offer takes a row in when it belongs to the best k so far.
func (t *top) offer(row uint32, score float64) {
	s := scored{row, score}
	switch {
	case len(t.heap) < t.k:
		t.heap = append(t.heap, s)
		t.up(len(t.heap) - 1)
	case t.k > 0 && score >= t.heap[0].score && t.before(s, t.heap[0]):
		t.heap[0] = s
		t.down(0)
	}
}

// before reports whether a stands before b; scores are no NaN.
func (t *top) before(a, b scored) bool {
	if a.score != b.score {
		return a.score > b.score
	}
	return t.records.at(a.row).id < t.records.at(b.row).id
}

func (t *top) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !t.before(t.heap[parent], t.heap[i]) {
			return
		}
		t.heap[i], t.heap[parent] = t.heap[parent], t.heap[i]
		i = parent
	}
}

func (t *top) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(t.heap) {
			return
		}
		if right := child + 1; right < len(t.heap) && t.before(t.heap[child], t.heap[right]) {
			child = right
		}
		if !t.before(t.heap[i], t.heap[child]) {
			return
		}
		t.heap[i], t.heap[child] = t.heap[child], t.heap[i]
		i = child
	}
}

// sorted gives the rows, best first, and empties the heap.
func (t *top) sorted() []scored {
	slices.SortFunc(t.heap, func(a, b scored) int {
		if t.before(a, b) {
			return -1
		}
		return 1 // no row stands twice
	})
	out := t.heap
	t.heap = nil
	return out
}
