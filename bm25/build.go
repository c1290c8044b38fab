package bm25

import (
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/fault"
)

// Limits of one segment; they keep every count in 32 bits.
const (
	maxSegmentTokens = 1 << 31
	maxSegmentText   = 1 << 32
)

// Doc is one analysed chunk. Key is the caller's row number; Tokens in their
// order, a token's position being its index.
type Doc struct {
	Key    uint32
	Tokens []string
}

// buildSegment inverts the chunks: every token gets a number, the occurrences are
// sorted by that number with one counting sort, and each term is encoded.
func buildSegment(docs []Doc, o Options) (*segment, error) {
	keys, lengths := make([]uint32, len(docs)), make([]uint32, len(docs))
	total := 0
	for i, d := range docs {
		keys[i], lengths[i] = d.Key, uint32(len(d.Tokens))
		total += len(d.Tokens)
		if total >= maxSegmentTokens {
			return nil, fault.New(fault.TooLarge, "a batch has over %d tokens", maxSegmentTokens)
		}
	}
	seg, ok := newSegment(o.Variant, keys, lengths)
	if !ok {
		return nil, fault.New(fault.TooLarge, "a batch has over %d distinct lengths", 1<<16)
	}
	words := intern(docs, total)
	if words.bytes >= maxSegmentText {
		return nil, fault.New(fault.TooLarge, "the distinct tokens of a batch take over %d bytes", uint64(maxSegmentText))
	}
	enc := newEncoder(seg, !o.WithoutPositions)
	words.encode(enc, lengths)
	return enc.finish(), nil
}

// vocabulary is the distinct tokens of a batch in order of appearance.
type vocabulary struct {
	texts  []string
	counts []uint32 // occurrences of each
	stream []uint32 // the token numbers of all chunks, one after the other
	bytes  uint64   // of all texts
}

func intern(docs []Doc, total int) *vocabulary {
	v := &vocabulary{stream: make([]uint32, 0, total)}
	ids := make(map[string]uint32)
	for _, d := range docs {
		for _, token := range d.Tokens {
			id, known := ids[token]
			if !known {
				id = uint32(len(v.texts))
				ids[token] = id
				v.texts = append(v.texts, token)
				v.counts = append(v.counts, 0)
				v.bytes += uint64(len(token))
			}
			v.counts[id]++
			v.stream = append(v.stream, id)
		}
	}
	return v
}

// occurrence is a place of a token: ordinal in the high half, position in the low.
type occurrence uint64

func (o occurrence) ordinal() uint32  { return uint32(o >> 32) }
func (o occurrence) position() uint32 { return uint32(o) }

// scatter sorts the occurrences by token number; those of number i end at ends[i].
func (v *vocabulary) scatter(lengths []uint32) (occurrences []occurrence, ends []uint32) {
	occurrences = make([]occurrence, len(v.stream))
	ends = make([]uint32, len(v.texts))
	sum := uint32(0)
	for i, n := range v.counts {
		ends[i] = sum // the start, until all are in place
		sum += n
	}
	rest := v.stream
	for ord, n := range lengths {
		for pos, id := range rest[:n] {
			occurrences[ends[id]] = occurrence(uint64(ord)<<32 | uint64(pos))
			ends[id]++
		}
		rest = rest[n:]
	}
	return occurrences, ends
}

// encode writes every term in the order of its text.
func (v *vocabulary) encode(enc *encoder, lengths []uint32) {
	occurrences, ends := v.scatter(lengths)
	order := make([]uint32, len(v.texts))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return strings.Compare(v.texts[a], v.texts[b]) })
	var positions []uint32
	for _, id := range order {
		list := occurrences[ends[id]-v.counts[id] : ends[id]]
		for len(list) > 0 {
			ord := list[0].ordinal()
			positions = positions[:0]
			for len(list) > 0 && list[0].ordinal() == ord {
				positions = append(positions, list[0].position())
				list = list[1:]
			}
			enc.add(ord, uint32(len(positions)), positions)
		}
		enc.endTerm([]byte(v.texts[id]))
	}
}
