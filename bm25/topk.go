package bm25

import (
	"cmp"
	"math"
	"slices"
)

// Hit is a chunk with its BM25 score.
type Hit struct {
	Key   uint32
	Score float32
}

// compareHits orders by score, the highest first, then by key.
func compareHits(a, b Hit) int {
	switch {
	case a.Score > b.Score:
		return -1
	case a.Score < b.Score:
		return 1
	default:
		return cmp.Compare(a.Key, b.Key)
	}
}

// topK keeps the best k hits as a heap with the worst on top. Hits arrive in
// ascending order of keys, so one that equals the worst is not better.
type topK struct {
	k    int
	heap []Hit
}

// threshold is the score that a hit must exceed.
func (t *topK) threshold() float64 {
	if len(t.heap) < t.k {
		return math.Inf(-1)
	}
	return float64(t.heap[0].Score)
}

func (t *topK) push(h Hit) {
	if len(t.heap) < t.k {
		t.heap = append(t.heap, h)
		t.up(len(t.heap) - 1)
		return
	}
	if compareHits(h, t.heap[0]) < 0 {
		t.heap[0] = h
		t.down(0)
	}
}

// worse reports whether hit i is after hit j.
func (t *topK) worse(i, j int) bool {
	a, b := t.heap[i], t.heap[j]
	return a.Score < b.Score || a.Score == b.Score && a.Key > b.Key
}

func (t *topK) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !t.worse(i, parent) {
			return
		}
		t.heap[i], t.heap[parent] = t.heap[parent], t.heap[i]
		i = parent
	}
}

func (t *topK) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(t.heap) {
			return
		}
		if child+1 < len(t.heap) && t.worse(child+1, child) {
			child++
		}
		if !t.worse(child, i) {
			return
		}
		t.heap[i], t.heap[child] = t.heap[child], t.heap[i]
		i = child
	}
}

// sorted empties the heap, best first.
func (t *topK) sorted() []Hit {
	slices.SortFunc(t.heap, compareHits)
	return t.heap
}
