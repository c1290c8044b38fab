package bm25

import (
	"math"
	"slices"
)

// phraseMatcher computes how often a phrase occurs in a chunk.
type phraseMatcher struct {
	slop    int
	places  []place
	repeats [][]*place // places of the same word, by offset; only words used twice
	end     int        // the highest adjusted position of all places
}

// place is one word of the phrase moving over its positions in the chunk, as
// Lucene's PhrasePositions.
type place struct {
	offset    int // of the word in the phrase
	word      int // index of the distinct word
	positions []uint32
	next      int
	at        int // position less offset: equal for all places in an exact match
	queued    bool
}

// newPhraseMatcher takes the distinct word at each offset.
func newPhraseMatcher(words []int, slop int) *phraseMatcher {
	m := &phraseMatcher{slop: slop}
	for i, w := range words {
		m.places = append(m.places, place{offset: i, word: w})
	}
	for i, w := range words {
		if slices.Index(words, w) < i || !slices.Contains(words[i+1:], w) {
			continue
		}
		var same []*place
		for j := i; j < len(words); j++ {
			if words[j] == w {
				same = append(same, &m.places[j])
			}
		}
		m.repeats = append(m.repeats, same)
	}
	return m
}

// uses is how many places of the phrase a distinct word has.
func (m *phraseMatcher) uses(word int) (n uint32) {
	for i := range m.places {
		if m.places[i].word == word {
			n++
		}
	}
	return n
}

// freq is the phrase's frequency, given the positions of each distinct word.
func (m *phraseMatcher) freq(positions [][]uint32) float32 {
	for i := range m.places {
		p := &m.places[i]
		p.positions, p.next = positions[p.word], 0
	}
	if m.slop == 0 {
		return m.exact()
	}
	return m.sloppy()
}

// exact counts the places where every word is at its offset.
func (m *phraseMatcher) exact() float32 {
	count := 0
	for _, start := range m.places[0].positions {
		if m.followed(start) {
			count++
		}
	}
	return float32(count)
}

// followed reports whether the words after the first follow a start, which only
// grows from call to call.
func (m *phraseMatcher) followed(start uint32) bool {
	for i := 1; i < len(m.places); i++ {
		p := &m.places[i]
		want := start + uint32(p.offset)
		for p.next < len(p.positions) && p.positions[p.next] < want {
			p.next++
		}
		if p.next == len(p.positions) || p.positions[p.next] != want {
			return false
		}
	}
	return true
}

// sloppy is Lucene's SloppyPhraseMatcher: Σ 1/(1+distance) over the matches that
// are locally shortest. Repeated words follow its rule too: two places of one
// word never stand on the same position.
func (m *phraseMatcher) sloppy() float32 {
	if !m.start() {
		return 0
	}
	freq := float32(0)
	for more := true; more; {
		var length int
		length, more = m.nextMatch()
		if length <= m.slop {
			freq += 1 / (1 + float32(length))
		}
	}
	return freq
}

// start puts every place on its first position, places of a repeated word on
// successive ones.
func (m *phraseMatcher) start() bool {
	m.end = math.MinInt
	for i := range m.places {
		m.places[i].step()
	}
	for _, group := range m.repeats {
		for j, p := range group {
			if !p.steps(j) {
				return false
			}
		}
	}
	for i := range m.places {
		m.places[i].queued = true
		m.end = max(m.end, m.places[i].at)
	}
	return true
}

// nextMatch gives the length of the next match; it is over the slop when there
// is none, and more is false when no further one can follow.
func (m *phraseMatcher) nextMatch() (length int, more bool) {
	p := m.pop()
	length = m.end - p.at
	next := m.lowest().at
	for m.advance(p) && m.separate(p) {
		if p.at <= next { // the match gets no longer
			length = min(length, m.end-p.at)
			continue
		}
		p.queued = true
		if length <= m.slop {
			return length, true
		}
		p = m.pop()
		next = m.lowest().at
		length = m.end - p.at
	}
	return length, false
}

// step moves to the next position.
func (p *place) step() bool {
	if p.next == len(p.positions) {
		return false
	}
	p.at = int(p.positions[p.next]) - p.offset
	p.next++
	return true
}

// steps moves n positions on.
func (p *place) steps(n int) bool {
	for range n {
		if !p.step() {
			return false
		}
	}
	return true
}

func (m *phraseMatcher) advance(p *place) bool {
	if !p.step() {
		return false
	}
	m.end = max(m.end, p.at)
	return true
}

// separate moves places of p's word on until none stands where another does.
func (m *phraseMatcher) separate(p *place) bool {
	group := m.groupOf(p)
	for other := collision(group, p); other != nil; other = collision(group, p) {
		if other.before(p) {
			p = other
		}
		if !m.advance(p) {
			return false
		}
	}
	return true
}

func (m *phraseMatcher) groupOf(p *place) []*place {
	for _, group := range m.repeats {
		if group[0].word == p.word {
			return group
		}
	}
	return nil
}

// collision finds another place of the group on p's position.
func collision(group []*place, p *place) *place {
	for _, other := range group {
		if other != p && other.at+other.offset == p.at+p.offset {
			return other
		}
	}
	return nil
}

func (p *place) before(o *place) bool {
	return p.at < o.at || p.at == o.at && p.offset < o.offset
}

// lowest is the first place in the queue. Phrases are short: a scan is a queue.
func (m *phraseMatcher) lowest() *place {
	var low *place
	for i := range m.places {
		if p := &m.places[i]; p.queued && (low == nil || p.before(low)) {
			low = p
		}
	}
	return low
}

func (m *phraseMatcher) pop() *place {
	p := m.lowest()
	p.queued = false
	return p
}
