package bank

import (
	"math"
	"strings"
	"testing"
)

// TestEveryLanguageHasTheSameTopics in the same order, as pairs across languages are
// found by their place, and none of them blank or there twice.
func TestEveryLanguageHasTheSameTopics(t *testing.T) {
	all, err := Topics()
	if err != nil {
		t.Fatal(err)
	}
	reference := all["en"]
	if len(reference) < 50 {
		t.Fatalf("%d topics in English, want 50 or more", len(reference))
	}
	for _, language := range []string{"en", "zh", "ja", "ko", "de", "fr", "es"} {
		topics, seen := all[language], map[string]bool{}
		if len(topics) != len(reference) {
			t.Errorf("%s has %d topics, English %d", language, len(topics), len(reference))
			continue
		}
		for i, topic := range topics {
			if topic.Topic != reference[i].Topic {
				t.Errorf("topic %d in %s is %q, in English %q", i, language, topic.Topic, reference[i].Topic)
			}
			for _, text := range []string{topic.Question, topic.Passage} {
				if strings.TrimSpace(text) == "" || seen[text] {
					t.Errorf("%s, %s: %q is blank or stands there twice", language, topic.Topic, text)
				}
				seen[text] = true
			}
		}
	}
}

// All texts of a language share its first number; the others are the topic. Questions
// have half of what their passages have of it.
func twoLanguages() map[string]Vectors {
	return map[string]Vectors{
		"en": {Questions: [][]float32{{8, 1, 0}, {8, -1, 0}}, Passages: [][]float32{{6, 2, 0}, {6, -2, 0}}},
		"zh": {Questions: [][]float32{{4, 1, 1}, {4, -1, -1}}, Passages: [][]float32{{2, 2, 0}, {2, -2, 0}}},
	}
}

func TestEvidence(t *testing.T) {
	c, err := NewCentres(twoLanguages())
	if err != nil {
		t.Fatal(err)
	}
	f := func(question, chunk []float32, asked, told string, want float64) {
		t.Helper()
		got, ok := c.Evidence(question, chunk, asked, told)
		if !ok || math.Abs(got-want) > 1e-6 {
			t.Errorf("question %v in %s, chunk %v in %s: %v, %v, want %v", question, asked, chunk, told, got, ok, want)
		}
	}
	f([]float32{8, 1, 0}, []float32{6, 2, 0}, "en", "en", 1)   // the same way from the means
	f([]float32{8, 1, 0}, []float32{6, -2, 0}, "en", "en", -1) // the opposite way
	f([]float32{8, 1, 0}, []float32{6, 0, 2}, "en", "en", 0)   // another topic
	f([]float32{4, 0.5, 0}, []float32{3, 1, 0}, "en", "en", 1) // lengths say nothing
	f([]float32{8, 1, 0}, []float32{2, 2, 0}, "en", "zh", 1)   // what the languages differ in counts nothing
	// A question in Chinese and its passage have cos 1/√2 in the bank: that is 1 here.
	f([]float32{4, 1, 1}, []float32{2, 2, 0}, "zh", "zh", 1)
	f([]float32{4, math.Sqrt2, 0}, []float32{2, 2, 0}, "zh", "zh", math.Sqrt2)
	f([]float32{8, 0, 0}, []float32{6, 2, 0}, "en", "en", 0) // nothing but its language
}

func TestNoEvidence(t *testing.T) {
	c, err := NewCentres(twoLanguages())
	if err != nil {
		t.Fatal(err)
	}
	f := func(question, chunk []float32, asked, told string) {
		t.Helper()
		if got, ok := c.Evidence(question, chunk, asked, told); ok {
			t.Errorf("question %v in %q, chunk %v in %q: %v, want none", question, asked, chunk, told, got)
		}
	}
	f([]float32{8, 1, 0}, []float32{6, 5, 0}, "en", "fi")
	f([]float32{8, 1, 0}, []float32{6, 5, 0}, "", "en")
	f([]float32{8, 1}, []float32{6, 5, 0}, "en", "en")
	f([]float32{8, 1, 0}, nil, "en", "en")
}

func TestBankThatDoesNotFit(t *testing.T) {
	f := func(bank map[string]Vectors, want string) {
		t.Helper()
		if _, err := NewCentres(bank); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	row := [][]float32{{1, 2}}
	f(map[string]Vectors{"en": {}}, "bank.en is")
	f(map[string]Vectors{"en": {Questions: row}}, "1 questions and 0 passages")
	f(map[string]Vectors{"en": {Questions: row, Passages: [][]float32{{1}}}}, "1 topics of 1 numbers")
}

// TestScale: where all chunks have the length of their mean beyond the language, the line
// gives the evidence itself; else the order of the cosines.
func TestScale(t *testing.T) {
	c, err := NewCentres(twoLanguages())
	if err != nil {
		t.Fatal(err)
	}
	question := []float32{8, 1, 0.5}
	chunks := [][]float32{unit(6, 2, 1), unit(6, 2, -1), unit(6, -2, 1), unit(6, -2, -1)}
	s, ok := c.Scale(question, mean(chunks), "en", "en")
	if !ok {
		t.Fatal("no scale")
	}
	for _, chunk := range chunks {
		exact, _ := c.Evidence(question, chunk, "en", "en")
		cheap := s.Evidence(dot(question, chunk) / norm(question))
		if math.Abs(exact-cheap) > 1e-6 {
			t.Errorf("chunk %v has evidence %v by the line, %v by itself; want math.Abs(exact - cheap) at most 1e-6", chunk, cheap, exact)
		}
	}
	for _, none := range []struct {
		question, chunks []float32
		told             string
	}{{question, mean(chunks), "fi"}, {question, nil, "en"}, {[]float32{0, 0, 0}, mean(chunks), "en"}} {
		if _, ok := c.Scale(none.question, none.chunks, "en", none.told); ok {
			t.Errorf("a scale for %+v; want not ok", none)
		}
	}
}

// TestExact: evidence from two cosines is evidence from the vector.
func TestExact(t *testing.T) {
	c, err := NewCentres(twoLanguages())
	if err != nil {
		t.Fatal(err)
	}
	question := []float32{8, 1, 0.5}
	e, ok := c.Exact(question, "en", "zh")
	if !ok {
		t.Fatal("not told")
	}
	cosine := func(a, b []float32) float64 { return dot(a, b) / norm(a) / norm(b) }
	for _, chunk := range [][]float32{{6, 2, 1}, {1, -2, 3}, {-4, 0, 1}} {
		want, _ := c.Evidence(question, chunk, "en", "zh")
		if got := e.Evidence(cosine(e.Question, chunk), cosine(e.Passage, chunk)); math.Abs(got-want) > 1e-6 {
			t.Errorf("chunk %v has evidence %v by its cosines, %v by its vector; want math.Abs(got - want) at most 1e-6", chunk, got, want)
		}
	}
	if got := e.Evidence(math.NaN(), 0.5); !math.IsNaN(got) {
		t.Errorf("of an unknown cosine %v", got)
	}
	for _, none := range []struct {
		question []float32
		told     string
	}{{question, "fi"}, {[]float32{0, 0, 0}, "zh"}, {[]float32{1, 2}, "zh"}} {
		if _, ok := c.Exact(none.question, "en", none.told); ok {
			t.Errorf("exact for %+v; want not ok", none)
		}
	}
}

func unit(v ...float32) []float32 {
	length := float32(norm(v))
	for i := range v {
		v[i] /= length
	}
	return v
}

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestRelevance(t *testing.T) {
	f := func(got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 5e-4 {
			t.Errorf("%.4f, want %.4f", got, want)
		}
	}
	f(Answerable(0, 100), 0)
	f(Answerable(1, 1000), 0.9547) // 15.6 − 2.96·ln 240 + 3.67 = 3.05
	f(Answerable(0.6, 60), 0.7132) // the same evidence says more where it is the best of few
	f(Answerable(0.6, 5000), 0.0393)
	f(Answerable(0.6, 5000), Answerable(0.6, 240))
	f(Answerable(0.6, 1), Answerable(0.6, 50))
	f(Relevance(0, 1, 1000), 0)
	f(Relevance(1, 1, 1000), 0.4852) // 7.5 − 1.33·ln 240 − 0.27 = −0.06
	f(Relevance(0.9, 1, 1000), 0.1255)
	f(Relevance(1, 0.9, 1000), Relevance(1, 1, 1000)) // nothing is better than the best
	f(AnswerableByWords(0.3, 1000), 0.8137)
	f(RelevanceByWords(0.5, 0.5, 1000), 0.7171)
}
