package resultcache

import (
	"time"

	"github.com/go-json-experiment/json"

	"github.com/hybridge-search/hybridge/search"
)

// kept is an answer as its JSON, and when its computation began. JSON takes no
// more memory than its bytes, where a Response would keep alive what its texts
// are parts of: an engine's whole reply.
type kept struct {
	since time.Time
	text  []byte
}

// response reads the answer; ok is false when it is older than ttl or is none.
func (k *kept) response(ttl time.Duration) (r *search.Response, ok bool) {
	if time.Since(k.since) > ttl {
		return nil, false
	}
	r = new(search.Response)
	if err := json.Unmarshal(k.text, r); err != nil {
		return nil, false
	}
	return r, r.Preset != ""
}
