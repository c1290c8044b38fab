package present

import (
	"cmp"
	"context"
	"crypto/sha256"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/hybridge-search/hybridge/analysis/highlight"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/ask"
)

// Bounds of the search for the sentences nearest to a question.
const (
	nearestTime      = 300 * time.Millisecond
	nearestHits      = 10
	nearestSentences = 24  // of a hit
	nearestRunes     = 400 // of a sentence; the rest is not compared
	firstSentences   = 2   // of the first request, which shows how many more there is time for
	sentencesKept    = 2048
)

// Sentences caches the vectors of the sentences compared last, so that a page requested
// again costs nothing, and gets better if there was no time for all of them.
type Sentences struct {
	once sync.Once
	kept *lru.Cache[sentenceKey, []float32]
}

type sentenceKey [sha256.Size]byte

// candidate is a hit with none of the question's words, and the positions of its sentences.
type candidate struct {
	hit       int
	sentences []highlight.Sentence
	keys      []sentenceKey
}

// showNearest lets the fragments of hits without a word of the question begin with the
// sentence nearest to it, by the model of their knowledge base. Fragments without one
// stay unchanged.
func (s *Presenter) showNearest(ctx context.Context, r *ask.Asked, hits []answer.Hit, m *marker) error {
	if h := r.Request.Highlight; h == nil || !h.Nearest || !m.wanted {
		return nil
	}
	asked := map[string]ask.Vector{} // by model
	models := map[string]string{}
	for i := range r.Subjects {
		kb := &r.Subjects[i].KB
		model, vector := r.Question.WordingFor(kb, 0)
		asked[model], models[kb.ID] = vector, model
	}
	var failed error
	for _, model := range slices.Sorted(maps.Keys(asked)) {
		embedder, can := s.Asker.EmbedderOf(model).(ask.PassageEmbedder)
		if !can || model == "" || asked[model].Numbers == nil {
			continue
		}
		all, texts := candidates(model, hits, m, func(h *answer.Hit) bool { return models[h.KnowledgeBase] == model })
		if len(all) == 0 {
			continue
		}
		vectors, err := s.Sentences.embed(ctx, embedder, texts)
		failed = cmp.Or(failed, err)
		for _, c := range all {
			if at := c.nearest(asked[model].Numbers, vectors); at >= 0 {
				if fragment := highlight.From(m.text(&hits[c.hit]), at, m.options); len(fragment) > 0 {
					hits[c.hit].Highlights = fragment
				}
			}
		}
	}
	return failed
}

// sentenceText is a sentence to be embedded.
type sentenceText struct {
	key  sentenceKey
	text string
}

// candidates are the first hits without marks in their texts, and their sentences in the
// order of the hits.
func candidates(
	model string, hits []answer.Hit, m *marker, of func(*answer.Hit) bool,
) (all []candidate, texts []sentenceText) {
	for i := range hits {
		text := m.text(&hits[i])
		if m.matched[i] || text == "" || !of(&hits[i]) {
			continue
		}
		c := candidate{hit: i, sentences: highlight.Sentences(text, nearestSentences)}
		if len(c.sentences) < 2 {
			continue // there is no choice
		}
		for _, at := range c.sentences {
			sentence := firstRunes(text[at.Start:at.End], nearestRunes)
			key := sentenceKey(sha256.Sum256([]byte(model + "\x00" + sentence)))
			c.keys = append(c.keys, key)
			texts = append(texts, sentenceText{key, sentence})
		}
		if all = append(all, c); len(all) == nearestHits {
			break
		}
	}
	return all, texts
}

// embed gives the vectors of as many sentences as there is time for, the first ones first. It is
// an error if there was time for none.
func (s *Sentences) embed(
	ctx context.Context, e ask.PassageEmbedder, texts []sentenceText,
) (map[sentenceKey][]float32, error) {
	s.once.Do(func() { s.kept, _ = lru.New[sentenceKey, []float32](sentencesKept) }) // the size is a constant > 0
	known := make(map[sentenceKey][]float32, len(texts))
	var missing []sentenceText
	for _, t := range texts {
		if _, twice := known[t.key]; twice {
			continue
		}
		vector, ok := s.kept.Get(t.key)
		if !ok {
			missing = append(missing, t)
		}
		known[t.key] = vector
	}
	ctx, cancel := context.WithTimeout(ctx, nearestTime)
	defer cancel()
	for all, n := len(missing), firstSentences; len(missing) > 0 && n > 0; {
		n = min(n, len(missing))
		started := time.Now()
		vectors, err := embedTexts(ctx, e, missing[:n])
		switch {
		case err != nil && ctx.Err() == nil:
			return known, err
		case err != nil && len(missing) == all:
			return known, fault.Wrap(fault.Timeout, err, "no sentence was embedded within %s", nearestTime)
		case err != nil:
			return known, nil
		}
		for i, vector := range vectors {
			known[missing[i].key] = vector
			s.kept.Add(missing[i].key, vector)
		}
		missing = missing[n:]
		n = fitting(ctx, time.Since(started)/time.Duration(n))
	}
	return known, nil
}

// fitting is how many more sentences there is time for, with a third of it to spare: the sentences
// of a request that times out are lost.
func fitting(ctx context.Context, each time.Duration) int {
	deadline, _ := ctx.Deadline()
	return int(time.Until(deadline) * 2 / 3 / max(each, time.Microsecond))
}

func embedTexts(ctx context.Context, e ask.PassageEmbedder, all []sentenceText) ([][]float32, error) {
	texts := make([]string, len(all))
	for i := range all {
		texts[i] = all[i].text
	}
	return ask.Passages(ctx, e, texts)
}

// nearest is the start of the sentence nearest to the question, of the compared
// ones; -1 with fewer than two of them.
func (c *candidate) nearest(question []float32, vectors map[sentenceKey][]float32) int {
	at, best, compared := -1, math.Inf(-1), 0
	for i, key := range c.keys {
		vector := vectors[key]
		if len(vector) != len(question) {
			continue
		}
		compared++
		if near := cosine(question, vector); near > best {
			at, best = c.sentences[i].Start, near
		}
	}
	if compared < 2 {
		return -1
	}
	return at
}

// cosine of two vectors of one length; 0 where one of them is zero.
func cosine(a, b []float32) float64 {
	var dot, aa, bb float64
	for i, x := range a {
		x, y := float64(x), float64(b[i])
		dot, aa, bb = dot+x*y, aa+x*x, bb+y*y
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return dot / math.Sqrt(aa*bb)
}

// firstRunes is the beginning of a text of at most n runes.
func firstRunes(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}
