package elastic

import "testing"

// TestOnlyHitsTakeLists: answers without hits, as those of statistics, are not
// released, so they must not take what the next thousand hits would be read into.
func TestOnlyHitsTakeLists(t *testing.T) {
	f := func(text string, hits int, takes bool) {
		t.Helper()
		var a answer
		r := newReader(text)
		a.read(r)
		if err := r.end(); err != nil {
			t.Fatal(err)
		}
		if a.Hits == nil || len(a.Hits) != hits || (a.lists != nil) != takes {
			t.Errorf("%s: %d hits (nil: %v), lists taken: %v", text, len(a.Hits), a.Hits == nil, a.lists != nil)
		}
		a.release()
	}
	f(`{"hits":{"hits":[]},"aggregations":{}}`, 0, false)
	f(`{"hits":{"hits":[{"_score":1},{"_score":0.5}]}}`, 2, true)
}
