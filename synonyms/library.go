package synonyms

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/fault"
)

// Global is the name of the set that all knowledge bases use.
const Global = "global"

const (
	extension = ".txt"
	// quietTime is how long a folder must be unchanged before it is read again, as a file
	// is written in several steps.
	quietTime = 100 * time.Millisecond
)

// Options configure a Library.
type Options struct {
	// Path is a folder with global.txt and <knowledge base>.txt, or one file
	// for all knowledge bases. Empty: no synonyms.
	Path string
	// Tokenizer must be that of the indexed texts.
	Tokenizer Tokenizer
	// OnReload is called after every reload, always by the same goroutine: with nil, or
	// with the error of a bad line or file, whose previous content stays in use. May be nil.
	OnReload func(error)
}

// Library holds the synonym sets of a folder and reloads them when they change, until it
// is closed. It is safe for concurrent use.
type Library struct {
	options Options
	folder  string
	only    string // the one file, or empty
	sets    atomic.Pointer[map[string]*Set]
	watcher *fsnotify.Watcher
	done    sync.WaitGroup
	close   sync.Once
}

// Open loads the sets and watches them. A missing path or a bad line is an error here;
// later it is reported to OnReload.
func Open(o Options) (*Library, error) {
	l := &Library{options: o}
	l.sets.Store(&map[string]*Set{})
	if o.Path == "" {
		return l, nil
	}
	info, err := os.Stat(o.Path)
	if err != nil {
		return nil, fault.Wrap(fault.InvalidArgument, err, "opening the synonyms %s", o.Path)
	}
	l.folder = filepath.Clean(o.Path)
	if !info.IsDir() {
		l.folder, l.only = filepath.Split(l.folder)
		l.folder = filepath.Clean(l.folder)
	}
	if err := l.watch(); err != nil {
		return nil, err
	}
	if err := l.load(); err != nil {
		_ = l.watcher.Close()
		return nil, err
	}
	l.done.Go(l.follow)
	return l, nil
}

// watch must be called before the first load, so that no change is missed. Even for a
// single file it watches the folder, because editors replace files.
func (l *Library) watch() error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return fault.Wrap(fault.Internal, err, "watching the synonyms %s", l.options.Path)
	}
	if err := w.Add(l.folder); err != nil {
		_ = w.Close()
		return fault.Wrap(fault.Internal, err, "watching the synonyms %s", l.options.Path)
	}
	l.watcher = w
	return nil
}

// For returns the synonyms of a knowledge base, its own before the global ones. They do
// not change, so that one query sees one version.
func (l *Library) For(knowledgeBase string) analysis.Expander {
	sets := *l.sets.Load()
	if knowledgeBase == Global {
		return sets[Global]
	}
	return both{own: sets[knowledgeBase], global: sets[Global]}.expander()
}

// Rules returns the number of rules in use, by the name of the set.
func (l *Library) Rules() map[string]int {
	counts := map[string]int{}
	for name, s := range *l.sets.Load() {
		counts[name] = s.Len()
	}
	return counts
}

// Close stops watching and waits for the watcher. The sets stay usable.
func (l *Library) Close() error {
	var err error
	l.close.Do(func() {
		if l.watcher != nil {
			err = l.watcher.Close()
			l.done.Wait()
		}
	})
	return err
}

// both asks the knowledge base's own set before the global one.
type both struct{ own, global *Set }

// None has no synonyms. It is the Expander of a knowledge base without a set.
var None analysis.Expander = both{}

// expander avoids an allocation for the many knowledge bases without synonyms.
func (b both) expander() analysis.Expander {
	if b == (both{}) {
		return None
	}
	return b
}

// Expand implements analysis.Expander.
func (b both) Expand(terms []string) analysis.Expansions {
	return b.own.Expand(terms).And(b.global.Expand(terms))
}

// follow reloads whenever the folder has changed and then been quiet.
func (l *Library) follow() {
	quiet := time.NewTimer(quietTime)
	quiet.Stop()
	defer quiet.Stop()
	for {
		select {
		case _, open := <-l.watcher.Events:
			if !open {
				return
			}
			quiet.Reset(quietTime)
		case err, open := <-l.watcher.Errors:
			if !open {
				return
			}
			if errors.Is(err, fsnotify.ErrEventOverflow) {
				quiet.Reset(quietTime)
				continue
			}
			l.report(fault.Wrap(fault.Internal, err, "watching the synonyms %s", l.options.Path))
		case <-quiet.C:
			l.report(l.load())
		}
	}
}

func (l *Library) report(err error) {
	if l.options.OnReload != nil {
		l.options.OnReload(err)
	}
}

// load reads every file. A bad file keeps its previous set; the errors of all are joined.
func (l *Library) load() error {
	names, err := l.names()
	if err != nil {
		return err
	}
	old := *l.sets.Load()
	sets := map[string]*Set{}
	var failed []error
	for name, path := range names {
		set, err := l.read(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // removed since it was listed
		case err != nil:
			failed = append(failed, err)
			if set = old[name]; set == nil {
				continue
			}
		}
		sets[name] = set
	}
	if !maps.Equal(sets, old) {
		l.sets.Store(&sets)
	}
	return errors.Join(failed...)
}

// names returns the files by the name of their set.
func (l *Library) names() (map[string]string, error) {
	if l.only != "" {
		return map[string]string{Global: filepath.Join(l.folder, l.only)}, nil
	}
	entries, err := os.ReadDir(l.folder)
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "listing the synonyms %s", l.folder)
	}
	names := map[string]string{}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), extension)
		if ok && name != "" && !strings.HasPrefix(name, ".") && !e.IsDir() {
			names[name] = filepath.Join(l.folder, e.Name())
		}
	}
	return names, nil
}

func (l *Library) read(path string) (*Set, error) {
	file, err := os.Open(filepath.Clean(path))
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "reading the synonyms %s", path)
	}
	defer func() { _ = file.Close() }()
	return Parse(filepath.Base(path), file, l.options.Tokenizer)
}
