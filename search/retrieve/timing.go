package retrieve

import (
	"github.com/hybridge-search/hybridge/search/answer"
)

// AddTimes takes over the times of a retrieval: of a leg on several knowledge bases, the
// longest.
func AddTimes(t *answer.Timings, rt *Retrieval) {
	for i := range rt.Legs {
		if l := &rt.Legs[i]; l.ran {
			t.Legs[l.Name] = max(t.Legs[l.Name], l.took)
		}
	}
	t.Fuse += rt.FuseMS
}
