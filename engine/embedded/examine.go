package embedded

import (
	"context"
	"path/filepath"

	"github.com/hybridge-search/hybridge/lib/sqlite"
)

// Examine checks the data in a folder, which must not be in use, without changing it.
// fault.Unsupported if they are of a newer version; fault.NotFound if there are none.
func Examine(ctx context.Context, dir string) error {
	return sqlite.Examine(ctx, filepath.Join(dir, "hybridge.db"), migrations)
}
