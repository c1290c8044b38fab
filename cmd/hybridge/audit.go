package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/engine/postgres"
	"github.com/hybridge-search/hybridge/fault"
)

// openAudit opens the file of the audit log, if there is to be one.
func (a *App) openAudit(context.Context) error {
	path := a.config.Audit.Path
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

// openKeys opens the stored keys, where new knowledge bases are: in PostgreSQL, or in the data
// directory.
func (a *App) openKeys(ctx context.Context) error {
	var store keys.Store
	for _, e := range a.engines {
		if database, ok := e.(*postgres.Engine); ok && a.defaultEngine() == postgres.Name {
			store = database.APIKeys()
		}
	}
	if store == nil {
		file, err := keys.OpenSQLite(ctx, a.config.DataDir)
		if err != nil {
			return err
		}
		a.keyFile, store = file, file
	}
	a.keys = keys.NewKeeper(ctx, store, a.log)
	return nil
}
