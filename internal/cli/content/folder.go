package content

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/ingest"
	"github.com/hybridge-search/hybridge/lib/gitignore"
)

// selection selects files of the folders, and their ids.
type selection struct {
	include, exclude []string // globs of paths below the folder
	tracked          bool     // leave out what a .gitignore leaves out
	prefix           string   // in front of the ids
}

func (s *selection) check() error {
	for flag, globs := range map[string][]string{"--include": s.include, "--exclude": s.exclude} {
		for _, glob := range globs {
			if glob == "" || !doublestar.ValidatePattern(glob) {
				return fault.Invalid(flag, glob, "a glob, as *.md, drafts/** or **/{old,tmp}/*")
			}
		}
	}
	return nil
}

// localFile is a file to bring.
type localFile struct {
	ingest.File
	size   int64
	folder string // the name of its source; empty: it was named itself
}

// localFolder is a folder that was named.
type localFolder struct {
	path string
	name string
	any  bool // it holds a file
}

// foundFiles are the contents of a command's paths.
type foundFiles struct {
	files   []localFile
	folders []localFolder
}

func (f *foundFiles) bytes() (n int64) {
	for i := range f.files {
		n += f.files[i].size
	}
	return n
}

// find lists the files of the paths, which are files or folders with all below them. Names that
// begin with a dot, and symbolic links, are skipped.
func (s *selection) find(paths []string) (*foundFiles, error) {
	all := &foundFiles{}
	for _, name := range paths {
		info, err := os.Stat(name)
		switch {
		case err != nil:
			return nil, fault.Invalid("path", name, "a file or folder that exists and can be read")
		case info.IsDir():
			err = s.addFolder(all, name)
		case s.wants(filepath.Base(name)):
			mark := ""
			if s.prefix != "" {
				mark = s.mark("")
			}
			all.files = append(all.files, s.file(name, filepath.Base(name), info.Size(), mark))
		}
		if err != nil {
			return nil, fault.Wrap(fault.InvalidArgument, err, "the folder %q cannot be read", name)
		}
	}
	return all, nil
}

func (s *selection) addFolder(all *foundFiles, name string) error {
	whole, err := filepath.Abs(name)
	if err == nil {
		whole, err = filepath.EvalSymlinks(whole)
	}
	if err != nil {
		return err
	}
	w := walker{selection: s, all: all, folder: localFolder{path: whole, name: s.mark(whole)}}
	if s.tracked {
		if w.above, w.rules, err = rulesAbove(whole); err != nil {
			return err
		}
	}
	if err := w.walk("", w.rules); err != nil {
		return err
	}
	all.folders = append(all.folders, w.folder)
	return nil
}

// mark names what a file came with: the prefix, which is the same on every machine, or else
// the folder, without telling where it is.
func (s *selection) mark(folder string) string {
	if s.prefix != "" {
		return "prefix:" + s.prefix
	}
	sum := sha256.Sum256([]byte(folder))
	return "folder:" + hex.EncodeToString(sum[:16])
}

func (s *selection) file(path, below string, size int64, mark string) localFile {
	open := func() (io.ReadCloser, error) { return os.Open(filepath.Clean(path)) }
	return localFile{File: ingest.File{ID: s.prefix + below, Open: open}, size: size, folder: mark}
}

// wants reports whether the globs let a file in. A glob without a slash holds at every depth.
func (s *selection) wants(below string) bool {
	matches := func(glob string) bool { return globMatches(glob, below) }
	return !slices.ContainsFunc(s.exclude, matches) && (len(s.include) == 0 || slices.ContainsFunc(s.include, matches))
}

func globMatches(glob, below string) bool {
	if !strings.Contains(glob, "/") {
		below = path.Base(below)
	}
	return doublestar.MatchUnvalidated(strings.TrimPrefix(glob, "/"), below)
}

// enters reports whether files of a folder may be wanted.
func (s *selection) enters(below string) bool {
	return !slices.ContainsFunc(s.exclude, func(glob string) bool {
		return globMatches(strings.TrimSuffix(glob, "/"), below)
	})
}

// walker lists the files of one folder.
type walker struct {
	*selection
	all    *foundFiles
	folder localFolder
	above  string // the path of the folder below the root of the repository, with a slash at its end
	rules  []gitignore.Rule
}

func (w *walker) walk(below string, rules []gitignore.Rule) error {
	here := filepath.Join(w.folder.path, filepath.FromSlash(below))
	if w.tracked {
		own, err := rulesOf(here, strings.TrimSuffix(w.above+below, "/"))
		if err != nil {
			return err
		}
		rules = append(slices.Clip(rules), own...)
	}
	entries, err := os.ReadDir(here)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err := w.entry(path.Join(below, entry.Name()), entry, rules); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) entry(below string, entry fs.DirEntry, rules []gitignore.Rule) error {
	isFolder := entry.IsDir()
	w.folder.any = w.folder.any || entry.Type().IsRegular()
	switch {
	case strings.HasPrefix(entry.Name(), ".") || gitignore.Ignored(rules, w.above+below, isFolder):
		return nil
	case isFolder && w.enters(below):
		return w.walk(below, rules)
	case !entry.Type().IsRegular() || !w.wants(below):
		return nil
	}
	info, err := entry.Info()
	if err != nil {
		return err
	}
	whole := filepath.Join(w.folder.path, filepath.FromSlash(below))
	w.all.files = append(w.all.files, w.file(whole, below, info.Size(), w.folder.name))
	return nil
}

// rulesAbove are the rules of the repository that a folder is in, and the path of the folder
// below its root. A folder that is ignored itself was named all the same: nothing above counts.
func rulesAbove(folder string) (above string, rules []gitignore.Rule, err error) {
	root := folder
	for {
		if _, err := os.Stat(filepath.Join(root, ".git")); err == nil {
			break
		}
		parent := filepath.Dir(root)
		if parent == root { // no repository
			return "", nil, nil
		}
		root = parent
	}
	text, err := readIfThere(filepath.Join(root, ".git", "info", "exclude"))
	if err != nil {
		return "", nil, err
	}
	rules = gitignore.Parse("", text)
	below, err := filepath.Rel(root, folder)
	if err != nil || below == "." {
		return "", rules, err
	}
	at := ""
	for name := range strings.SplitSeq(filepath.ToSlash(below), "/") {
		own, err := rulesOf(filepath.Join(root, filepath.FromSlash(at)), at)
		if err != nil {
			return "", nil, err
		}
		rules = append(rules, own...)
		if at = path.Join(at, name); gitignore.Ignored(rules, at, true) {
			rules = nil
		}
	}
	return at + "/", rules, nil
}

// rulesOf reads the .gitignore file of a folder, if there is one.
func rulesOf(folder, below string) ([]gitignore.Rule, error) {
	text, err := readIfThere(filepath.Join(folder, ".gitignore"))
	return gitignore.Parse(below, text), err
}

func readIfThere(name string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Clean(name))
	if isGone(err) {
		return nil, nil
	}
	return bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), err
}

// has reports whether the folder has a file, wanted or not.
func (f *localFolder) has(below string) (bool, error) {
	if !filepath.IsLocal(filepath.FromSlash(below)) {
		return false, nil
	}
	info, err := os.Lstat(filepath.Join(f.path, filepath.FromSlash(below)))
	if isGone(err) {
		return false, nil
	}
	if err != nil {
		return false, fault.Wrap(fault.InvalidArgument, err, "the folder %q cannot be read", f.path)
	}
	return info.Mode().IsRegular(), nil
}

// isGone reports whether there is no such file; a folder above it may be a file now.
func isGone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
