package ingest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

func TestGoodLines(t *testing.T) {
	f := func(kb, text string, want engine.Chunk) {
		t.Helper()
		fake := newFakeEngine()
		results, _, err := streamAll(newPipeline(fake, nil, Options{}), kb, text)
		if err != nil || len(results) != 1 || results[0].Error != nil {
			t.Errorf("%s: %+v, %v; want no error and 1 results and no results[0].Error", text, results, err)
			return
		}
		if want.DocumentID == "" {
			want.DocumentID = want.ID
		}
		if want.Vectors == nil {
			want.Vectors = map[string][]float32{}
		}
		if diff := cmp.Diff(want, undated(t, fake.chunks[want.ID])); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	f(passages, `{"id": "a", "content": "x"}`, engine.Chunk{ID: "a", Content: "x", Available: true})
	f(passages, `{"id": "a", "title": "only"}`, engine.Chunk{ID: "a", Title: "only", Available: true})
	f(passages, `{"id": "a", "content": "x", "available": false, "ordinal": 7, "owner": "u", "document_id": "d", "document_name": "n", "positions": [[1, 2.5]], "vector": [0, 0]}`,
		engine.Chunk{
			ID: "a", DocumentID: "d", DocumentName: "n", Content: "x", Ordinal: 7, Owner: "u",
			Positions: [][]float64{{1, 2.5}}, Vectors: map[string][]float32{"vector": {0, 0}},
		})
	f(keywords, `{"id": "a", "content": "x", "metadata": {"s": "t", "n": 1.5, "b": true, "nil": null, "l": ["x", null, 2], "o": {"p": {"q": "r"}}, "e": []}}`,
		engine.Chunk{ID: "a", Content: "x", Available: true, Metadata: map[string]any{
			"s": "t", "n": 1.5, "b": true, "l": []any{"x", 2.0}, "o.p.q": "r", "e": []any{},
		}})
	f(keywords, `{"id": "😀", "content": "<script>alert(1)</script>\u0000 \ud83d\ude00"}`,
		engine.Chunk{ID: "😀", Content: "<script>alert(1)</script>\x00 😀", Available: true})
	f(pairs, `{"id": "q", "question": "why", "answer": "so", "full_answer": "f", "summary": "s", "url": "u", "title": "t", "category": "c", "date": "2026-01-31", "group": "g", "answer_vector": [1, 2]}`,
		engine.Chunk{
			Metadata: map[string]any{"language": "en"},
			ID:       "q", Title: "t", Available: true, Vectors: map[string][]float32{"answer_vector": {1, 2}},
			QA: &engine.QA{
				Question: "why", Answer: "so", FullAnswer: "f", Summary: "s", URL: "u", Category: "c",
				Date: "2026-01-31", Group: "g",
			},
		})
	f(severalVectors, `{"id": "a", "content": "x", "vector": [0, 1], "vectors": {"summary_vector": [1, 2], "title_vector": null}}`,
		engine.Chunk{
			ID: "a", Content: "x", Available: true,
			Vectors: map[string][]float32{"vector": {0, 1}, "summary_vector": {1, 2}},
		})
	f(passages, "\ufeff{\"id\": \"a\", \"content\": \"x\"}\r\n", engine.Chunk{ID: "a", Content: "x", Available: true})
	f(passages, "\n \r\n\t{\"id\": \"a\", \"content\": \"x\", \"vector\": null}", engine.Chunk{ID: "a", Content: "x", Available: true})
}

func TestWhenALineWasWritten(t *testing.T) {
	f := func(given, want string) {
		t.Helper()
		c := Chunk{Common: Common{WrittenAt: given}}
		if err := c.date(time.Date(2026, 11, 28, 16, 0, 0, 5e8, time.FixedZone("", 3600))); err != nil {
			want = "error: " + want
			if !strings.Contains(err.Error(), want[len("error: "):]) || !fault.Is(err, fault.InvalidArgument) {
				t.Errorf("%q: %v", given, err)
			}
		} else if c.WrittenAt != want {
			t.Errorf("%q is kept as %q, want %q", given, c.WrittenAt, want)
		}
	}
	f("", "2026-11-28T15:00:00Z")
	f("2026-01-31T12:00:00Z", "2026-01-31T12:00:00Z")
	f("2026-01-31T23:59:59.999-02:00", "2026-02-01T01:59:59Z")
	for _, bad := range []string{
		"2026-01-31", "yesterday", "2026-02-30T00:00:00Z", " 2026-01-31T12:00:00Z",
		"0000-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00",
	} {
		f(bad, `written_at is "`+bad+`"; it must be a time as RFC 3339 has it`)
	}
}

func TestBadLines(t *testing.T) {
	f := func(kb, text, field string, parts ...string) {
		t.Helper()
		fake := newFakeEngine()
		results, _, err := streamAll(newPipeline(fake, nil, Options{}), kb, text)
		if err != nil || len(results) != 1 || results[0].Error == nil {
			t.Errorf("%q: %+v, %v; want one failed line", text, results, err)
			return
		}
		failure := results[0].Error
		if failure.Code != "invalid_argument" || failure.Field != field || results[0].Status != engine.Failed {
			t.Errorf("%q: %+v, field %q wanted", text, *failure, field)
		}
		for _, part := range parts {
			if !strings.Contains(failure.Detail, part) {
				t.Errorf("%q: detail %q does not say %q", text, failure.Detail, part)
			}
		}
		if len(fake.chunks) > 0 {
			t.Errorf("%q was written; want len(fake.chunks) 0", text)
		}
	}
	f(passages, `{"id": "a", "content": `, "", "not JSON", "too early")
	f(passages, `{"id": "a" "content": "x"}`, "", "not JSON")
	f(passages, `[1]`, "", "not a JSON object", `"["`)
	f(passages, `null`, "", "not a JSON object")
	f(passages, `{"id": "a", "content": "x"} {"id": "b"}`, "", "more than one")
	f(passages, "{\"id\": \"a\", \"content\": \"\xff\"}", "", "UTF-8")
	f(passages, `{"id": "a", "contnet": "x"}`, "contnet", `"contnet"`, "content", "metadata")
	f(passages, `{"content": "x"}`, "id", "1 to 256 bytes")
	f(passages, `{"id": 5, "content": "x"}`, "id", "JSON number", "a string")
	f(passages, `{"id": "a\n", "content": "x"}`, "id", "control")
	f(passages, fmt.Sprintf(`{"id": "%s", "content": "x"}`, strings.Repeat("a", 257)), "id", "257 bytes")
	f(passages, `{"id": "a", "document_id": "\u0001", "content": "x"}`, "document_id")
	f(passages, `{"id": "a"}`, "content", "text")
	f(passages, `{"id": "a", "content": " \n", "vector": [1, 2]}`, "content", "text")
	f(passages, `{"id": "a", "content": "x", "question": "y"}`, "question", "kind chunks")
	f(passages, `{"id": "a", "content": "x", "ordinal": -1}`, "ordinal", "-1", "0 to")
	f(passages, `{"id": "a", "content": "x", "ordinal": 1.5}`, "ordinal", "whole number")
	f(passages, `{"id": "a", "content": "x", "available": "no"}`, "available", "true or false")
	f(passages, `{"id": "a", "content": "x", "vector": [1]}`, "vector", "1 numbers", "2 numbers")
	f(passages, `{"id": "a", "content": "x", "vector": []}`, "vector", "0 numbers")
	f(passages, `{"id": "a", "content": "x", "vector": "12"}`, "vector", "list of numbers")
	f(passages, `{"id": "a", "content": "x", "vector": [1, "2"]}`, "vector", "finite number")
	f(passages, `{"id": "a", "content": "x", "vector": [1, 1e39]}`, "vector", "finite number")
	f(passages, `{"id": "a", "content": "x", "vector": [1, NaN]}`, "", "not JSON")
	f(passages, `{"id": "a", "content": "x", "positions": [1]}`, "positions", "list of")
	f(keywords, `{"id": "a", "content": "x", "vector": [1, 2]}`, "vector", "keyword search only")
	f(keywords, `{"id": "a", "content": "x", "vectors": {"title_vector": [1, 2]}}`, "vectors.title_vector", "has none")
	f(severalVectors, `{"id": "a", "content": "x", "vectors": {"titel_vector": [1, 2]}}`, "vectors.titel_vector", "title_vector, summary_vector")
	f(severalVectors, `{"id": "a", "content": "x", "vectors": {"vector": [1, 2]}}`, "vectors.vector", "and vector, beside vectors")
	f(severalVectors, `{"id": "a", "content": "x", "vectors": {"title_vector": [1]}}`, "vectors.title_vector", "1 numbers", "2 numbers")
	f(severalVectors, `{"id": "a", "content": "x", "vectors": {"title_vector": []}}`, "vectors.title_vector", "0 numbers")
	f(severalVectors, `{"id": "a", "content": "x", "vectors": {"title_vector": [1, 1e39]}}`, "vectors", "finite number")
	f(severalVectors, `{"id": "a", "content": "x", "vectors": [1, 2]}`, "vectors", "an object")
	f(severalVectors, `{"id": "a", "content": "x", "vectors": {"title_vector": "x"}}`, "vectors", "list of numbers")
	f(pairs, `{"id": "a", "question": "x", "vectors": {"title_vector": [1, 2]}}`, "vectors", "kind qa")
	f(pairs, `{"id": "a", "content": "x"}`, "content", "kind qa", "question")
	f(pairs, `{"id": "a", "title": "x"}`, "question", "text")
	f(pairs, `{"id": "a", "question": "x", "question_vector": [1, 2, 3]}`, "question_vector", "3 numbers")
	f(passages, `{"id": "a", "content": "x", "metadata": 1}`, "metadata", "an object")
	f(passages, `{"id": "a", "content": "x", "questions": ["a", ""]}`, "questions[1]", "not blank")
	f(passages, `{"id": "a", "content": "x", "important_keywords": ["`+strings.Repeat("k", 1001)+`"]}`, "important_keywords[0]", "1000 bytes")
	f(passages, `{"id": "a", "content": "x", "questions": [`+strings.Repeat(`"q",`, 100)+`"q"]}`, "questions", "at most 100")
	f(passages, `{"id": "a", "content": "x", "metadata": {"": 1}}`, "metadata.")
	f(passages, `{"id": "a", "content": "x", "metadata": {"k": [[1]]}}`, "metadata.k[0]", "list in a list")
	f(passages, `{"id": "a", "content": "x", "metadata": {"k": [{}]}}`, "metadata.k[0]", "object in a list")
	f(passages, `{"id": "a", "content": "x", "metadata": {"k": 9007199254740993}}`, "metadata.k", "or a string")
	f(passages, `{"id": "a", "content": "x", "metadata": {"k": 1e999}}`, "metadata.k", "64 bits")
	f(passages, `{"id": "a", "content": "x", "metadata": {"a.b": 1, "a": {"b": 2}}}`, "metadata.a.b", "twice")
	deep := strings.Repeat(`{"a": `, 30) + "1" + strings.Repeat("}", 30)
	f(passages, `{"id": "a", "content": "x", "metadata": `+deep+`}`, "metadata"+strings.Repeat(".a", 16), "16 deep")
	var many []string
	for i := range 257 {
		many = append(many, fmt.Sprintf(`"k%d": 1`, i))
	}
	f(passages, `{"id": "a", "content": "x", "metadata": {`+strings.Join(many, ",")+`}}`, "metadata", "256")
}

func TestOrdinals(t *testing.T) {
	fake := newFakeEngine()
	input := `{"id": "a0", "document_id": "a", "content": "x"}
{"id": "a1", "document_id": "a", "content": "x"}
broken
{"id": "a2", "document_id": "a", "content": "x"}
{"id": "a9", "document_id": "a", "content": "x", "ordinal": 9}
{"id": "a10", "document_id": "a", "content": "x"}
{"id": "b0", "document_id": "b", "content": "x"}
{"id": "alone", "content": "x"}
`
	if _, _, err := streamAll(newPipeline(fake, nil, Options{}), passages, input); err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"a0": 0, "a1": 1, "a2": 2, "a9": 9, "a10": 10, "b0": 0, "alone": 0}
	got := map[string]int{}
	for id, c := range fake.chunks {
		got[id] = c.Ordinal
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ordinals (-want +got):\n%s", diff)
	}
}

// TestTellLanguage: what the metadata say stands, and what cannot be told is left out.
func TestTellLanguage(t *testing.T) {
	f := func(c engine.Chunk, want any) {
		t.Helper()
		tellLanguage(&c)
		if got := c.Metadata[engine.MetadataLanguage]; got != want {
			t.Errorf("%+v is said to be in %v, want %v", c, got, want)
		}
	}
	f(engine.Chunk{Content: "The parcel is on its way."}, "en")
	f(engine.Chunk{Title: "退款", Content: "三个工作日内到账"}, "zh")
	f(engine.Chunk{QA: &engine.QA{Question: "Wo ist mein Paket?", Answer: "Auf dem Weg"}}, "de")
	f(engine.Chunk{Content: "The parcel", Metadata: map[string]any{"language": "Klingon"}}, "Klingon")
	f(engine.Chunk{Content: "3.14"}, nil)
	full := map[string]any{}
	for i := range maxKeys {
		full[fmt.Sprint(i)] = true
	}
	f(engine.Chunk{Content: "The parcel is on its way.", Metadata: full}, nil)
}
