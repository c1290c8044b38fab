package answer

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sentence is one of an answer: prose, a heading, an item of a list, or a whole block of code.
type Sentence struct {
	Text      string `json:"text" doc:"With the white space that follows it and without its citations: joined, the texts are the answer. It is a model's text, which is no HTML."`
	Citations []int  `json:"citations" nullable:"false" doc:"Numbers of its sources, each once."`
	Cited     bool   `json:"cited" doc:"Whether there are any. What is not cited may be made up."`
}

// cutter cuts an answer into sentences as it arrives.
type cutter struct {
	sources  int    // numbers from 1 to this are sources
	room     int    // bytes of the answer that are still taken
	text     string // the text not told yet
	thinking bool
	begun    bool
	full     bool // more arrived than there was room for
}

// add takes what arrived and gives the sentences that are complete; final says that nothing follows. What they are
// does not depend on how the text was split on its way.
func (c *cutter) add(text string, final bool) (complete []Sentence) {
	if c.begun {
		c.text += c.bounded(text)
	} else if c.text += text; c.begins(final) {
		c.text, c.begun = c.bounded(c.text), true
	} else {
		return nil
	}
	for c.text != "" {
		end := firstEnd(c.text, final)
		if end == 0 {
			break
		}
		s := cite(c.text[:end], c.sources)
		c.text = c.text[end:]
		if strings.TrimSpace(s.Text) != "" {
			complete = append(complete, s)
		}
	}
	return complete
}

// bounded is as much of a text as there is room for.
func (c *cutter) bounded(text string) string {
	if len(text) > c.room {
		text, c.full = strings.ToValidUTF8(text[:c.room], ""), true
		c.room = len(text)
	}
	c.room -= len(text)
	return text
}

const thoughts, endOfThoughts = "<think>", "</think>"

// begins reports whether the answer has begun: after white space, and after what some models think aloud first.
func (c *cutter) begins(final bool) bool {
	for {
		if c.thinking {
			_, rest, ended := strings.Cut(c.text, endOfThoughts)
			if !ended {
				c.text = c.text[max(0, len(c.text)-len(endOfThoughts)+1):] // of which the rest may arrive
				return false
			}
			c.text, c.thinking = rest, false
		}
		c.text = strings.TrimLeftFunc(c.text, unicode.IsSpace)
		if !strings.HasPrefix(c.text, thoughts) {
			return c.text != "" && (final || !strings.HasPrefix(thoughts, c.text))
		}
		c.text, c.thinking = c.text[len(thoughts):], true
	}
}

const (
	hard    = "。！？｡．"           // ends of sentences wherever they stand
	soft    = ".!?…"            // ends of sentences before white space or a citation
	closers = "\"'”’」』》»）)】]*_" // what may stand between an end and the white space
)

// firstEnd is where the first sentence of a text ends, in bytes, its citations and the white space after it included;
// 0 if that depends on text still to arrive. The text does not begin with white space.
func firstEnd(text string, final bool) int {
	if end, isCode := codeEnd(text, final); isCode {
		return end
	}
	inCode := false
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		switch {
		case r == '`':
			inCode = !inCode
			continue
		case r == '\n':
			i-- // the rest is on another line
		case inCode || !strings.ContainsRune(hard+soft, r):
			continue
		default:
			i = skip(text, skip(text, i, hard+soft), closers)
		}
		end, decided := after(text, i, final)
		if !decided {
			return 0
		}
		if r == '\n' || ends(text[:i], text[i:end], text[end:]) {
			return end
		}
	}
	if final {
		return len(text)
	}
	return 0
}

// codeEnd is where a block of code ends with which a text begins; 0 where its end has not arrived.
func codeEnd(text string, final bool) (end int, isCode bool) {
	const fence = "```"
	if !strings.HasPrefix(text, fence) {
		return 0, !final && strings.HasPrefix(fence, text)
	}
	for at := 0; ; {
		n := strings.IndexByte(text[at:], '\n')
		if n < 0 {
			break
		}
		at += n + 1
		line, _, whole := strings.Cut(text[at:], "\n")
		if strings.TrimSpace(line) != fence || !whole {
			continue
		}
		if end, decided := after(text, at+len(line), final); decided {
			return end, true
		}
		break
	}
	if final {
		return len(text), true
	}
	return 0, true
}

// skip goes on while there are such characters.
func skip(text string, i int, of string) int {
	rest := strings.TrimLeft(text[i:], of)
	return len(text) - len(rest)
}

// after skips citations and white space: those on the same line, and those that have a line for themselves. It is not
// decided where more of them may arrive.
func after(text string, i int, final bool) (end int, decided bool) {
	for {
		rest := text[i:]
		if taken := citations.FindString(rest); taken != "" {
			i += len(taken)
			continue
		}
		spaces := len(rest) - len(strings.TrimLeftFunc(rest, unicode.IsSpace))
		alone := lineOfCitations.FindString(rest[spaces:])
		switch {
		case !final && (spaces == len(rest) || partOfCitation.MatchString(rest[spaces:])):
			return 0, false
		case spaces > 0 && alone != "" && (final || strings.HasSuffix(alone, "\n")):
			i += spaces + len(strings.TrimSuffix(alone, "\n"))
		default:
			return i + spaces, true
		}
	}
}

// ends reports whether a sentence ends between two texts, as far as its last character leaves that open.
func ends(text, between, next string) bool {
	stop := strings.TrimRight(text, closers)
	if last, _ := utf8.DecodeLastRuneInString(stop); strings.ContainsRune(hard, last) || next == "" {
		return true
	}
	if first, _ := utf8.DecodeRuneInString(next); between == "" || unicode.IsLower(first) {
		return false // as in 4.90, example.com and e.g. this
	}
	word := stop[strings.LastIndexFunc(stop, unicode.IsSpace)+1:]
	return !abbreviation.MatchString(word) && !item.MatchString(stop)
}

var (
	// abbreviation is a word whose full stop ends no sentence, and item the number of an item.
	abbreviation = regexp.MustCompile(`^[("]?([A-Z]|(?i:mr|mrs|ms|dr|prof|st|fig|vs|cf|approx|e\.g|i\.e))\.$`)
	item         = regexp.MustCompile(`^\d{1,3}\.$`)

	numbers        = `\d{1,3}(?:[ \t]*[,，、;–-][ \t]*\d{1,3})*`
	marker         = `[\[［【][ \t]*` + numbers + `[ \t]*[\]］】]`
	anyMarker      = regexp.MustCompile(`[ \t]*` + marker)
	citations      = regexp.MustCompile(`^(?:[ \t]*` + marker + `)+`)
	partOfCitation = regexp.MustCompile(`^(?:` + marker + `[ \t]*)*(?:[\[［【][\d \t,，、;–-]*)?$`)

	lineOfCitations = regexp.MustCompile(`^(?:` + marker + `[ \t]*)+(?:\n|$)`)
	number          = regexp.MustCompile(`\d+`)
	span            = regexp.MustCompile(`(\d+)[ \t]*[–-][ \t]*(\d+)`)
)

// cite takes the citations out of a sentence. Code has none; numbers that are no source are dropped.
func cite(text string, sources int) Sentence {
	s := Sentence{Citations: []int{}}
	var kept strings.Builder
	for text != "" {
		prose, code := splitCode(text)
		text = text[len(prose)+len(code):]
		for _, m := range anyMarker.FindAllString(prose, -1) {
			s.take(m, sources)
		}
		kept.WriteString(anyMarker.ReplaceAllString(prose, "") + code)
	}
	s.Text, s.Cited = strings.TrimLeft(kept.String(), " \t"), len(s.Citations) > 0
	return s
}

// splitCode gives the text up to code, and that code: a block, or what is between two backticks.
func splitCode(text string) (prose, code string) {
	const fence = "\n```"
	if strings.HasPrefix(text, fence[1:]) {
		end := strings.LastIndex(text, fence)
		if end < 0 {
			return "", text
		}
		return "", text[:end+len(fence)]
	}
	from := strings.IndexByte(text, '`')
	if from < 0 {
		return text, ""
	}
	n := strings.IndexByte(text[from+1:], '`')
	if n < 0 {
		return text, ""
	}
	return text[:from], text[from : from+n+2]
}

// take adds the numbers of a citation: [2], [1, 3], [2-4].
func (s *Sentence) take(marker string, sources int) {
	marker = span.ReplaceAllStringFunc(marker, func(m string) string {
		bounds := number.FindAllString(m, 2)
		first, last := numberOf(bounds[0]), numberOf(bounds[1])
		if last < first || last > sources {
			return m
		}
		var all []string
		for n := first; n <= last; n++ {
			all = append(all, strconv.Itoa(n))
		}
		return strings.Join(all, ",")
	})
	for _, m := range number.FindAllString(marker, -1) {
		if n := numberOf(m); n >= 1 && n <= sources && !slices.Contains(s.Citations, n) {
			s.Citations = append(s.Citations, n)
		}
	}
}

func numberOf(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}
