package docs_test

import (
	"cmp"
	"flag"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

var drawSeed = flag.Uint64("draw", 0, "the seed by which TestDrawTexts draws texts that users read")

// drawn is how many texts of a language are shown.
const drawn = 30

// TestDrawTexts shows texts by chance for people to read: go test ./docs -run TestDrawTexts -v -draw 49. Each surface of
// a language is drawn from as often as the others.
func TestDrawTexts(t *testing.T) {
	t.Logf("seed %d", *drawSeed)
	all := surfaces(t)
	for _, code := range languages {
		chance := rand.New(rand.NewPCG(*drawSeed, uint64(len(code)))) //nolint:gosec // no secret
		var names []string
		for name, texts := range all {
			if strings.HasSuffix(name, " "+code) && len(texts) > 0 {
				names = append(names, name)
			}
		}
		if slices.Sort(names); len(names) < 5 {
			t.Fatalf("texts of %s are on %v; want at least 5 surfaces", code, names)
		}
		for i := range drawn {
			name := names[i%len(names)]
			texts := slices.SortedFunc(slices.Values(all[name]), func(a, b told) int {
				return cmp.Or(strings.Compare(a.where, b.where), strings.Compare(a.text, b.text))
			})
			text := texts[chance.IntN(len(texts))]
			for len(strings.TrimSpace(text.text)) < 20 {
				text = texts[chance.IntN(len(texts))]
			}
			t.Logf("%s, %s: %.600s", name, text.where, strings.Join(strings.Fields(text.text), " "))
		}
	}
}
