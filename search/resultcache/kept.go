package resultcache

import (
	"runtime"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/hybridge-search/hybridge/search"
	"github.com/hybridge-search/hybridge/search/answer"
)

// kept is an answer as its JSON, and when its computation began. JSON takes no
// more memory than its bytes, where a Response would keep alive what its texts
// are parts of: an engine's whole reply.
type kept struct {
	since  time.Time
	text   []byte
	preset string
	shared *search.Shared // of text; nil: it is not shared
}

func newKept(since time.Time, r *search.Response, text []byte) kept {
	return kept{since: since, text: text, preset: r.Preset, shared: answer.NewShared(r, text)}
}

// reading bounds how many answers are read at a time: that is all work, and each takes
// twice the memory of its text.
var reading = make(chan struct{}, max(2, runtime.GOMAXPROCS(0)))

// response reads the answer; ok is false when it is older than ttl or is none.
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
