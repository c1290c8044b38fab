package app

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/access/quota"
	"github.com/hybridge-search/hybridge/fault"
)

// door decides access: keys, quotas of tenants, and the log of who did what.
type door struct {
	keys      *keys.Keeper
	keyFile   *keys.SQLite // nil: the keys are elsewhere, and there were none here
	quota     *quota.Meter
	usageFile *quota.SQLite // nil: writes of tenants are counted elsewhere
	audit     *slog.Logger  // nil: nothing is audited
	auditFile *os.File
}

// open opens the log, the keys and the meter of tenants, whose knowledge bases and chunks are counted by count.
func (d *door) open(ctx context.Context, o *Options, s *storage, count countTenant) error {
	if err := d.openAudit(o); err != nil {
		return err
	}
	if err := d.openKeys(ctx, o, s); err != nil {
		return err
	}
	return d.openQuota(ctx, o, s, count)
}

type countTenant func(ctx context.Context, tenant string) (quota.Counts, error)

// openAudit opens the file of the audit log, if there is to be one.
func (d *door) openAudit(o *Options) error {
	path := o.Config.Audit.Path
	if path == "" {
		return nil
	}
	file, err := os.OpenFile(filepath.Clean(path), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fault.Wrap(fault.InvalidArgument, err, "audit.path is %q; it must be a file that can be written", path)
	}
	d.auditFile = file
	d.audit = slog.New(slog.NewJSONHandler(file, nil))
	return nil
}

// keyKeeper is an engine that keeps API keys beside its knowledge bases.
type keyKeeper interface{ APIKeys() keys.Store }

// openKeys opens the stored keys, where new knowledge bases are: on an engine that keeps keys,
// or in the data directory.
func (d *door) openKeys(ctx context.Context, o *Options, s *storage) (err error) {
	var store keys.Store
	if keeper, ok := s.named(s.standard).(keyKeeper); ok {
		store = keeper.APIKeys()
	}
	if store == nil || keys.InFolder(o.Config.DataDir) {
		if d.keyFile, err = keys.OpenSQLite(ctx, o.Config.DataDir); err != nil {
			return err
		}
	}
	switch {
	case store == nil:
		store = d.keyFile
	case d.keyFile != nil:
		store = keys.Moved(store, d.keyFile)
	}
	d.keys = keys.NewKeeper(ctx, store, o.Logger)
	return nil
}

// usageKeeper is an engine that counts what tenants write beside its knowledge bases.
type usageKeeper interface{ Usage() quota.Store }

// openQuota opens the meter of tenants, which counts where new knowledge bases are: on an engine
// that keeps such counts, or in the data directory.
func (d *door) openQuota(ctx context.Context, o *Options, s *storage, count countTenant) (err error) {
	var store quota.Store
	if keeper, ok := s.named(s.standard).(usageKeeper); ok {
		store = keeper.Usage()
	}
	if store == nil {
		if d.usageFile, err = quota.OpenSQLite(ctx, o.Config.DataDir); err != nil {
			return err
		}
		store = d.usageFile
	}
	l := &o.Config.Limits
	d.quota = quota.New(quota.Options{
		Limits: quota.Limits{
			Bytes: int64(l.TenantBytesADay), KnowledgeBases: int64(l.TenantKnowledgeBases), Chunks: int64(l.TenantChunks),
		},
		Store: store, Count: count, Logger: o.Logger,
	})
	return nil
}

func (d *door) close() error {
	var errs []error
	if d.keyFile != nil {
		errs = append(errs, d.keyFile.Close())
	}
	if d.usageFile != nil {
		errs = append(errs, d.usageFile.Close())
	}
	if d.auditFile != nil {
		errs = append(errs, d.auditFile.Close())
	}
	return errors.Join(errs...)
}
