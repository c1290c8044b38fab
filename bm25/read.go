package bm25

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/bits"

	"github.com/cespare/xxhash/v2"

	"github.com/hybridge-search/hybridge/fault"
)

// errDamaged is why a part was not accepted; callers see it as fault.Corrupt.
var errDamaged = errors.New("the content contradicts itself")

// Read makes an index of what WriteTo wrote. The index keeps parts of data, which
// must not be changed afterwards. The checksum is verified first and everything
// is then checked again while it is read: damage is Corrupt. An index of another
// format, fingerprint or choice of positions is a Conflict: build it anew.
func Read(data []byte, o Options) (*Index, error) {
	if err := verify(data); err != nil {
		return nil, err
	}
	r := &reader{rest: data[len(magic)+1 : len(data)-padding]}
	x := &Index{opts: o.withDefaults()}
	flags := r.byte()
	fingerprint := r.take(r.uint())
	switch {
	case r.bad:
		return nil, corrupt(errDamaged)
	case string(fingerprint) != o.Fingerprint:
		return nil, fault.New(fault.Conflict, "the index was built for %q, not for %q", fingerprint, o.Fingerprint)
	case (flags&withPositions == 0) != o.WithoutPositions:
		return nil, fault.New(fault.Conflict, "the index was built with another choice of positions")
	}
	x.nextKey = r.uint()
	var views []*view
	lowest := uint64(0)
	for range r.count(1) {
		v := r.view(x.opts, lowest)
		if r.bad || v == nil {
			return nil, corrupt(errDamaged)
		}
		lowest = uint64(v.seg.keys[len(v.seg.keys)-1]) + 1
		views = append(views, v)
	}
	if r.bad || len(r.rest) > 0 || lowest > x.nextKey || x.nextKey > 1<<32 {
		return nil, corrupt(errDamaged)
	}
	x.publish(views)
	return x, nil
}

func corrupt(err error) error {
	return fault.Wrap(fault.Corrupt, err, "the stored BM25 index is damaged")
}

// verify checks the frame: magic, checksum, version.
func verify(data []byte) error {
	const frame = len(magic) + 2 + padding
	if len(data) < frame || string(data[:len(magic)]) != magic {
		return corrupt(errors.New("it does not begin like an index"))
	}
	body, sum := data[:len(data)-padding], data[len(data)-padding:]
	if xxhash.Sum64(body) != binary.LittleEndian.Uint64(sum) {
		return corrupt(errors.New("its checksum is wrong"))
	}
	if v := data[len(magic)]; v != formatVersion {
		return fault.New(fault.Conflict, "the index has format %d; this program reads format %d", v, formatVersion)
	}
	return nil
}

// reader takes values off the front of rest; after the first bad one it gives
// zeros and bad is set.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) fail() {
	r.bad = true
	r.rest = nil
}

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *reader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

// take gives the next n bytes, nil when there are fewer.
func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.fail()
		return nil
	}
	out := r.rest[:n:n]
	r.rest = r.rest[n:]
	return out
}

// count reads a number of items that take at least size bytes each.
func (r *reader) count(size int) int {
	n := r.uint()
	if n > uint64(len(r.rest)/size) {
		r.fail()
		return 0
	}
	return int(n)
}

func (r *reader) view(o Options, lowest uint64) *view {
	n := r.count(2)
	tokens := r.uint()
	keys, lengths := r.chunks(n, lowest)
	deleted := r.deleted(n)
	if r.bad || n == 0 {
		return nil
	}
	s, ok := newSegment(o.Variant, keys, lengths)
	if !ok || s.tokens != tokens || tokens >= maxSegmentTokens {
		return nil
	}
	r.terms(s)
	widths := r.take(3 * uint64(len(s.blocks)))
	s.postings = r.take(r.uint())
	s.positions = r.take(r.uint())
	if o.WithoutPositions {
		if len(s.positions) > 0 {
			return nil
		}
		s.positions = nil
	}
	if r.bad || !(&restorer{seg: s, widths: widths}).restore() {
		return nil
	}
	return newDeletedView(s, deleted)
}

func (r *reader) chunks(n int, lowest uint64) (keys, lengths []uint32) {
	keys, lengths = make([]uint32, n), make([]uint32, n)
	next := uint64(0)
	for i := range keys {
		gap, length := r.uint(), r.uint()
		key := next + gap
		if gap > 1<<32 || key < lowest || key >= 1<<32 || length >= maxSegmentTokens {
			r.fail()
			return nil, nil
		}
		keys[i], lengths[i] = uint32(key), uint32(length)
		next = key + 1
	}
	return keys, lengths
}

// deleted reads the bits of the deleted chunks, of which not all n may be.
func (r *reader) deleted(n int) (words []uint64) {
	if r.uint() == 0 {
		return nil
	}
	packed := r.take(uint64((n + 63) / 64 * 8))
	live := n
	for ; len(packed) > 0; packed = packed[8:] {
		word := binary.LittleEndian.Uint64(packed)
		words = append(words, word)
		live -= bits.OnesCount64(word)
	}
	if used := n & 63; used > 0 && len(words) > 0 && words[len(words)-1]>>used != 0 {
		r.fail()
	}
	if live <= 0 {
		r.fail()
	}
	return words
}

// terms reads the dictionary and the document frequencies, and makes room for
// the blocks they need.
func (r *reader) terms(s *segment) {
	n := r.count(3)
	wanted := r.count(3)
	s.dict.ends = make([]uint32, 0, n)
	s.terms = make([]termEntry, 0, n+1)
	blocks := 0
	var term, prev []byte
	for i := range n {
		shared := r.uint()
		suffix := r.take(r.uint())
		df := r.uint()
		if r.bad || shared > maxShared || shared > uint64(len(prev)) || df == 0 || df > uint64(len(s.keys)) {
			r.fail()
			return
		}
		term = append(append(term[:0], prev[:shared]...), suffix...)
		if i > 0 && bytes.Compare(prev, term) >= 0 || len(s.dict.text)+len(term) >= maxSegmentText {
			r.fail()
			return
		}
		s.dict.append(term)
		prev = s.dict.at(i)
		s.terms = append(s.terms, termEntry{df: uint32(df), first: uint32(blocks)})
		blocks += (int(df) + blockSize - 1) / blockSize
	}
	if blocks != wanted {
		r.fail()
		return
	}
	s.dict.index()
	s.terms = append(s.terms, termEntry{first: uint32(blocks)})
	s.blocks = make([]block, blocks)
}
