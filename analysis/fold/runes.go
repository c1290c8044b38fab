package fold

// Runes is an approximate set of folded runes: it tells runes apart by their lowest 12
// bits only. It also holds the common ideographs that fold to a rune of it.
type Runes [1 << 6]uint64

// Add adds a folded rune.
func (s *Runes) Add(t *Table, folded rune) {
	if folded >= firstLonger { // any ideograph of the basic plane may fold to it
		for i := range s {
			s[i] = 1<<64 - 1
		}
		return
	}
	s.set(folded)
	for r := range t.variants(folded) {
		s.set(r)
	}
}

func (s *Runes) set(r rune) { s[r>>6&0x3f] |= 1 << (r & 0x3f) }

// May reports whether a rune, folded or not, may be in the set.
func (s *Runes) May(r rune) bool { return s[r>>6&0x3f]>>(r&0x3f)&1 != 0 }
