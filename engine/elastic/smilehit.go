package elastic

import "math"

// readPlain reads a hit as nearly every one of a ranking is written in SMILE: with
// nothing but a score, fields of one short string each and scores of clauses, all
// names known by their number. It takes half the time that way. Of any other hit
// it reads nothing.
func (l *hitLists) readPlain(from reader, h *answerHit) (plain bool) {
	r, ok := from.(*smileReader)
	if !ok {
		return false
	}
	values, scores, score := len(l.values), len(l.scores), float32(0)
	rest := plainText(r.text[r.at:])
	rest.begins()
	for !rest.ends() {
		switch rest.name(r.names) {
		case "_score":
			score = rest.score()
		case "fields":
			rest.begins()
			for !rest.ends() {
				l.values = append(l.values, docValue{rest.name(r.names), rest.single()})
			}
		case "matched_queries":
			rest.begins()
			for !rest.ends() {
				l.scores = append(l.scores, clauseScore{rest.name(r.names), rest.score()})
			}
		default:
			rest = ""
		}
	}
	if rest == "" {
		l.values, l.scores = l.values[:values], l.scores[:scores]
		return false
	}
	r.at = len(r.text) - len(rest)
	h.Score, h.Fields, h.Matched = score, l.values[values:], l.scores[scores:]
	return true
}

// plainText is SMILE from a hit on. It becomes empty where the hit is not plain;
// there always is something behind one that is.
type plainText string

// begins goes into an object.
func (t *plainText) begins() {
	if len(*t) > 0 && (*t)[0] == smileObject {
		*t = (*t)[1:]
	} else {
		*t = ""
	}
}

// ends reports whether nothing more is in the object, and leaves it.
func (t *plainText) ends() bool {
	if len(*t) == 0 {
		return true
	}
	if (*t)[0] != smileObjectEnd {
		return false
	}
	*t = (*t)[1:]
	return true
}

// name is one of the first 64.
func (t *plainText) name(names []string) (name string) {
	if len(*t) > 0 {
		if n := int((*t)[0]) - 0x40; n >= 0 && n < min(len(names), 0x40) {
			*t = (*t)[1:]
			return names[n]
		}
	}
	*t = ""
	return ""
}

// score is a float32.
func (t *plainText) score() float32 {
	if len(*t) < 6 || (*t)[0] != smileFloat32 {
		*t = ""
		return 0
	}
	b := (*t)[1:6]
	*t = (*t)[6:]
	return math.Float32frombits(uint32(b[0])<<28 | uint32(b[1])<<21 | uint32(b[2])<<14 | uint32(b[3])<<7 | uint32(b[4]))
}

// single is an array of one string of at most 65 bytes.
func (t *plainText) single() (value string) {
	value, *t = t.cut()
	return value
}

func (t plainText) cut() (string, plainText) {
	if len(t) < 2 || t[0] != smileArray {
		return "", ""
	}
	n := int(t[1])
	switch {
	case n >= 0x40 && n < 0x80: // ASCII
		n -= 0x40 - 1
	case n >= 0x80 && n < 0xC0:
		n -= 0x80 - 2
	default:
		return "", ""
	}
	if len(t) <= n+2 || t[n+2] != smileArrayEnd {
		return "", ""
	}
	return string(t[2 : n+2]), t[n+3:]
}
