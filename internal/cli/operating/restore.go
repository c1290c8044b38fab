package operating

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/app/datadir"
	"github.com/hybridge-search/hybridge/internal/cli"
)

func restoreCommand(p *cli.Program) *cobra.Command {
	overwrite, asJSON := false, (*bool)(nil)
	cmd := &cobra.Command{
		Use:   "restore DIR",
		Short: "Restore a backup into a data directory that is not in use",
		Long: "Checks a backup and writes its data files into the data directory, which no gateway may use.\n" +
			"Data files that are there already are moved aside with --overwrite, never deleted.",
		Example: "  hybridge restore /backups/hybridge-monday --data-dir .data",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := p.Settings(cmd)
			if err != nil {
				return err
			}
			done, err := restore(cmd.Context(), p, filepath.Clean(args[0]), c.DataDir, overwrite)
			if err != nil {
				return err
			}
			return printRestored(p, done, *asJSON)
		},
	}
	cmd.Flags().BoolVar(&overwrite, "overwrite", false,
		"Move existing data files into a folder replaced-… beside them")
	asJSON = cli.AddJSON(cmd.Flags())
	cli.AddSettings(cmd, "", cli.NotOfFolders...)
	return cmd
}

// restoration is the result of a restore.
type restoration struct {
	DataDir string    `json:"data_dir"`
	Files   int       `json:"files"`
	Created time.Time `json:"created"`         // of the backup
	Aside   string    `json:"aside,omitempty"` // where what was there is
}

func printRestored(p *cli.Program, done *restoration, inJSON bool) error {
	if inJSON {
		return cli.PrintJSON(p.Stdout, done)
	}
	out := &cli.Printer{W: p.Stdout}
	if done.Aside != "" {
		out.Line("what was there is in %s", done.Aside)
	}
	out.Line("restored %s of %s into %s; keyword indexes are made anew at the first start",
		cli.Counted(done.Files, "data file"), done.Created.Format(time.RFC3339), done.DataDir)
	return out.Err
}

func restore(ctx context.Context, p *cli.Program, from, to string, overwrite bool) (done *restoration, err error) {
	m, err := readManifest(from)
	if err != nil {
		return nil, err
	}
	lock, _, err := datadir.TakeUnfinished(to)
	if errors.Is(err, datadir.ErrHeld) {
		return nil, datadir.InUse(to)
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	there, err := filepath.Glob(filepath.Join(to, "*.db*"))
	if err != nil {
		return nil, err
	}
	if found, err := dataFiles(to); err != nil || len(found) > 0 && !overwrite {
		return nil, errors.Join(err, fault.New(fault.Conflict, "the data directory %s has data files already; "+
			"--overwrite moves them aside", to))
	}
	part := filepath.Join(to, "restore.part")
	if err := errors.Join(os.RemoveAll(part), os.Mkdir(part, 0o700)); err != nil {
		return nil, fault.Wrap(fault.InvalidArgument, err, "making a folder in the data directory %s", to)
	}
	for i := range m.Files {
		if err := copyChecked(ctx, p, from, part, &m.Files[i]); err != nil {
			return nil, errors.Join(err, os.RemoveAll(part))
		}
	}
	aside, err := swapFolders(from, to, part, there, m)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "putting the data files into %s", to)
	}
	return &restoration{DataDir: to, Files: len(m.Files), Created: m.Created, Aside: aside}, nil
}

// readManifest reads the description of a backup, and refuses one that this program cannot use.
func readManifest(dir string) (*manifest, error) {
	text, err := os.ReadFile(filepath.Join(dir, manifestName)) //nolint:gosec // chosen by the caller
	if errors.Is(err, os.ErrNotExist) {
		return nil, fault.New(fault.NotFound, "%s is no backup: it has no %s", dir, manifestName)
	}
	if err != nil {
		return nil, err
	}
	var m manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fault.Wrap(fault.Corrupt, err, "the manifest of the backup %s", dir)
	}
	if m.Format != backupFormat || len(m.Files) == 0 {
		return nil, fault.New(fault.Unsupported, "the backup %s has format %d and %d files; this program reads format %d",
			dir, m.Format, len(m.Files), backupFormat)
	}
	for _, f := range m.Files {
		if !isPlainName(f.Name) {
			return nil, fault.New(fault.Corrupt, "the manifest of the backup %s names the file %q", dir, f.Name)
		}
	}
	return &m, nil
}

// copyChecked copies one data file and compares it with the manifest.
func copyChecked(ctx context.Context, p *cli.Program, from, part string, f *backupFile) error {
	source, err := os.Open(filepath.Join(from, f.Name)) //nolint:gosec // a plain name
	if err != nil {
		return fault.Wrap(fault.Corrupt, err, "the backup %s lacks %s", from, f.Name)
	}
	defer source.Close() //nolint:errcheck // it was read
	path := filepath.Join(part, f.Name)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // a plain name
	if err != nil {
		return err
	}
	bar := cli.NewProgress(p.Stderr, f.Name, f.Bytes, cli.InBytes)
	_, err = io.Copy(file, bar.Reader(readerUntil{ctx, source}))
	bar.Finish()
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	size, sum, err := sumOf(ctx, path)
	if err == nil && (size != f.Bytes || sum != f.SHA256) {
		err = fault.New(fault.Corrupt, "%s of the backup %s is damaged: it has %d bytes and SHA-256 %s, its manifest says "+
			"%d and %s; nothing was changed", f.Name, from, size, sum, f.Bytes, f.SHA256)
	}
	return err
}

// swapFolders moves what is there aside and the copied files to their place. If it is cut short,
// the data directory says so until it is done again.
func swapFolders(from, to, part string, there []string, m *manifest) (aside string, err error) {
	if from, err = filepath.Abs(from); err != nil {
		return "", err
	}
	mark := filepath.Join(to, datadir.Unfinished)
	if err := errors.Join(os.WriteFile(mark, []byte(from), 0o600), syncFolder(to)); err != nil {
		return "", err
	}
	for _, path := range append(there, filepath.Join(to, "indexes")) {
		if name := filepath.Base(path); name == "lock.db" {
			continue
		}
		if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
			continue
		}
		if aside == "" {
			if aside, err = os.MkdirTemp(to, "replaced-"+time.Now().UTC().Format("20060102T150405Z")+"-"); err != nil {
				return "", err
			}
		}
		if err := os.Rename(path, filepath.Join(aside, filepath.Base(path))); err != nil {
			return aside, err
		}
	}
	for i := range m.Files {
		name := m.Files[i].Name
		if err := os.Rename(filepath.Join(part, name), filepath.Join(to, name)); err != nil {
			return aside, err
		}
	}
	return aside, errors.Join(os.Remove(part), syncFolder(to), os.Remove(mark), syncFolder(to))
}
