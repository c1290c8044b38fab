package search

import (
	"github.com/hybridge-search/hybridge/search/answer"
)

// addTimes takes over the times of a retrieval: of a leg on several knowledge bases, the
// longest.
func addTimes(t *answer.Timings, rt *retrieval) {
	for i := range rt.legs {
		if l := &rt.legs[i]; l.ran {
			t.Legs[l.Name] = max(t.Legs[l.Name], l.took)
		}
	}
	t.Fuse += rt.fuseMS
}
