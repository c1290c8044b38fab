package rewrite_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
	"github.com/hybridge-search/hybridge/search/rewrite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scripted is a model that says what it is told to, after a while, and keeps what it was asked.
type scripted struct {
	status int
	says   string
	after  time.Duration
	asked  []string
	header http.Header
}

func (s *scripted) client(t *testing.T, o rewrite.Options) *rewrite.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var got struct {
			Model    string
			Messages []struct{ Role, Content string }
		}
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil || got.Model != "m" || len(got.Messages) != 2 {
			t.Errorf(`asked %+v, %v; want no error and got.Model "m" and 2 got.Messages`, got, err)
			return
		}
		s.asked, s.header = append(s.asked, got.Messages[1].Content), r.Header
		select {
		case <-time.After(s.after):
		case <-r.Context().Done():
		}
		if s.status != 0 {
			w.WriteHeader(s.status)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"message": map[string]any{"content": s.says}}}})
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		http.DefaultClient.CloseIdleConnections()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	o.URL, o.Model, o.APIKey = server.URL, "m", "secret"
	return rewrite.New(o)
}

func TestRewrite(t *testing.T) {
	all := search.Rewrite{Phrasings: 2, TranslateTo: "zh", HypotheticalAnswer: true}
	for says, want := range map[string]string{
		`{"phrasings": ["money back", "return payment"], "translation": "怎么退款", "hypothetical_answer": "Press the button."}`: "money back|return payment|怎么退款|Press the button.",
		"```json\n{\"phrasings\": [\"a\", \"a\", \"b\"], \"translation\": \" \"}\n```":                                       "a",
		`{"phrasings": ["refund", "money back"], "translation": "refund"}`:                                                   "money back",
		`{"translation": "怎么退款", "else": 1}`:                                                                                 "怎么退款",
	} {
		model := &scripted{says: says}
		texts, err := model.client(t, rewrite.Options{Kept: 8, KeptFor: time.Minute}).Rewrite(t.Context(), "refund", all)
		if got := strings.Join(texts, "|"); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", says, got, err, want)
		}
		const asked = `{"question":"refund","phrasings":2,"translate_to":"zh","hypothetical_answer":true}`
		if !slices.Equal(model.asked, []string{asked}) || model.header.Get("Authorization") != "Bearer secret" {
			t.Errorf(`asked %q with %v; want {asked} and model.header.Get("Authorization") "Bearer secret"`, model.asked, model.header)
		}
	}
}

func TestOnlyWhatIsWantedIsTaken(t *testing.T) {
	model := &scripted{says: `{"phrasings": ["a", "b", "c"], "translation": "t", "hypothetical_answer": "h"}`}
	client := model.client(t, rewrite.Options{Kept: 8, KeptFor: time.Minute})
	for _, c := range []struct {
		wanted search.Rewrite
		want   string
	}{
		{search.Rewrite{Phrasings: 2}, "a b"},
		{search.Rewrite{TranslateTo: "de"}, "t"},
		{search.Rewrite{HypotheticalAnswer: true}, "h"},
	} {
		texts, err := client.Rewrite(t.Context(), "q", c.wanted)
		if got := strings.Join(texts, " "); err != nil || got != c.want {
			t.Errorf("%+v: %q, %v; want %q", c.wanted, got, err, c.want)
		}
	}
	model.says = `{"phrasings": ["` + strings.Repeat("长", 5000) + `"]}`
	if texts, err := client.Rewrite(t.Context(), "other", search.Rewrite{Phrasings: 1}); err != nil || len(texts[0]) > 4096 {
		t.Errorf("%d bytes, %v; want no error and at most 4096 texts[0]", len(texts[0]), err)
	}
}

func TestRewritingsAreRemembered(t *testing.T) {
	model := &scripted{says: `{"phrasings": ["a"]}`}
	client := model.client(t, rewrite.Options{Kept: 8, KeptFor: 100 * time.Millisecond})
	ask := func(question string) {
		t.Helper()
		if _, err := client.Rewrite(t.Context(), question, search.Rewrite{Phrasings: 1}); err != nil {
			t.Fatal(err)
		}
	}
	ask("q")
	ask("q")
	ask("other")
	if n := len(model.asked); n != 2 {
		t.Errorf("asked %d times, want 2", n)
	}
	time.Sleep(150 * time.Millisecond)
	ask("q")
	if n := len(model.asked); n != 3 {
		t.Errorf("asked %d times, want 3", n)
	}
}

func TestModelsThatFail(t *testing.T) {
	for name, c := range map[string]struct {
		model scripted
		kind  fault.Kind
	}{
		"refuses":        {scripted{status: 429}, fault.Overloaded},
		"fails":          {scripted{status: 500}, fault.Unavailable},
		"is silent":      {scripted{says: "{}", after: time.Minute}, fault.Timeout},
		"talks":          {scripted{says: "I cannot do that."}, fault.Unavailable},
		"half an answer": {scripted{says: `{"phrasings": ["a"`}, fault.Unavailable},
		"nothing":        {scripted{says: `{"phrasings": []}`}, fault.Unavailable},
	} {
		client := c.model.client(t, rewrite.Options{Kept: 8, KeptFor: time.Minute, Timeout: 100 * time.Millisecond})
		_, err := client.Rewrite(t.Context(), "q", search.Rewrite{Phrasings: 1})
		if fault.KindOf(err) != c.kind || strings.Contains(err.Error(), "secret") {
			t.Errorf("a model that %s: %v (%s), want %s", name, err, fault.KindOf(err), c.kind)
		}
	}
}
