package elastic

import (
	"math"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
)

// meanings are what the names of SMILE mean whose number is one byte, by that byte.
// By them nearly every hit of a ranking is read without looking at a name.
type meanings struct {
	off     bool // hits hold more than meanings tell
	learned int  // so many names
	byToken [1 << 8]meaning
}

// shortSmileNames is how many names have a number of one byte, shortSmileName the
// first of these.
const (
	shortSmileNames = 0x40
	shortSmileName  = 0x40
)

// meaning says which member of a hit, which field and which clause a name is; each
// is 0 where it is none that anybody asks for.
type meaning struct {
	known              bool
	member, field, leg uint8
}

const (
	scoreMember = iota + 1
	fieldsMember
	matchedMember
)

const (
	idMeaning = iota + 1
	documentIDMeaning
	documentNameMeaning
)

// begin prepares for an answer to a plan.
func (m *meanings) begin(p *plan) {
	names := p.t.names
	clear(m.byToken[shortSmileName:][:m.learned])
	m.learned = 0
	m.off = len(p.facets) > 0 || len(p.legs) > math.MaxUint8 || names.ID == "" ||
		names.ID == names.DocumentID || names.ID == names.DocumentName ||
		names.DocumentID == names.DocumentName && names.DocumentID != ""
}

// usable tells whether the names of an answer so far are those of meanings.
func (m *meanings) usable(r *smileReader, p *plan) bool {
	if m.off || r.anew {
		return false
	}
	if m.learned < len(r.names) {
		m.learn(r.names, p)
	}
	return true
}

// learn takes over the names that were read since the last hit.
func (m *meanings) learn(names []string, p *plan) {
	for ; m.learned < min(len(names), shortSmileNames); m.learned++ {
		m.byToken[shortSmileName+m.learned] = p.meaning(names[m.learned])
	}
}

func (p *plan) meaning(name string) meaning {
	of := meaning{known: true}
	switch name {
	case "_score":
		of.member = scoreMember
	case "fields":
		of.member = fieldsMember
	case "matched_queries":
		of.member = matchedMember
	}
	switch name {
	case p.t.names.ID:
		of.field = idMeaning
	case p.t.names.DocumentID:
		of.field = documentIDMeaning
	case p.t.names.DocumentName:
		of.field = documentNameMeaning
	}
	for i := range p.legs {
		if p.legs[i].name == name {
			of.leg = uint8(i + 1)
		}
	}
	return of
}

// notPlain is where a hit goes on that is not plain.
const notPlain = -1

// readPlain reads a hit as nearly every one of a ranking is written in SMILE: with
// nothing but a score, fields of one short string each and scores of clauses, all
// names known by their number. Any other hit it leaves to read.
func (h *rankedHits) readPlain(r *smileReader, hit *engine.Hit, score *float32, points []float32) (plain bool) {
	m := &h.meanings
	if !m.usable(r, h.p) {
		return false
	}
	var texts hitTexts
	var total float32
	text := r.text
	at := begin(text, r.at)
	for !ends(text, at) {
		switch m.byToken[text[at]].member {
		case scoreMember:
			total, at = plainScore(text, at+1)
		case fieldsMember:
			at = m.fields(text, begin(text, at+1), &texts)
		case matchedMember:
			at = m.points(text, begin(text, at+1), points)
		default:
			at = notPlain
		}
	}
	if at = behind(text, at); at == notPlain {
		return false
	}
	r.at, *score = at, total
	*hit = engine.Hit{
		Candidate:  scoring.Candidate{ID: texts[idMeaning]},
		DocumentID: texts[documentIDMeaning], DocumentName: texts[documentNameMeaning],
	}
	return true
}

// hitTexts are those of a hit by their meaning; the first is of what nobody asks for.
type hitTexts [1 + documentNameMeaning]string

// fields reads fields up to the end of their object, and gives the place behind it.
func (m *meanings) fields(text string, at int, texts *hitTexts) int {
	for !ends(text, at) {
		name := m.byToken[text[at]]
		to := &texts[name.field&(idMeaning|documentIDMeaning|documentNameMeaning)]
		if !name.known || *to != "" && name.field > 0 {
			return notPlain
		}
		*to, at = plainString(text, at+1)
	}
	return behind(text, at)
}

// points reads the scores of clauses like fields.
func (m *meanings) points(text string, at int, points []float32) int {
	for !ends(text, at) {
		name := m.byToken[text[at]]
		score, next := plainScore(text, at+1)
		if !name.known {
			return notPlain
		}
		if leg := int(name.leg) - 1; leg >= 0 && leg < len(points) {
			if !math.IsNaN(float64(points[leg])) {
				return notPlain
			}
			points[leg] = score
		}
		at = next
	}
	return behind(text, at)
}

// begin goes into an object.
func begin(text string, at int) int {
	if at >= len(text) || text[at] != smileObject {
		return notPlain
	}
	return at + 1
}

// ends reports whether an object is over, or the hit not plain.
func ends(text string, at int) bool {
	return uint(at) >= uint(len(text)) || text[at] == smileObjectEnd
}

// behind leaves an object that is over.
func behind(text string, at int) int {
	if uint(at) >= uint(len(text)) {
		return notPlain
	}
	return at + 1
}

// plainScore is a float32.
func plainScore(text string, at int) (score float32, next int) {
	if len(text)-at < 6 || text[at] != smileFloat32 {
		return 0, notPlain
	}
	b := text[at+1 : at+6]
	bits := uint32(b[0])<<28 | uint32(b[1])<<21 | uint32(b[2])<<14 | uint32(b[3])<<7 | uint32(b[4])
	return math.Float32frombits(bits), at + 6
}

// plainString is an array of one string of at most 65 bytes, which is not empty.
func plainString(text string, at int) (value string, next int) {
	if len(text)-at < 2 || text[at] != smileArray {
		return "", notPlain
	}
	n := int(text[at+1])
	switch {
	case n >= 0x40 && n < 0x80: // ASCII
		n -= 0x40 - 1
	case n >= 0x80 && n < 0xC0:
		n -= 0x80 - 2
	default:
		return "", notPlain
	}
	value, next = text[at+2:], at+n+3
	if len(value) <= n || value[n] != smileArrayEnd {
		return "", notPlain
	}
	return value[:n], next
}
