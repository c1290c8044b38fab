package embedded

import (
	"context"
	"path/filepath"

	"github.com/hybridge-search/hybridge/lib/sqlite"
)

// Examine looks at the data in a folder, which nobody may be writing, and changes nothing.
// fault.Unsupported when they are of a newer version; fault.NotFound when there are none.
func Examine(ctx context.Context, dir string) error {
	return sqlite.Examine(ctx, filepath.Join(dir, "hybridge.db"), migrations)
}
