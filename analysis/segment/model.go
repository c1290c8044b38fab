package segment

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/fault"
)

// The places of a rune in a word that the dictionary does not know, in the order of the
// model's file.
const (
	wordBegin = iota
	wordEnd
	wordMiddle
	wordAlone
	wordStates
)

// impossible stands for the logarithm of zero.
const impossible = -3.14e100

// column holds a number for each state.
type column [wordStates]float64

// wordModel is the hidden Markov model that finds words in single runes. All its numbers
// are logarithms of probabilities.
// https://github.com/yanyiwu/cppjieba (HMMModel, HMMSegment)
type wordModel struct {
	start      column
	transition [wordStates]column // from, to
	rows       [1 << 16]uint16    // by rune of the basic plane: its row in emit; 0: never emitted
	emit       []column
}

var notEmitted = column{impossible, impossible, impossible, impossible}

// readWordModel reads gojieba's file. Apart from comments it has one line of start
// probabilities, four of transitions, and four of the runes that a state emits, as
// rune:logarithm.
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
			err = m.transition[state].read(lines[1+state])
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

// states returns the most probable state of each rune, by Viterbi's algorithm. The order
// of additions and comparisons is gojieba's, so that rounding is too.
func (m *wordModel) states(runes []rune, s *Lattice) []uint8 {
	n := len(runes)
	s.columns, s.states = grow(s.columns, n), grow(s.states, (1+wordStates)*n)
	path, before := s.states[:n], s.states[n:] // before: by rune and state, the best state of the rune before
	emitted := m.emission(runes[0])
	for state := range wordStates {
		s.columns[0][state] = m.start[state] + emitted[state]
	}
	for i := 1; i < n; i++ {
		emitted, last := m.emission(runes[i]), &s.columns[i-1]
		for state := range wordStates {
			s.columns[i][state], before[wordStates*i+state] = m.bestPath(state, last, emitted[state])
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

// bestPath returns the probability of the best path to a state, and the state before it.
func (m *wordModel) bestPath(state int, last *column, emitted float64) (best float64, from uint8) {
	best, from = impossible, wordEnd
	for old := range uint8(wordStates) {
		if v := last[old] + m.transition[old][state] + emitted; v > best {
			best, from = v, old
		}
	}
	return best, from
}
