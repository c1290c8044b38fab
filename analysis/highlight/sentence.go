package highlight

import "strings"

// Sentence is the byte range of a sentence in a text, without surrounding white space.
type Sentence struct{ Start, End int }

// minSentence is the length in bytes from which a sentence is meaningful by itself: eight
// ideographs, or a few English words. A shorter one, such as a heading, goes with the next.
const minSentence = 24

// Sentences splits a text where fragments begin, into at most limit sentences, or runs of
// them of about one length: all of the text is covered.
func Sentences(text string, limit int) []Sentence {
	least := max(minSentence, (len(text)+limit-1)/limit)
	c := cutter{text: text}
	var all []Sentence
	start := 0
	for i := 1; i <= len(text); i++ {
		ends := i == len(text) || c.mayEnd(i) && c.endsSentence(i) && c.cuttable(i)
		if !ends || i < len(text) && i-start < least {
			continue
		}
		s := trimmed(text, Sentence{start, i})
		switch {
		case s.Start == s.End:
		case i-start < least && len(all) > 0:
			all[len(all)-1].End = s.End
		default:
			all = append(all, s)
		}
		start = i
	}
	return all
}

func trimmed(text string, s Sentence) Sentence {
	part := text[s.Start:s.End]
	s.Start += len(part) - len(strings.TrimLeft(part, white))
	s.End -= len(part) - len(strings.TrimRight(part, white))
	return Sentence{s.Start, max(s.Start, s.End)}
}

const white = " \t\r\n\u3000"
