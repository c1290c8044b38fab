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
		if !ok || math.Abs(got-want) > 1e-12 {
			t.Errorf("question %v in %s, chunk %v in %s: %v, %v, want %v", question, asked, chunk, told, got, ok, want)
		}
	}
	f([]float32{8, 1, 0}, []float32{6, 5, 0}, "en", "en", 1)   // the same way from the means
	f([]float32{8, 1, 0}, []float32{6, -5, 0}, "en", "en", -1) // the opposite way
	f([]float32{8, 1, 0}, []float32{6, 0, 5}, "en", "en", 0)   // another topic
	f([]float32{8, 1, 0}, []float32{2, 5, 0}, "en", "zh", 1)   // what the languages differ in counts nothing
	// A question in Chinese and its passage have cos 1/√2 in the bank: that is 1 here.
	f([]float32{4, 1, 1}, []float32{2, 2, 0}, "zh", "zh", 1)
	f([]float32{4, 1, 0}, []float32{2, 2, 0}, "zh", "zh", math.Sqrt2)
	f([]float32{8, 0, 0}, []float32{6, 5, 0}, "en", "en", 0) // nothing but its language
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

func TestRelevance(t *testing.T) {
	f := func(evidence, want float64) {
		t.Helper()
		if got := Relevance(evidence); math.Abs(got-want) > 5e-4 {
			t.Errorf("evidence %v: %.4f, want %.4f", evidence, got, want)
		}
	}
	f(0, 0.0004)
	f(7.95/10.2, 0.5)
	f(1, 0.9047)
}
