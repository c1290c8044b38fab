package highlight

import (
	"bufio"
	"cmp"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/internal/skips"
	"github.com/hybridge-search/hybridge/textquery"
)

// realSets are retrieval sets beside the clone; in the last one no question shares
// a language with the texts.
var realSets = []string{"scifact", "stackfaq", "xquad_zh", "lecoqa_statute", "drcd", "xquad_en2zh"}

const (
	dataFolder = "../../../shared/data"
	pageSize   = 10
	realPages  = 60
	realStride = 7 // questions that stand together ask about one text
	realCorpus = 1500
)

// page is what a question asks for and the texts of its hits.
type page struct {
	asked analysis.Query
	query textquery.Query
	texts []string
}

func compose(q analysis.Query) textquery.Query {
	return analysis.Compose(q, analysis.Frequencies{}, nil, analysis.Rules{})
}

// readTexts reads the texts of a set's file, at most limit of them, each stride-th.
func readTexts(t testing.TB, set, name string, limit, stride int) []string {
	t.Helper()
	file, err := os.Open(filepath.Join(dataFolder, set, name+".jsonl"))
	if err != nil {
		skips.Missing(t, err.Error())
	}
	defer func() { _ = file.Close() }()
	var all []string
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for n := 0; lines.Scan() && len(all) < limit; n++ {
		var e struct {
			Text string `json:"text"`
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		if n%stride == 0 {
			all = append(all, e.Text)
		}
	}
	return all
}

// pages are questions of a set with the texts that share most with them, by the
// idf of their words.
func pages(t testing.TB, set string) []page {
	t.Helper()
	texts := readTexts(t, set, "corpus", realCorpus, 1)
	holders := map[string][]int{}
	for i, text := range texts {
		terms := shared.Terms(text)
		slices.Sort(terms)
		for _, term := range slices.Compact(terms) {
			holders[term] = append(holders[term], i)
		}
	}
	questions := readTexts(t, set, "queries", realPages, realStride)
	all := make([]page, 0, len(questions))
	for _, q := range questions {
		asked := shared.Parse(q)
		p := page{asked: asked, query: compose(asked)}
		scores, order := make([]float64, len(texts)), make([]int, len(texts))
		for _, term := range p.query.Terms {
			for _, i := range holders[term.Text] {
				scores[i] += math.Log(1 + float64(len(texts))/float64(len(holders[term.Text])))
			}
		}
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
		for _, i := range order[:pageSize] {
			p.texts = append(p.texts, texts[i])
		}
		all = append(all, p)
	}
	return all
}

// BenchmarkReal marks pages of real hits: the time and the allocations of one
// operation are those of a page of ten.
func BenchmarkReal(b *testing.B) {
	for _, set := range realSets {
		b.Run(set, func(b *testing.B) {
			all := pages(b, set)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				all[i%len(all)].mark()
			}
		})
	}
}

// mark marks a page as a search does.
func (p *page) mark() {
	m := NewMatcher(&p.asked, p.query, shared)
	for _, text := range p.texts {
		m.Fragments(text, Options{})
	}
}

// BenchmarkQuestion analyses real questions and makes their matchers.
func BenchmarkQuestion(b *testing.B) {
	for _, set := range realSets[:5] {
		questions := readTexts(b, set, "queries", realPages, realStride)
		b.Run(set+"/parse", func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				shared.Parse(questions[i%len(questions)])
			}
		})
		b.Run(set+"/matcher", func(b *testing.B) {
			b.ReportAllocs()
			all := make([]page, len(questions))
			for i, q := range questions {
				all[i].asked = shared.Parse(q)
				all[i].query = compose(all[i].asked)
			}
			for i := 0; b.Loop(); i++ {
				p := &all[i%len(all)]
				NewMatcher(&p.asked, p.query, shared)
			}
		})
	}
}

// TestSelectingIsEnoughOnRealTexts: also for real questions about mixtures of real texts and of what folds unevenly.
func TestSelectingIsEnoughOnRealTexts(t *testing.T) {
	var texts, questions []string
	for _, set := range realSets {
		texts = append(texts, readTexts(t, set, "corpus", 40, realStride)...)
		questions = append(questions, readTexts(t, set, "queries", 40, realStride)...)
	}
	odd := []string{
		"👍🏽", "Ｆｕｌｌ　ｗｉｄｔｈ", "ﬁle", "\x00", "\xff", "e\u0301", "後來", "t恤", "web超时", "user’s", "3．14", "C＋＋", "½", "\u00ad", "。", "，",
	}
	slice := rapid.Custom(func(t *rapid.T) string {
		text := rapid.SampledFrom(texts).Draw(t, "from")
		start := rapid.IntRange(0, len(text)).Draw(t, "start") // also within a rune
		return text[start : start+rapid.IntRange(0, min(len(text)-start, 300)).Draw(t, "length")]
	})
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.OneOf(slice, rapid.SampledFrom(odd)), 0, 12).Draw(rt, "text"), "")
		q := rapid.OneOf(rapid.SampledFrom(questions), slice).Draw(rt, "question")
		o := Options{FragmentSize: rapid.IntRange(1, 150).Draw(rt, "size")}
		sameFragments(rt, matcher(q), newMatcher(q, wholly{}), text, o)
	})
}
