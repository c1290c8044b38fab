package resultcache

import (
	"runtime"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/hybridge-search/hybridge/search"
	"github.com/hybridge-search/hybridge/search/answer"
)

// kept is an answer as its JSON, and when its computation began. JSON takes no
// more memory than its bytes, whereas the texts of a Response would keep an
// engine's whole reply alive.
type kept struct {
	since  time.Time
	text   []byte
	preset string
	shared *search.Shared // of text; nil: it is not shared
}

func newKept(since time.Time, r *search.Response, text []byte) kept {
	return kept{since: since, text: text, preset: r.Preset, shared: answer.NewShared(r, text)}
}

// reading bounds how many answers are decoded at a time: that is pure computation, and each
// takes twice the memory of its text.
var reading = make(chan struct{}, max(2, runtime.GOMAXPROCS(0)))

// response decodes the answer; ok is false if it is older than ttl or invalid.
func (k *kept) response(ttl time.Duration) (r *search.Response, ok bool) {
	if time.Since(k.since) > ttl {
		return nil, false
	}
	reading <- struct{}{}
	defer func() { <-reading }()
	r = new(search.Response)
	if err := json.Unmarshal(k.text, r); err != nil {
		return nil, false
	}
	return r, r.Preset != ""
}
