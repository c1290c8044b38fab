package enginetest

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/textquery"
)

func wordsCases() []testCase {
	return []testCase{
		{"words/by prefix", wordsByPrefix},
		{"words/alike", wordsAlike},
		{"words/of chunks that may be seen", wordsSeen},
		{"words/after changes", wordsChanged},
		{"words/openings", openings},
		{"words/of unknown fields", wordsOfUnknownFields},
	}
}

// lexicon is the engine as one; all have it.
func (b *base) lexicon() engine.Lexicon {
	b.t.Helper()
	l, ok := b.engine.(engine.Lexicon)
	if !ok {
		b.t.Fatal("the engine is no lexicon")
	}
	return l
}

func (b *base) wordsOf(req engine.WordsRequest) string {
	b.t.Helper()
	req.KB, req.Field, req.Limit = b.kb, engine.FieldText, cmp.Or(req.Limit, 10)
	req.Samples = 3
	words, err := b.lexicon().Words(b.t.Context(), &req)
	if err != nil {
		b.t.Fatalf("words: %v", err)
	}
	list := []string{}
	for _, w := range words {
		list = append(list, fmt.Sprint(w.Text, w.Chunks))
		chunks, err := b.engine.Chunks(b.t.Context(), engine.ChunksRequest{KB: b.kb, IDs: w.In})
		if err != nil || len(chunks) == 0 || len(chunks) != min(w.Chunks, req.Samples) {
			b.t.Errorf("the chunks %q of %q: %v, %v", w.In, w.Text, chunks, err)
		}
		for i := range chunks {
			if !slices.Contains(Words{}.Terms(chunks[i].FieldText(engine.FieldText)), w.Text) {
				b.t.Errorf("%q is not in the chunk %q", w.Text, chunks[i].ID)
			}
		}
	}
	return fmt.Sprint(list)
}

func wordy() []engine.Chunk {
	hidden := passage("h", "refund refusal refuel hidden")
	hidden.Available = false
	owned := passage("o", "refund reform")
	owned.Owner = "somebody"
	marked := passage("m", "refund refuse 退款")
	marked.Metadata = map[string]any{"team": "blue"}
	return []engine.Chunk{
		passage("a", "refund policy refund"), passage("b", "the refund form"), hidden, owned, marked,
		passage("z", "退货 university"),
	}
}

func wordsByPrefix(t *testing.T, s *suite) {
	b := s.base(t, schema{})
	b.write(wordy()...)
	expect := func(req engine.WordsRequest, want string) {
		t.Helper()
		if got := b.wordsOf(req); got != want {
			t.Errorf("%+v: %s, want %s", req, got, want)
		}
	}
	expect(engine.WordsRequest{Prefix: "ref"}, "[refund4 reform1 refuse1]")
	expect(engine.WordsRequest{Prefix: "refu", Limit: 1}, "[refund4]")
	expect(engine.WordsRequest{Prefix: "退"}, "[退款1 退货1]")
	expect(engine.WordsRequest{Prefix: "nothing"}, "[]")
	expect(engine.WordsRequest{Prefix: "zzz", Words: []string{"policy", "nosuch", "hidden"}}, "[policy1]")
}

func wordsAlike(t *testing.T, s *suite) {
	b := s.base(t, schema{})
	b.write(wordy()...)
	for near, want := range map[string]string{
		"refnud": "[refund4]", "refun": "[refund4]", "xefund": "[]", "refunds": "[refund4]", "refsue": "[refuse1]",
		"refusel": "[refuse1]", // refusal and refuel are hidden
	} {
		if got := b.wordsOf(engine.WordsRequest{Prefix: near[:1], Near: []string{near}, Distance: 1}); got != want {
			t.Errorf("%s: %s, want %s", near, got, want)
		}
	}
	got := b.wordsOf(engine.WordsRequest{Prefix: "u", Near: []string{"univrsty", "nothing"}, Distance: 2})
	if got != "[university1]" {
		t.Errorf("two letters: %s", got)
	}
}

func wordsSeen(t *testing.T, s *suite) {
	b := s.base(t, schema{})
	b.write(wordy()...)
	blue := filter.Condition{Field: "team", In: []filter.Value{{V: "blue"}}}
	for _, c := range []struct {
		filter engine.Filter
		want   string
	}{
		{engine.Filter{Owner: "somebody"}, "[reform1 refund1]"},
		{engine.Filter{Owner: "nobody"}, "[]"},
		{engine.Filter{Conditions: []filter.Condition{blue}}, "[refund1 refuse1]"},
		{engine.Filter{IDs: []string{"h", "a"}}, "[refund1]"},
		{engine.Filter{Required: []textquery.Phrase{{Terms: []string{"form"}}}}, "[refund1]"},
		{engine.Filter{Excluded: []textquery.Phrase{{Terms: []string{"reform"}}}}, "[refund3 refuse1]"},
		{engine.Filter{Required: []textquery.Phrase{{Terms: []string{"hidden"}}}}, "[]"},
	} {
		if got := b.wordsOf(engine.WordsRequest{Prefix: "ref", Filter: c.filter}); got != c.want {
			t.Errorf("%+v: %s, want %s", c.filter, got, c.want)
		}
	}
}

func wordsChanged(t *testing.T, s *suite) {
	b := s.base(t, schema{})
	b.write(wordy()...)
	b.write(passage("a", "reform only"))
	if _, err := b.engine.DeleteChunks(t.Context(), b.kb, []string{"m"}); err != nil {
		t.Fatal(err)
	}
	if got, want := b.wordsOf(engine.WordsRequest{Prefix: "ref"}), "[reform2 refund2]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func openings(t *testing.T, s *suite) {
	b := s.base(t, schema{})
	hidden := passage("h", "refund hidden")
	hidden.Available = false
	chunks := []engine.Chunk{
		hidden, passage("a", "refund policy"), passage("b", "one two three four five refund"), passage("c", "about a return"),
	}
	for i := range 4 {
		c := passage(fmt.Sprint("d", i), "a return")
		c.DocumentID = "same"
		chunks = append(chunks, c)
	}
	b.write(chunks...)
	ask := func(req engine.OpeningsRequest) string {
		t.Helper()
		req.KB, req.Field, req.Words, req.Within = b.kb, engine.FieldText, []string{"refund", "return"}, 5
		ids, err := b.lexicon().Openings(t.Context(), &req)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(ids[min(1, len(ids)):]) // an engine may know but roughly where words are
		return fmt.Sprint(ids)
	}
	if got, want := ask(engine.OpeningsRequest{Limit: 10, PerDocument: 2}), "[a c d0 d1]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := ask(engine.OpeningsRequest{Limit: 1, PerDocument: 2}), "[a]"; got != want {
		t.Errorf("limit: %s, want %s", got, want)
	}
	only := engine.Filter{IDs: []string{"c", "h"}}
	if got, want := ask(engine.OpeningsRequest{Limit: 10, PerDocument: 2, Filter: only}), "[c]"; got != want {
		t.Errorf("filter: %s, want %s", got, want)
	}
}

func wordsOfUnknownFields(t *testing.T, s *suite) {
	b := s.base(t, schema{})
	if _, err := b.lexicon().Words(t.Context(), &engine.WordsRequest{KB: b.kb, Field: "nosuch", Limit: 1}); err == nil {
		t.Error("words of an unknown field")
	}
	if got := b.wordsOf(engine.WordsRequest{Prefix: "a"}); got != "[]" {
		t.Errorf("an empty knowledge base: %s", got)
	}
}
