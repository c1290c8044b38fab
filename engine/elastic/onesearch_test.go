package elastic_test

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic"
	"github.com/hybridge-search/hybridge/fault"
)

// TestTheTimeoutIsOfAWholeSearch: requests that are fast enough each, of one search, are
// given up when all of them have taken its time; what lies between them does not count.
func TestTheTimeoutIsOfAWholeSearch(t *testing.T) {
	const timeout, each, many = time.Second, 100 * time.Millisecond, 40
	kb := manuals()
	server := newFake(t, &kb)
	server.replies["_search"] = func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(each)
		_, _ = io.WriteString(w, nothing) // the client may have gone
	}
	e := server.engine(t, func(o *elastic.Options) { o.Timeout = timeout })
	ask := func(search bool) error {
		ctx := t.Context()
		if search {
			ctx = engine.OneSearch(ctx)
		}
		for i := range many {
			if _, err := e.Chunks(ctx, engine.ChunksRequest{KB: kb, IDs: []string{"a"}}); err != nil {
				return err
			}
			if i == 0 {
				time.Sleep(timeout) // for something else
			}
			if i == 1 && search {
				server.received()
			}
		}
		return nil
	}
	if err := ask(true); !fault.Is(err, fault.Timeout) {
		t.Errorf("%d requests of %v each, of one search: %v, want a timeout after %v", many, each, err, timeout)
	}
	if len(server.received()) == 0 {
		t.Error("what lies between took the time of the search")
	}
	if err := ask(false); err != nil {
		t.Errorf("requests of no search: %v", err)
	}
}
