package segment

import (
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/fault"
)

func TestTooLarge(t *testing.T) {
	r := &reader{Lexicon: &Lexicon{}, edges: make([]uint64, 2*maxNodes), weights: make([]float64, maxNodes)}
	if r.add("退款", -1) {
		t.Error("a word was added to a full table")
	}
}

func TestBadWordModel(t *testing.T) {
	f := func(text string) {
		t.Helper()
		if _, err := readWordModel(text); !fault.Is(err, fault.Corrupt) {
			t.Errorf("%.20q: error %v; want an error of kind Corrupt", text, err)
		}
	}
	good := strings.Repeat("0 0 0 0\n", 5) + strings.Repeat("一:-1,二:-2\n", 4)
	if _, err := readWordModel("#\n\n" + good); err != nil {
		t.Error(err)
	}
	f("")
	f(strings.Replace(good, "0 0", "0 x", 1))
	f(strings.Replace(good, "-2", "x", 1))
}
