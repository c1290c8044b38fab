package bm25

import (
	"bytes"
	"hash/maphash"
	"math/bits"
)

// dictionary is the sorted list of distinct terms, without pointers.
type dictionary struct {
	text  []byte
	ends  []uint32 // end of each term in text
	slots []uint32 // a term's index plus 1, at its hash or behind it, 0 in a free slot; none for few terms
}

func (d *dictionary) len() int { return len(d.ends) }

// at is the i-th term; the bytes are the dictionary's own.
func (d *dictionary) at(i int) []byte {
	start := uint32(0)
	if i > 0 {
		start = d.ends[i-1]
	}
	return d.text[start:d.ends[i]]
}

func (d *dictionary) append(term []byte) {
	d.text = append(d.text, term...)
	d.ends = append(d.ends, uint32(len(d.text)))
}

// dictionarySeed seeds the hashes of terms.
var dictionarySeed = maphash.MakeSeed()

// hashed is from how many terms on they are found by their hashes.
const hashed = 64

// index hashes the terms, when they are many and complete. A question's words are looked
// up in memory that other work has pushed out of the processor's caches, where a binary
// search would read a dozen places for each.
func (d *dictionary) index() {
	if d.len() < hashed {
		return
	}
	d.slots = make([]uint32, 1<<bits.Len(uint(2*d.len())))
	for i := range d.len() {
		at := d.slot(maphash.Bytes(dictionarySeed, d.at(i)))
		for d.slots[at] != 0 {
			at = d.slot(uint64(at) + 1)
		}
		d.slots[at] = uint32(i + 1)
	}
}

func (d *dictionary) slot(hash uint64) int { return int(hash & uint64(len(d.slots)-1)) }

// find gives the index of a term, or -1.
func (d *dictionary) find(term string) int {
	if len(d.slots) == 0 {
		return d.halve(term)
	}
	at := d.slot(maphash.String(dictionarySeed, term))
	for ; d.slots[at] != 0; at = d.slot(uint64(at) + 1) {
		if i := int(d.slots[at] - 1); string(d.at(i)) == term {
			return i
		}
	}
	return -1
}

// halve is find by binary search.
func (d *dictionary) halve(term string) int {
	if i := d.lowerBound(term); i < len(d.ends) && string(d.at(i)) == term {
		return i
	}
	return -1
}

// lowerBound is the index of the first term that does not come before this one.
func (d *dictionary) lowerBound(term string) int {
	lo, hi := 0, len(d.ends)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if string(d.at(mid)) < term {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// dictionaryWalk visits the terms of several dictionaries in ascending order.
type dictionaryWalk struct {
	dicts   []*dictionary
	at      []int // per dictionary, the next term's index
	term    []byte
	holders []int
}

func newDictionaryWalk(views []*view) *dictionaryWalk {
	w := &dictionaryWalk{at: make([]int, len(views))}
	for _, v := range views {
		w.dicts = append(w.dicts, &v.seg.dict)
	}
	return w
}

// next moves to the lowest term not yet visited and gives the dictionaries that
// hold it, at index at[i]-1; false behind the last term.
func (w *dictionaryWalk) next() (holders []int, ok bool) {
	w.holders = w.holders[:0]
	for i, d := range w.dicts {
		if w.at[i] == d.len() {
			continue
		}
		term := d.at(w.at[i])
		order := -1
		if len(w.holders) > 0 {
			order = bytes.Compare(term, w.term)
		}
		if order < 0 {
			w.term, w.holders = term, w.holders[:0]
		}
		if order <= 0 {
			w.holders = append(w.holders, i)
		}
	}
	for _, i := range w.holders {
		w.at[i]++
	}
	return w.holders, len(w.holders) > 0
}
