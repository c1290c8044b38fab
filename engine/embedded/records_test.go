package embedded_test

import (
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/embedded"
	"github.com/hybridge-search/hybridge/engine/enginetest"
)

// TestRecordsOutliveTheProcess: an engine that is opened again has all of them.
func TestRecordsOutliveTheProcess(t *testing.T) {
	dir := t.TempDir()
	var last *embedded.Engine
	shut := func() {
		if last != nil {
			if err := last.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	enginetest.SharedRecords(t, func() engine.Engine {
		shut()
		last = open(t, dir)
		return last
	})
	t.Cleanup(shut)
}
