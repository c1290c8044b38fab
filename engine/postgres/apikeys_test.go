package postgres_test

import (
	"testing"

	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/internal/keystest"
)

func TestAPIKeys(t *testing.T) {
	options := optionsOf(t)
	keystest.Run(t, func() keys.Store { return open(t, options).APIKeys() })
}
