package search_test

import (
	"bufio"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/internal/skips"
	"github.com/hybridge-search/hybridge/search"
)

// TestDidYouMeanOnSets counts how often questions of retrieval sets are corrected as they
// are, and how many are put right again after a typing error in one word.
func TestDidYouMeanOnSets(t *testing.T) {
	for name, want := range map[string]struct{ right, wrong, spoke float64 }{
		"xquad_en": {right: .6, wrong: .06, spoke: .08},
		"stackfaq": {right: .6, wrong: .06, spoke: .08},
		"xquad_zh": {right: .01, wrong: .01, spoke: .02},
	} {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join("..", "..", "shared", "data", name)
			if _, err := os.Stat(folder); err != nil {
				skips.Missing(t, "the retrieval set is missing: "+err.Error())
			}
			b := newBench(t, openEmbedded)
			b.load(filepath.Join(folder, "corpus.jsonl"))
			got := b.countCorrections(readSet(t, filepath.Join(folder, "queries.jsonl"))[:200])
			if got.right < want.right || got.wrong > want.wrong || got.spoke > want.spoke {
				t.Errorf("%+v, want at least %v right, at most %v wrong and %v corrected as they are",
					got, want.right, want.wrong, want.spoke)
			}
		})
	}
}

// corrections are shares, of questions as they are (spoke) and of those with a typing error.
type corrections struct{ right, wrong, spoke float64 }

type setLine struct {
	ID    string `json:"_id"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

func readSet(t *testing.T, path string) (all []setLine) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // read only
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var line setLine
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		all = append(all, line)
	}
	return all
}

func (b *bench) load(path string) {
	b.Helper()
	none := 0
	kb, err := b.catalog.Create(b.Context(), scope, catalog.Spec{ID: "k", Kind: engine.KindChunks, Dimensions: &none})
	if err != nil {
		b.Fatal(err)
	}
	var chunks []engine.Chunk
	for _, line := range readSet(b.T, path) {
		chunks = append(chunks, engine.Chunk{
			ID: line.ID, DocumentID: line.ID, Title: line.Title, Content: line.Text, Available: true,
		})
	}
	if _, err := b.engine.Write(b.Context(), engine.WriteRequest{KB: kb, Chunks: chunks, Refresh: true}); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) corrected(query string) string {
	b.Helper()
	top := 1
	r, err := b.searcher.Search(b.Context(), scope, search.Request{
		Query: query, Plain: true, KnowledgeBases: []string{"k"}, Preset: "balanced", TopK: &top,
		Overrides: search.Overrides{DidYouMean: new(true)},
	})
	if err != nil {
		b.Fatal(err)
	}
	return r.DidYouMean
}

func (b *bench) countCorrections(questions []setLine) corrections {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // typing errors
	spoke, broken, right, wrong := 0, 0, 0, 0
	for _, q := range questions {
		if meant := b.corrected(q.Text); meant != "" {
			spoke++
			b.Logf("as it is: %s\n\t→ %s", q.Text, meant)
			continue
		}
		mistyped := mistype(random, q.Text)
		if mistyped == q.Text {
			continue
		}
		broken++
		switch meant := b.corrected(mistyped); {
		case strings.EqualFold(meant, q.Text):
			right++
		case meant != "":
			wrong++
			b.Logf("mistyped: %s\n\t→ %s\n\tnot %s", mistyped, meant, q.Text)
		}
	}
	share := func(n, of int) float64 { return float64(n) / float64(of) }
	return corrections{share(right, broken), share(wrong, broken), share(spoke, len(questions))}
}

// mistype makes one error behind the first letter of a word of five letters or more, or replaces
// one Chinese character by another of the question's own block.
func mistype(random *rand.Rand, text string) string {
	runes := []rune(text)
	var places []int
	for i := 1; i+1 < len(runes); i++ {
		if unicode.Is(unicode.Han, runes[i]) && unicode.Is(unicode.Han, runes[i-1]) || inWord(runes, i) {
			places = append(places, i)
		}
	}
	if len(places) == 0 {
		return text
	}
	at := places[random.IntN(len(places))]
	if unicode.Is(unicode.Han, runes[at]) {
		runes[at] = rune(0x4e00 + random.IntN(0x5000))
		return string(runes)
	}
	letter := rune('a' + random.IntN(26))
	switch random.IntN(4) {
	case 0:
		runes[at], runes[at+1] = runes[at+1], runes[at]
	case 1:
		runes[at] = letter
	case 2:
		runes = append(runes[:at], runes[at+1:]...)
	default:
		runes = append(runes[:at], append([]rune{letter}, runes[at:]...)...)
	}
	return string(runes)
}

func inWord(runes []rune, at int) bool {
	letter := func(i int) bool {
		return i >= 0 && i < len(runes) && strings.ContainsRune("abcdefghijklmnopqrstuvwxyz", unicode.ToLower(runes[i]))
	}
	from, to := at, at
	for letter(from - 1) {
		from--
	}
	for letter(to) {
		to++
	}
	return letter(at) && letter(at+1) && to-from >= 5 && at > from
}
