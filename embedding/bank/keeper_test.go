package bank

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/deadline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// letters is a model whose vectors count the letters of a text. Its first calls may fail.
type letters struct {
	name     string
	failures int
	gate     chan struct{} // closed when it may go on; nil: at once
}

func (m *letters) Model() string { return m.name }

func (m *letters) Query(ctx context.Context, text string) ([]float32, error) {
	if m.gate != nil {
		select {
		case <-m.gate:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if m.failures > 0 {
		m.failures--
		return nil, errors.New("out of memory")
	}
	v := make([]float32, 16)
	for _, r := range text {
		v[int(r)%len(v)]++
	}
	return v, nil
}

func (m *letters) Passages(ctx context.Context, texts []string) (vectors [][]float32, err error) {
	for _, text := range texts {
		v, err := m.Query(ctx, text)
		if err != nil {
			return nil, err
		}
		vectors = append(vectors, v)
	}
	return vectors, nil
}

func open(t *testing.T, folder string, m Model) *Keeper {
	t.Helper()
	var models []Model
	if m != nil {
		models = append(models, m)
	}
	k, err := Open(Options{Folder: folder, Models: models, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	return k
}

// settled waits until nothing is being measured.
func settled(t *testing.T, k *Keeper, model string) (*Centres, error) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		c, err := k.Centres(model)
		if err == nil || !strings.Contains(err.Error(), "is being measured") {
			return c, err
		}
		if time.Now().After(end) {
			t.Fatal("still being measured after 20 s")
		}
	}
}

// TestKeptForTheNextStart: the second keeper has no model to ask.
func TestKeptForTheNextStart(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "bank")
	first := open(t, folder, &letters{name: "letters/v1"})
	if _, err := first.Centres("letters/v1"); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("the first call waits or fails otherwise: %v; want fault.KindOf(err) Unavailable", err)
	}
	made, err := settled(t, first, "letters/v1")
	if err != nil {
		t.Fatal(err)
	}
	first.Close()
	kept, err := open(t, folder, nil).Centres("letters/v1")
	if err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(made)
	b, _ := json.Marshal(kept)
	if string(a) != string(b) {
		t.Error("what was kept is not what was made")
	}
}

func TestWhatIsNotKnown(t *testing.T) {
	f := func(k *Keeper, model string, kind fault.Kind, want string) {
		t.Helper()
		_, err := settled(t, k, model)
		if fault.KindOf(err) != kind || !strings.Contains(err.Error(), want) {
			t.Errorf("model %q: %v, want %s", model, err, want)
		}
	}
	k := open(t, t.TempDir(), &letters{name: "letters", failures: 1})
	f(k, "another", fault.Unsupported, "is not a configured one")
	f(k, "", fault.Unsupported, "is not a configured one")
	f(k, "letters", fault.Unavailable, "out of memory") // and is not asked again at once
	f(open(t, t.TempDir(), nil), "letters", fault.Unsupported, "is not a configured one")
}

// TestOtherTexts: what was made of other texts, or is broken, is made anew.
func TestOtherTexts(t *testing.T) {
	for name, text := range map[string]string{
		"of another bank": `{"model":"letters","bank":"old"}`,
		"cut off":         `{"model":"letters","ba`,
	} {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, "letters.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if c, err := settled(t, open(t, folder, &letters{name: "letters"}), "letters"); err != nil || c.Dimensions() != 16 {
			t.Errorf("%s: %+v, %v; want no error and c.Dimensions() 16", name, c, err)
		}
	}
}

// TestCloseEnds what is under way.
func TestCloseEnds(t *testing.T) {
	deadline.Set(t, time.Minute)
	k := open(t, t.TempDir(), &letters{name: "letters", gate: make(chan struct{})})
	if _, err := k.Centres("letters"); err == nil {
		t.Fatal("known at once")
	}
	k.Close()
	if _, err := k.Centres("letters"); err == nil {
		t.Error("known after its end")
	}
}
