package smile

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// smileReader reads SMILE: a name that was there before is one byte, a number no text.
type smileReader struct {
	text  string
	at    int
	names []string // that may come again by their number
	empty []bool   // of what was gone into: it was null
	err   error
}

const usualNames = 32 // of an answer, at most

func newSmileReader(text string) *smileReader {
	r := &smileReader{text: text, at: len(Header), names: make([]string, 0, usualNames)}
	if flags := r.byte(); flags&version != 0 || flags&sharedValues != 0 {
		r.Fail("SMILE of another kind")
	}
	return r
}

func (r *smileReader) Object() { r.enter(Object) }
func (r *smileReader) Array()  { r.enter(Array) }

func (r *smileReader) enter(start byte) {
	token := r.byte()
	if token != start && token != Null {
		r.Fail(fmt.Sprintf("%#x where %#x or null begins", token, start))
	}
	r.empty = append(r.empty, token == Null)
}

func (r *smileReader) More() bool {
	if r.err != nil {
		return false
	}
	last := len(r.empty) - 1
	if r.empty[last] {
		r.empty = r.empty[:last]
		return false
	}
	if next := r.peek(); next == ArrayEnd || next == ObjectEnd {
		r.at++
		r.empty = r.empty[:last]
		return false
	}
	return true
}

// name reads a name, or finds it by its number.
func (r *smileReader) Name() string {
	switch token := r.byte(); {
	case token >= 0x40 && token < 0x80:
		return r.known(int(token - 0x40))
	case token >= 0x30 && token < 0x34:
		return r.known(int(token-0x30)<<8 | int(r.byte()))
	case token >= 0x80 && token < 0xC0:
		return r.learn(r.take(int(token-0x80) + 1))
	case token >= 0xC0 && token < 0xF8:
		return r.learn(r.take(int(token-0xC0) + 2))
	case token == 0x34:
		return r.long()
	case token == emptyText:
		return ""
	default:
		r.Fail(fmt.Sprintf("%#x is no name", token))
		return ""
	}
}

func (r *smileReader) known(n int) string {
	if n >= len(r.names) {
		r.Fail("a name that was not there before")
		return ""
	}
	return r.names[n]
}

func (r *smileReader) learn(name string) string {
	if len(r.names) == maxNames {
		r.names = r.names[:0]
	}
	r.names = append(r.names, name)
	return name
}

func (r *smileReader) Text() string { return r.stringOf(r.byte()) }

// stringOf reads the string that a token begins.
func (r *smileReader) stringOf(token byte) string {
	switch {
	case token >= 0x40 && token < 0x80: // ASCII
		return r.take(int(token-0x40) + 1)
	case token >= 0x80 && token < 0xC0:
		return r.take(int(token-0x80) + 2)
	case token == longASCII, token == longText:
		return r.long()
	case token == emptyText:
		return ""
	default:
		r.Fail(fmt.Sprintf("%#x is no string", token))
		return ""
	}
}

func (r *smileReader) Number() float32 {
	switch token := r.byte(); token {
	case float32s:
		return math.Float32frombits(uint32(r.bits(5)))
	case float64s:
		return float32(math.Float64frombits(r.bits(10)))
	case Null:
		return 0
	default:
		return float32(r.integer(token))
	}
}

// integer reads the whole number that a token begins.
func (r *smileReader) integer(token byte) int64 {
	switch {
	case token >= 0xC0 && token < 0xE0:
		return zigzag(uint64(token - 0xC0))
	case token == int32s, token == int64s:
		return zigzag(r.variable())
	default:
		r.Fail(fmt.Sprintf("%#x is no number", token))
		return 0
	}
}

func (r *smileReader) Value() string {
	switch token := r.byte(); {
	case token == Null:
		return "null"
	case token == False:
		return "false"
	case token == True:
		return "true"
	case token == float32s:
		return shortest(math.Float32frombits(uint32(r.bits(5))))
	case token == float64s:
		return digits(math.Float64frombits(r.bits(10)))
	case token == bigInteger:
		return new(big.Int).SetBytes(r.binary()).String()
	case token >= 0xC0 && token < 0xE0, token == int32s, token == int64s:
		return strconv.FormatInt(r.integer(token), 10)
	default:
		return r.stringOf(token)
	}
}

// shortest is a float32 with the digits that it has in JSON.
func shortest(f float32) string {
	n, _ := strconv.ParseFloat(strconv.FormatFloat(float64(f), 'g', -1, 32), 64) // its own digits
	return digits(n)
}

func (r *smileReader) End() error {
	if r.at < len(r.text) {
		r.Fail("more than one value")
	}
	return r.err
}

func (r *smileReader) Fail(why string) {
	if r.err == nil {
		r.err = fmt.Errorf("at byte %d of %d: %w", r.at, len(r.text), errors.New(why))
	}
	r.at = len(r.text)
}

// peek gives the next byte, 0 at the end.
func (r *smileReader) peek() byte {
	if r.at < len(r.text) {
		return r.text[r.at]
	}
	return 0
}

func (r *smileReader) byte() byte {
	if r.at >= len(r.text) {
		r.Fail("it ends too early")
		return 0
	}
	r.at++
	return r.text[r.at-1]
}

func (r *smileReader) take(n int) string {
	if n > len(r.text)-r.at {
		r.Fail("it ends too early")
		return ""
	}
	r.at += n
	return r.text[r.at-n : r.at]
}

// long reads a string up to its end marker.
func (r *smileReader) long() string {
	n := strings.IndexByte(r.text[r.at:], textEnd)
	if n < 0 {
		r.Fail("a string without an end")
		return ""
	}
	s := r.take(n)
	r.at++
	return s
}

// bits puts n bytes together, of which each has seven bits.
func (r *smileReader) bits(n int) uint64 {
	var all uint64
	for _, b := range []byte(r.take(n)) {
		all = all<<7 | uint64(b)
	}
	return all
}

// variable reads a number of any length: seven bits a byte, and six in the last,
// whose highest bit is set.
func (r *smileReader) variable() uint64 {
	var all uint64
	for r.err == nil {
		b := r.byte()
		if b&0x80 != 0 {
			return all<<6 | uint64(b&0x3F)
		}
		all = all<<7 | uint64(b)
	}
	return 0
}

// binary reads bytes that are written as seven bits a byte: the last of them has
// what is left over.
func (r *smileReader) binary() []byte {
	n := r.variable()
	if n > uint64(len(r.text)) {
		r.Fail("it ends too early")
		return nil
	}
	packed := r.take(int((n*8 + 6) / 7))
	if r.err != nil {
		return nil
	}
	out := make([]byte, 0, n)
	var have, bits uint
	for i := range len(packed) {
		width := uint(7)
		if i == len(packed)-1 {
			width = uint(n*8) - 7*uint(i)
		}
		bits, have = bits<<width|uint(packed[i]), have+width
		if have >= 8 {
			have -= 8
			out = append(out, byte(bits>>have))
			bits &= 1<<have - 1
		}
	}
	return out
}

func zigzag(n uint64) int64 { return int64(n>>1) ^ -int64(n&1) }
