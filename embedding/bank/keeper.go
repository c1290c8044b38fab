package bank

import (
	"context"
	"embed"
	"encoding/json"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hybridge-search/hybridge/fault"
)

// centres of models that are known beforehand, so that nobody waits for them.
//
//go:embed centres/*.json
var shipped embed.FS

// Options of a Keeper.
type Options struct {
	Folder string  // where centres are kept, made when there are any
	Models []Model // those that are configured
	Logger *slog.Logger
}

// Keeper keeps the centres of the models that search and ingest embed with. It embeds the
// bank once for each model, in the background. It is safe for concurrent use.
type Keeper struct {
	options Options
	bank    string // fingerprint
	life    context.Context
	end     context.CancelFunc
	work    sync.WaitGroup

	mu      sync.Mutex
	known   map[string]*Centres // by model
	makings map[string]*making
}

// making is how the centres of a model are being made.
type making struct {
	running bool
	failed  error
	again   time.Time // when the model may be asked again after a failure
}

// pause is how long a model that could not embed the bank is left alone.
const pause = time.Minute

// Open makes a keeper. It reads nothing that is large and embeds nothing yet.
func Open(o Options) (*Keeper, error) {
	topics, err := Topics()
	if err != nil {
		return nil, err
	}
	k := &Keeper{options: o, bank: fingerprint(topics), known: map[string]*Centres{}, makings: map[string]*making{}}
	k.life, k.end = context.WithCancel(context.Background())
	return k, nil
}

// Close ends the embedding that is under way and waits for its end.
func (k *Keeper) Close() {
	if k == nil {
		return
	}
	k.end()
	k.work.Wait()
}

// Centres returns those of a model, at once. While they are being made it is a
// fault.Unavailable which says so, for a model that is not configured a
// fault.Unsupported.
func (k *Keeper) Centres(model string) (*Centres, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if c := k.known[model]; c != nil {
		return c, nil
	}
	if c := k.read(model); c != nil {
		k.known[model] = c
		return c, nil
	}
	at := slices.IndexFunc(k.options.Models, func(m Model) bool { return m.Model() == model })
	if at < 0 || model == "" {
		return nil, fault.New(fault.Unsupported,
			"embedding model %q is not a configured one, so its scale is not known", model)
	}
	if failed := k.start(k.options.Models[at]); failed != nil {
		return nil, fault.Wrap(fault.Unavailable, failed, "the scale of embedding model %q could not be measured", model)
	}
	return nil, fault.New(fault.Unavailable, "the scale of embedding model %q is being measured", model)
}

// Wait waits until the scale of a model is known, or known not to be.
func (k *Keeper) Wait(ctx context.Context, model string) error {
	_, err := k.Centres(model)
	if err == nil {
		return nil
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		k.work.Wait()
	}()
	select {
	case <-done:
		_, err = k.Centres(model)
		return err
	case <-ctx.Done():
		k.end()
		<-done
		return fault.Wrap(fault.Canceled, ctx.Err(), "the scale of embedding model %q was being measured", model)
	}
}

// start embeds the bank, unless that is under way or has just failed: it gives the last failure.
func (k *Keeper) start(m Model) error {
	if k.makings[m.Model()] == nil {
		k.makings[m.Model()] = &making{}
	}
	making := k.makings[m.Model()]
	if making.running || time.Now().Before(making.again) || k.life.Err() != nil {
		return making.failed
	}
	making.running = true
	k.work.Go(func() {
		c, err := Embed(k.life, m)
		k.mu.Lock()
		defer k.mu.Unlock()
		making.running, making.failed = false, err
		if err != nil {
			making.again = time.Now().Add(pause)
			return
		}
		k.known[c.Model] = c
		if err := k.write(c); err != nil {
			k.options.Logger.Warn("the scale of the embedding model is not kept for the next start", "error", err)
		}
	})
	return making.failed
}

// read gives kept or shipped centres, nil where there are none that fit.
func (k *Keeper) read(model string) *Centres {
	kept := os.DirFS(k.options.Folder)
	for _, from := range []fs.FS{shipped, kept} {
		text, err := fs.ReadFile(from, k.place(from, model))
		if err != nil {
			continue
		}
		c, err := decode(text)
		if err == nil {
			err = c.check(model, k.bank)
		}
		if err == nil {
			return c
		}
		if from == kept && fault.KindOf(err) == fault.Corrupt {
			k.options.Logger.Warn("the kept scale of the embedding model is measured anew", "error", err)
		}
	}
	return nil
}

func (k *Keeper) place(from fs.FS, model string) string {
	if from == fs.FS(shipped) {
		return path.Join("centres", fileName(model))
	}
	return fileName(model)
}

func decode(text []byte) (*Centres, error) {
	var c Centres
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, fault.Wrap(fault.Corrupt, err, "read the scale of an embedding model")
	}
	return &c, nil
}

// write replaces the file as a whole.
func (k *Keeper) write(c *Centres) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(k.options.Folder, 0o700); err != nil {
		return err
	}
	to := filepath.Join(k.options.Folder, fileName(c.Model))
	if err := os.WriteFile(to+".new", text, 0o600); err != nil { //nolint:gosec // means of vectors are no secret
		return err
	}
	return os.Rename(to+".new", to)
}

// fileName is a model's name as that of a file: intfloat/e5 becomes intfloat_e5.json.
func fileName(model string) string {
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' {
			return r
		}
		return '_'
	}, model)
	return strings.TrimLeft(clean, ".") + ".json"
}
