package search

import (
	"encoding/binary"
	"math"
	"strconv"
)

// readFloat reads the JSON number at a place of a text as the nearest float32, as
// strconv.ParseFloat does; end 0: there is none that is finite.
func readFloat(text []byte, at int) (f float32, end int) {
	d, end := readDecimal(text, at)
	if f, ok := d.nearest(); ok || end == 0 {
		return f, end
	}
	exact, err := strconv.ParseFloat(string(text[at:end]), 32)
	if err != nil {
		return 0, 0
	}
	return float32(exact), end
}

// decimal is the number ±mantissa/10^scale.
type decimal struct {
	mantissa uint64 // wrapped around when it has over 19 digits
	digits   int    // of the mantissa, without zeros before
	scale    int
	negative bool
}

// readDecimal reads a number by the grammar of JSON; end 0: there is none.
func readDecimal(text []byte, at int) (d decimal, end int) {
	whole := past(text, at, '-')
	d.negative = whole > at
	at = past(text, whole, '0')
	if at == whole {
		if d.mantissa, at = digits(text, whole, 0); at == whole {
			return d, 0
		}
		d.digits = at - whole
	}
	if point := at; past(text, at, '.') > point {
		first := point + 1
		for d.mantissa == 0 && past(text, first, '0') > first {
			first++
		}
		if d.mantissa, at = digits(text, first, d.mantissa); at == point+1 {
			return d, 0
		}
		d.digits += at - first
		d.scale = at - point - 1
	}
	if at < len(text) && text[at]|0x20 == 'e' {
		exponent, end := readExponent(text, at+1)
		d.scale -= exponent
		return d, end
	}
	return d, at
}

// past is the place behind a sign, if it is there.
func past(text []byte, at int, sign byte) int {
	if at < len(text) && text[at] == sign {
		return at + 1
	}
	return at
}

// digits appends those from a place on to a number.
func digits(text []byte, at int, number uint64) (appended uint64, end int) {
	for ; len(text)-at >= 8; at += 8 {
		eight := binary.LittleEndian.Uint64(text[at:])
		if !areDigits(eight) {
			break
		}
		number = 1e8*number + eightDigits(eight)
	}
	for ; at < len(text) && isDigit(text[at]); at++ {
		number = 10*number + uint64(text[at]-'0')
	}
	return number, at
}

// areDigits reports whether all of eight bytes are digits: each is 0x30 to 0x3F, and
// with six more still.
func areDigits(eight uint64) bool {
	const high, signs = 0xF0F0F0F0_F0F0F0F0, 0x30303030_30303030
	return eight&high == signs && (eight+0x06060606_06060606)&high == signs
}

// eightDigits is the number that eight digits are, the first one lowest: made of four
// numbers below 100 and two below 10,000, all of them at a time.
func eightDigits(eight uint64) uint64 {
	ones := eight & 0x0F0F0F0F_0F0F0F0F
	twos := (ones*10 + ones>>8) & 0x00FF00FF_00FF00FF
	fours := (twos*100 + twos>>16) & 0x0000FFFF_0000FFFF
	return (fours*10000 + fours>>32) & 0xFFFFFFFF
}

// readExponent reads a signed number, where it is too large for any float one that is
// too large as well.
func readExponent(text []byte, at int) (exponent, end int) {
	begin := past(text, at, '-')
	sign := -1
	if begin == at {
		sign, begin = 1, past(text, at, '+')
	}
	number, end := digits(text, begin, 0)
	switch n := end - begin; {
	case n == 0:
		return 0, 0
	case n > 6:
		number = 1e6
	}
	return sign * int(number), end
}

// nearest is the float32 that is nearest, not ok where that is not plain to see.
//
// The mantissa and then the quotient are rounded to a float64, which is two of its
// last places off at most. Rounded once more to a float32 it is the right one, unless
// it is that near to the middle between two, where they are normal numbers.
func (d decimal) nearest() (f float32, ok bool) {
	if d.digits > 19 || d.scale < 0 || d.scale >= len(powers) {
		return 0, false
	}
	const (
		cut    = 29 // bits of a float64 that a float32 has not
		middle = 1 << (cut - 1)
		margin = 4
	)
	quotient := float64(d.mantissa) / powers[d.scale]
	below := math.Float64bits(quotient) & (1<<cut - 1)
	if below-(middle-margin) <= 2*margin {
		return 0, false
	}
	if quotient < 0x1p-126 && d.mantissa != 0 || quotient > math.MaxFloat32 {
		return 0, false
	}
	if d.negative {
		quotient = -quotient
	}
	return float32(quotient), true
}

// powers of ten that are exact.
var powers = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
	1e20, 1e21, 1e22,
}
