package embedded_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/internal/devservices"
)

// flipsVariable says how many bits TestFlippedBits flips; `make stamina` says 1000.
const flipsVariable = "HYBRIDGE_TEST_FLIPS"

// TestFlippedBits opens the engine with a stored index of which one random bit is
// wrong, again and again: each time the damage is found, counted, and the index
// built anew from the chunks, so that every answer is as before.
func TestFlippedBits(t *testing.T) {
	flips := 100
	if text, given := os.LookupEnv(flipsVariable); given {
		var err error
		if flips, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	e := open(t, dir)
	mustCreate(t, e)
	random := rand.New(rand.NewPCG(7, 7))
	var chunks []engine.Chunk
	for i := range 50 {
		chunks = append(chunks, chunk("c"+strconv.Itoa(i), "d", randomWords(random)))
	}
	mustWrite(t, e, chunks...)
	want := strings.Join(found(t, e, "w1"), " ")
	mustClose(t, e)
	repairs := 0
	for n := range flips {
		bit := 0
		changeIndex(t, dir, func(index []byte) []byte {
			bit = random.IntN(8 * len(index))
			index[bit/8] ^= 1 << (bit % 8)
			return index
		})
		e := open(t, dir)
		if got := strings.Join(found(t, e, "w1"), " "); got != want {
			t.Errorf("bit %d flipped: found %s, want %s", bit, got, want)
		}
		repairs += e.Repairs()
		mustClose(t, e) // saves the index that was rebuilt
		if repairs != n+1 {
			t.Fatalf("bit %d flipped: %d repairs after %d flips", bit, repairs, n+1)
		}
	}
	devservices.Report(t, fmt.Sprintf("%d bits of stored indexes flipped: %d found, counted and rebuilt.\n", flips, repairs))
}

func randomWords(random *rand.Rand) string {
	var words []string
	for range 5 + random.IntN(20) {
		words = append(words, "w"+strconv.Itoa(random.IntN(40)))
	}
	return strings.Join(words, " ")
}
