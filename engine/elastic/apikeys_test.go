package elastic_test

import (
	"testing"

	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/internal/keystest"
)

func TestAPIKeys(t *testing.T) {
	_, prefix := devservices.Indices(t)
	keystest.Run(t, func() keys.Store { return openWith(t, optionsOf(t, prefix)).APIKeys() })
}
