package operating

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/lib/sqlite"
)

// manifestName is the file that describes a backup. It comes last: without it there is none.
const manifestName = "manifest.json"

// backupFormat is raised by a change that older programs cannot read.
const backupFormat = 1

// manifest describes a backup.
type manifest struct {
	Format  int          `json:"format"`
	Program string       `json:"program"` // its version
	Created time.Time    `json:"created"`
	Files   []backupFile `json:"files"`
}

// backupFile is one data file of a backup.
type backupFile struct {
	Name      string           `json:"name"`
	Bytes     int64            `json:"bytes"`
	SHA256    string           `json:"sha256"`
	Schema    int              `json:"schema"`
	MinReader int              `json:"min_reader"`
	Rows      map[string]int64 `json:"rows"` // by table
}

func backupCommand(p *cli.Program) *cobra.Command {
	var asJSON *bool
	cmd := &cobra.Command{
		Use:   "backup DIR",
		Short: "Back up the data directory while it is in use",
		Long: "Writes a consistent snapshot of each data file of the data directory to a new folder, whether a\n" +
			"gateway runs on it or not. Knowledge bases on Elasticsearch and PostgreSQL are not in it.",
		Example: "  hybridge backup /backups/hybridge-monday --data-dir .data",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := p.Settings(cmd)
			if err != nil {
				return err
			}
			made, err := backUp(cmd.Context(), p, c.DataDir, filepath.Clean(args[0]))
			if err != nil {
				return err
			}
			if *asJSON {
				return cli.PrintJSON(p.Stdout, made)
			}
			out := &cli.Printer{W: p.Stdout}
			for i := range made.Files {
				f := &made.Files[i]
				out.Line("%s  %s, schema %d", f.Name, humanize.IBytes(uint64(max(f.Bytes, 0))), f.Schema)
			}
			out.Line("the backup is in %s", args[0])
			return out.Err
		},
	}
	asJSON = cli.AddJSON(cmd.Flags())
	cli.AddSettings(cmd, "", cli.NotOfFolders...)
	return cmd
}

// dataFiles are the names of the data files of a folder. What others are written from comes first: the outbox and the
// spool of events, from which what the others have already is written again, which does no harm.
func dataFiles(dir string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.db"))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, path := range paths {
		if name := filepath.Base(path); name != "lock.db" {
			names = append(names, name)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int {
		return boolRank(isSource(b)) - boolRank(isSource(a))
	})
	return names, nil
}

func isSource(name string) bool { return name == "outbox.db" || name == "events.db" }

func boolRank(is bool) int {
	if is {
		return 1
	}
	return 0
}

// backUp makes a backup beside its place, and puts it there when it is whole.
func backUp(ctx context.Context, p *cli.Program, from, to string) (*manifest, error) {
	names, err := dataFiles(from)
	if err == nil && len(names) == 0 {
		err = fault.New(fault.NotFound, "the data directory %s has no data files", from)
	}
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(to); !errors.Is(err, os.ErrNotExist) {
		return nil, fault.New(fault.Conflict, "%s is there already; a backup needs a new folder", to)
	}
	err = os.MkdirAll(filepath.Dir(to), 0o700)
	var part string
	if err == nil {
		part, err = os.MkdirTemp(filepath.Dir(to), filepath.Base(to)+".part-")
	}
	if err != nil {
		return nil, fault.Wrap(fault.InvalidArgument, err, "making a folder for the backup beside %s", to)
	}
	made := &manifest{Format: backupFormat, Program: p.Version, Created: time.Now().UTC()}
	for _, name := range names {
		var f backupFile
		if f, err = backUpFile(ctx, p, from, part, name); err != nil {
			break
		}
		made.Files = append(made.Files, f)
	}
	if err == nil {
		err = writeManifest(part, made)
	}
	if err == nil {
		err = os.Rename(part, to)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(part))
	}
	return made, syncFolder(filepath.Dir(to))
}

func backUpFile(ctx context.Context, p *cli.Program, from, part, name string) (f backupFile, err error) {
	bar, shown := (*cli.Progress)(nil), 0
	copied := filepath.Join(part, name)
	err = sqlite.Backup(ctx, filepath.Join(from, name), copied, func(done, total int) {
		if bar == nil {
			bar = cli.NewProgress(p.Stderr, name, int64(total), cli.InPieces)
		}
		bar.Add(int64(done - shown))
		shown = done
	})
	if bar != nil {
		bar.Finish()
	}
	if err != nil {
		return f, err
	}
	contents, err := sqlite.Look(ctx, copied, func(db *sql.DB) error { return forgetOpening(ctx, db, name) })
	if err != nil {
		return f, err
	}
	f = backupFile{Name: name, Schema: contents.Version.Schema, MinReader: contents.Version.MinReader, Rows: contents.Rows}
	f.Bytes, f.SHA256, err = sumOf(ctx, copied)
	return f, err
}

// forgetOpening keeps a copy from being taken for the file that it was copied from, which has
// seen more since.
func forgetOpening(ctx context.Context, db *sql.DB, name string) error {
	if name != "hybridge.db" {
		return nil
	}
	n := 0
	err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM pragma_table_info('store') WHERE name = 'opening'").Scan(&n)
	if err == nil && n > 0 {
		_, err = db.ExecContext(ctx, "UPDATE store SET opening = ''")
	}
	return err
}

func writeManifest(dir string, m *manifest) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	file, err := os.OpenFile(filepath.Join(dir, manifestName), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(append(text, '\n'))
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return syncFolder(dir)
}

// syncFolder makes the names in a folder last; systems that cannot are left alone.
func syncFolder(dir string) error {
	folder, err := os.Open(dir) //nolint:gosec // chosen by the caller
	if err != nil {
		return err
	}
	_ = folder.Sync()
	return folder.Close()
}

// sumOf reads a file; its memory does not grow with it.
func sumOf(ctx context.Context, path string) (size int64, sum string, err error) {
	file, err := os.Open(path) //nolint:gosec // of a backup
	if err != nil {
		return 0, "", err
	}
	defer file.Close() //nolint:errcheck // it was read
	hash := sha256.New()
	size, err = io.Copy(hash, readerUntil{ctx, file})
	return size, hex.EncodeToString(hash.Sum(nil)), err
}

// readerUntil ends with a context.
type readerUntil struct {
	ctx context.Context //nolint:containedctx // of one call of io.Copy
	io.Reader
}

// Read implements io.Reader.
func (r readerUntil) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// isPlainName keeps a manifest from naming files elsewhere.
func isPlainName(name string) bool {
	return strings.HasSuffix(name, ".db") && name != "lock.db" && filepath.Base(name) == name && name != ".db"
}
