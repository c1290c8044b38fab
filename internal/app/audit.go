package app

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/fault"
)

// openAudit opens the file of the audit log, if there is to be one.
func (a *App) openAudit(context.Context) error {
	path := a.Config.Audit.Path
	if path == "" {
		return nil
	}
	file, err := os.OpenFile(filepath.Clean(path), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fault.Wrap(fault.InvalidArgument, err, "audit.path is %q; it must be a file that can be written", path)
	}
	a.auditFile = file
	a.audit = slog.New(slog.NewJSONHandler(file, nil))
	return nil
}

// keyKeeper is an engine that keeps API keys beside its knowledge bases.
type keyKeeper interface{ APIKeys() keys.Store }

// openKeys opens the stored keys, where new knowledge bases are: on an engine that keeps keys,
// or in the data directory.
func (a *App) openKeys(ctx context.Context) (err error) {
	var store keys.Store
	if keeper, ok := a.Engine(a.defaultEngine()).(keyKeeper); ok {
		store = keeper.APIKeys()
	}
	if store == nil || keys.InFolder(a.Config.DataDir) {
		if a.keyFile, err = keys.OpenSQLite(ctx, a.Config.DataDir); err != nil {
			return err
		}
	}
	switch {
	case store == nil:
		store = a.keyFile
	case a.keyFile != nil:
		store = keys.Moved(store, a.keyFile)
	}
	a.keys = keys.NewKeeper(ctx, store, a.Logger)
	return nil
}
