package postgres_test

import (
	"testing"

	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/access/quota"
	"github.com/hybridge-search/hybridge/internal/keystest"
	"github.com/hybridge-search/hybridge/internal/quotatest"
)

func TestAPIKeys(t *testing.T) {
	options := optionsOf(t)
	keystest.Run(t, func() keys.Store { return open(t, options).APIKeys() })
}

func TestUsage(t *testing.T) {
	options := optionsOf(t)
	quotatest.Run(t, func() quota.Store { return open(t, options).Usage() })
}
