package migration

import (
	"net/url"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine"
)

// TestNobodyOvertakesAWriteInTheLog: what is in the change log and not yet in the indices is waited for, whether another
// writer has not come so far yet or an index takes no writes for a moment, as the old one does during a switch. Else
// a chunk of another document took its place, and a gateway that searches the old index did not see what was acknowledged.
func TestNobodyOvertakesAWriteInTheLog(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	g := s.gateway(nil)
	g.create(someChunks(3))
	g.apply(Change{Analyzer: new("standard")}, engine.MappingOptions{})
	m := g.until(engine.MigrationSwitched)
	g.write(chunkOf("c0001", 1)) // the gateway knows of the log from here on
	f := func(id string, begin, end func()) {
		t.Helper()
		begin()
		written := make(chan engine.WriteOutcome, 1)
		go func() {
			out, err := g.engine.Write(t.Context(), engine.WriteRequest{KB: g.kb(), Chunks: []engine.Chunk{chunkOf(id, 1)}})
			if err != nil || len(out) != 1 {
				t.Errorf("writing %s: %+v, %v; want no error and 1 out", id, out, err)
			}
			written <- append(out, engine.WriteOutcome{})[0]
		}()
		select {
		case o := <-written:
			t.Errorf("%s was not waited for: %+v", id, o)
			return
		case <-time.After(400 * time.Millisecond):
		}
		end()
		if o := <-written; o.Err != nil || o.Status != engine.Created {
			t.Errorf("%s: %+v; want no error and o.Status Created", id, o)
		}
	}
	entry := "/" + m.Log + "/_doc/" + url.PathEscape(scope.Tenant+"|kb|x")
	f("x", func() { s.ask("PUT", entry, `{"op": "index"}`, nil) }, func() { s.ask("PUT", entry, `{"op": "delete"}`, nil) })
	block := func(on string) {
		s.ask("PUT", "/"+m.FromIndex+"/_settings", `{"index.blocks.write": `+on+`}`, nil)
	}
	f("y", func() { block("true") }, func() { block("false") })
	want := someChunks(3)
	want["c0001"], want["x"], want["y"] = chunkOf("c0001", 1), chunkOf("x", 1), chunkOf("y", 1)
	s.ask("POST", "/"+m.FromIndex+"/_refresh", "", nil)
	s.holds(m.FromIndex, want)
}
