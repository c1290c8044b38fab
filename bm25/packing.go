package bm25

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// padding is how many readable bytes follow packed values, so that the last of
// them is loaded by one 64-bit read like the others.
const padding = 8

// widthOf is the number of bits that the largest of the values needs.
func widthOf(values []uint32) uint8 {
	var all uint32
	for _, v := range values {
		all |= v
	}
	return uint8(bits.Len32(all))
}

// packedLen is the number of bytes that n values of a width take.
func packedLen(n int, width uint8) int { return (n*int(width) + 7) / 8 }

// appendPacked appends the values at a fixed width, low bits first.
func appendPacked(dst []byte, values []uint32, width uint8) []byte {
	end := len(dst) + packedLen(len(values), width)
	const word = 4 // bytes written at a time, the last ones beyond the end
	dst = slices.Grow(dst, end-len(dst)+word)
	out := dst[len(dst) : end+word]
	var pending uint64
	var have uint
	for _, v := range values {
		pending |= uint64(v) << have
		if have += uint(width); have >= 8*word {
			binary.LittleEndian.PutUint32(out, uint32(pending))
			out = out[word:]
			pending >>= 8 * word
			have -= 8 * word
		}
	}
	binary.LittleEndian.PutUint32(out, uint32(pending))
	return dst[:end]
}

// unpack fills dst from packed values; src has padding behind them.
func unpack(dst []uint32, src []byte, width uint8) {
	switch {
	case width == 0:
		clear(dst)
	case width <= 8:
		unpackEights(dst, src, uint(width))
	case width <= 16:
		unpackFours(dst, src, uint(width))
	default:
		for i := range dst {
			dst[i] = packedAt(src, i, width)
		}
	}
}

// unpackEights reads eight values of up to 8 bits with one load.
func unpackEights(dst []uint32, src []byte, width uint) {
	width &= 15
	mask := uint32(1)<<width - 1
	for ; len(dst) >= 8; dst, src = dst[8:], src[width:] {
		v := binary.LittleEndian.Uint64(src)
		d := (*[8]uint32)(dst)
		d[0] = uint32(v) & mask
		v >>= width
		d[1] = uint32(v) & mask
		v >>= width
		d[2] = uint32(v) & mask
		v >>= width
		d[3] = uint32(v) & mask
		v >>= width
		d[4] = uint32(v) & mask
		v >>= width
		d[5] = uint32(v) & mask
		v >>= width
		d[6] = uint32(v) & mask
		v >>= width
		d[7] = uint32(v) & mask
	}
	if len(dst) > 0 {
		v := binary.LittleEndian.Uint64(src)
		for i := range dst {
			dst[i] = uint32(v) & mask
			v >>= width
		}
	}
}

// unpackFours reads four values of up to 16 bits with one load: 4 x width bits
// begin at a byte, or, for an odd width, at half a byte.
func unpackFours(dst []uint32, src []byte, width uint) {
	width &= 31
	mask := uint32(1)<<width - 1
	at := uint(0)
	for ; len(dst) >= 4; dst = dst[4:] {
		v := binary.LittleEndian.Uint64(src[at>>3:]) >> (at & 7)
		d := (*[4]uint32)(dst)
		d[0] = uint32(v) & mask
		v >>= width
		d[1] = uint32(v) & mask
		v >>= width
		d[2] = uint32(v) & mask
		v >>= width
		d[3] = uint32(v) & mask
		at += 4 * width
	}
	for i := range dst {
		dst[i] = uint32(binary.LittleEndian.Uint64(src[at>>3:])>>(at&7)) & mask
		at += width
	}
}

// packedAt reads the i-th packed value.
func packedAt(src []byte, i int, width uint8) uint32 {
	at := uint(i) * uint(width)
	return uint32(binary.LittleEndian.Uint64(src[at>>3:])>>(at&7)) & uint32(1<<width-1)
}
