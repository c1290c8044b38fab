package postgres_test

import (
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/enginetest"
)

func TestRecordsOfSeveralGateways(t *testing.T) {
	options := optionsOf(t)
	enginetest.SharedRecords(t, func() engine.Engine { return open(t, options) })
}
