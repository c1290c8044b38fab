package scoring

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/internal/golden"
)

// TestEveryMethodHasAnExample fuses the same chunks by every method and normaliser:
// testdata shows what each makes of them.
func TestEveryMethodHasAnExample(t *testing.T) {
	example := func(name string, f Fusion) {
		legs := pair(0.4, 0.6)
		legs[0].Bound = 16
		golden.Bytes(t, name+".txt", []byte(show(f.Fuse(legs, fiveChunks()))))
	}
	for _, m := range Methods() {
		if m != Linear {
			example(string(m), Fusion{Method: m})
		}
	}
	for _, n := range Normalizers() {
		example("linear."+string(n), linearOver(n))
	}
}

// TestEveryMethodIsInTheScoreContract looks for the row that says how a score comes
// about.
func TestEveryMethodIsInTheScoreContract(t *testing.T) {
	contract, err := os.ReadFile("../docs/score-contract.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := func(row string) {
		if !strings.Contains(string(contract), "\n| "+row+" |") {
			t.Errorf("docs/score-contract.md has no row %q that says how its score comes from raw_score", row)
		}
	}
	for _, m := range Methods() {
		if m != Linear && m != Single { // single is the presets text and vector
			documented(fmt.Sprintf("`%s`", m))
		}
	}
	for _, n := range Normalizers() {
		documented(fmt.Sprintf("`linear`, %s", n))
	}
}

func TestAcceptedInWords(t *testing.T) {
	f := func(want string, names ...string) {
		t.Helper()
		if got := inWords(names); got != want {
			t.Errorf("%v in words: %q, want %q", names, got, want)
		}
	}
	f("")
	f("a", "a")
	f("a or b", "a", "b")
	f("a, b or c", "a", "b", "c")
}

func TestNormalizerValidate(t *testing.T) {
	for _, n := range Normalizers() {
		if err := n.Validate(); err != nil {
			t.Errorf("%s: %v", n, err)
		}
	}
	want := `normalizer is "softmax"; it must be ` + AcceptedNormalizers()
	if err := Normalizer("softmax").Validate(); err == nil || err.Error() != want {
		t.Errorf("softmax: %v, want %s", err, want)
	}
}
