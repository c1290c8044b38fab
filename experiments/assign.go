package experiments

import (
	"crypto/sha256"
	"encoding/binary"
)

// separator stands between the parts of a hash's input; no id has it.
const separator = 0x1f

// onStack is how many bytes of an id and a unit are hashed without memory of the heap.
const onStack = 256

// Assign says whether a unit, the key of a user or of a session, takes part, and which variant it gets: the same on
// every gateway and at any time, as it depends on nothing but the experiment's id, its traffic and shares, and the
// unit. The variant is nil where mode is interleave, which asks both.
//
// The first 64 bits of SHA-256(id, unit) decide about taking part, the next 64 about the variant, so more traffic
// moves nobody from one variant to another, and neither depends on what the unit gets in experiments of other ids
// (hashing as in Kohavi, Tang, Xu, "Trustworthy Online Controlled Experiments", 2020, chapter 4, and Tang et al.,
// "Overlapping Experiment Infrastructure", KDD 2010).
func (e *Experiment) Assign(unit string) (variant *Variant, in bool) {
	sum := e.hash(unit, "")
	if uniform(sum[0:8]) >= e.Traffic {
		return nil, false
	}
	if e.Mode == Interleave {
		return nil, true
	}
	at, upTo := uniform(sum[8:16]), 0.0
	for i := range e.Variants {
		upTo += e.Variants[i].Share
		if at < upTo {
			return &e.Variants[i], true
		}
	}
	return &e.Variants[len(e.Variants)-1], true // shares may add up to a little less than 1
}

// Seed is the seed of TeamDraft for a unit's question: the same for every page of it.
func (e *Experiment) Seed(unit, query string) uint64 {
	sum := e.hash(unit, query)
	return binary.BigEndian.Uint64(sum[16:24]) // bits that Assign does not look at
}

// hash is SHA-256 of the id, the length of the unit, the unit and the query, so that no two triples are one text.
func (e *Experiment) hash(unit, query string) [sha256.Size]byte {
	var stack [onStack]byte
	text := append(stack[:0], e.ID...)
	text = append(text, separator)
	text = binary.BigEndian.AppendUint64(text, uint64(len(unit)))
	text = append(text, unit...)
	text = append(text, query...)
	return sha256.Sum256(text)
}

// uniform makes a number in [0, 1) of 8 bytes, of 2^53 that are equally far apart.
func uniform(b []byte) float64 { return float64(binary.BigEndian.Uint64(b)>>11) / (1 << 53) }
