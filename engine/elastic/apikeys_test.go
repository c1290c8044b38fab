package elastic_test

import (
	"testing"

	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/access/quota"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/internal/keystest"
	"github.com/hybridge-search/hybridge/internal/quotatest"
)

func TestAPIKeys(t *testing.T) {
	_, prefix := devservices.Indices(t)
	keystest.Run(t, func() keys.Store { return openWith(t, optionsOf(t, prefix)).APIKeys() })
}

func TestUsage(t *testing.T) {
	_, prefix := devservices.Indices(t)
	quotatest.Run(t, func() quota.Store { return openWith(t, optionsOf(t, prefix)).Usage() })
}
