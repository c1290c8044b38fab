package segment

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/fault"
)

// The states of a rune in a word that the dictionary does not know, in the order of
// the model's file.
const (
	wordBegin = iota
	wordEnd
	wordMiddle
	wordAlone
	wordStates
)

// impossible is the logarithm that stands for a probability of zero.
const impossible = -3.14e100

// column holds a number for each state.
type column [wordStates]float64

// wordModel is the hidden Markov model that finds words in single runes: the
// logarithms of its probabilities.
// https://github.com/yanyiwu/cppjieba (HMMModel, HMMSegment)
type wordModel struct {
	start  column
	change [wordStates]column // from, to
	rows   [1 << 16]uint16    // by rune of the basic plane: its row in emit, 0 if it is never emitted
	emit   []column
}

var notEmitted = column{impossible, impossible, impossible, impossible}

// readWordModel reads gojieba's file: but for comments a line of the starts, four
// of the changes, four of the runes that a state emits, as rune:logarithm.
func readWordModel(text string) (*wordModel, error) {
	m := &wordModel{emit: []column{notEmitted}}
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	if len(lines) < 1+2*wordStates {
		return nil, fault.New(fault.Corrupt, "the model of Chinese words has %d lines, not %d", len(lines), 1+2*wordStates)
	}
	err := m.start.read(lines[0])
	for state := range wordStates {
		if err == nil {
			err = m.change[state].read(lines[1+state])
		}
		if err == nil {
			err = m.readEmissions(state, lines[1+wordStates+state])
		}
	}
	if err != nil {
		return nil, fault.Wrap(fault.Corrupt, err, "reading the model of Chinese words")
	}
	return m, nil
}

func (c *column) read(line string) error {
	for state, number := range strings.Fields(line) {
		if state == wordStates {
			break
		}
		v, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return err
		}
		c[state] = v
	}
	return nil
}

func (m *wordModel) readEmissions(state int, line string) error {
	for pair := range strings.SplitSeq(line, ",") {
		text, number, _ := strings.Cut(pair, ":")
		v, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return err
		}
		r, _ := utf8.DecodeRuneInString(text)
		if int(r) >= len(m.rows) || len(m.emit) > math.MaxUint16 {
			return fault.New(fault.Corrupt, "the rune %q is beyond the basic plane", r)
		}
		if m.rows[r] == 0 {
			m.rows[r] = uint16(len(m.emit))
			m.emit = append(m.emit, notEmitted)
		}
		m.emit[m.rows[r]][state] = v
	}
	return nil
}

func (m *wordModel) emission(r rune) *column {
	if int(r) < len(m.rows) {
		return &m.emit[m.rows[r]]
	}
	return &m.emit[0]
}

// states gives the most probable state of each rune, by Viterbi's algorithm. The
// order of additions and comparisons is gojieba's.
func (m *wordModel) states(runes []rune, s *Lattice) []uint8 {
	n := len(runes)
	s.columns, s.states = grow(s.columns, n), grow(s.states, (1+wordStates)*n)
	path, before := s.states[:n], s.states[n:] // before: by rune and state, the state of the rune before
	emitted := m.emission(runes[0])
	for state := range wordStates {
		s.columns[0][state] = m.start[state] + emitted[state]
	}
	for i := 1; i < n; i++ {
		emitted, last := m.emission(runes[i]), &s.columns[i-1]
		for state := range wordStates {
			s.columns[i][state], before[wordStates*i+state] = m.reach(state, last, emitted[state])
		}
	}
	state := uint8(wordAlone)
	if last := s.columns[n-1]; last[wordEnd] >= last[wordAlone] {
		state = wordEnd
	}
	for i := n - 1; i >= 0; i-- {
		path[i] = state
		state = before[wordStates*i+int(state)]
	}
	return path
}

// reach is the probability of the best way to a state, and the state it comes from.
func (m *wordModel) reach(state int, last *column, emitted float64) (best float64, from uint8) {
	best, from = impossible, wordEnd
	for old := range uint8(wordStates) {
		if v := last[old] + m.change[old][state] + emitted; v > best {
			best, from = v, old
		}
	}
	return best, from
}
