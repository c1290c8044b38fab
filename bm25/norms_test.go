package bm25

import "testing"

// Values of Lucene's SmallFloat.intToByte4 and byte4ToInt.
func TestLengthsAreRoundedAsInLucene(t *testing.T) {
	f := func(length uint32, code uint8, decoded uint32) {
		t.Helper()
		if got := encodeLength(length); got != code {
			t.Errorf("encodeLength(%d) = %d, want %d", length, got, code)
		}
		if got := decodeLength(code); got != decoded {
			t.Errorf("decodeLength(%d) = %d, want %d", code, got, decoded)
		}
	}
	f(0, 0, 0)
	f(1, 1, 1)
	f(23, 23, 23)
	f(24, 24, 24)
	f(39, 39, 39)
	f(40, 40, 40)
	f(41, 40, 40)
	f(42, 41, 42)
	f(55, 47, 54)
	f(56, 48, 56)
	f(59, 48, 56)
	f(100, 57, 96)
	f(1000, 87, 984)
	f(1<<31-1, 255, 2013265944)
	f(1<<32-1, 255, 2013265944)
	for length := range uint32(100_000) {
		code := encodeLength(length)
		if d := decodeLength(code); d > length || encodeLength(d) != code || code < 255 && decodeLength(code+1) <= length {
			t.Fatalf("length %d has code %d, which stands for %d", length, code, d)
		}
	}
}
