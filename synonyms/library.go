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

// Global is the name of the set that every knowledge base uses.
const Global = "global"

const (
	extension = ".txt"
	// settle is how long a folder must be quiet before it is read again: a
	// file is written in several steps.
	settle = 100 * time.Millisecond
)

// Options configure a Library.
type Options struct {
	// Path is a folder with global.txt and <knowledge base>.txt, or one file
	// for all knowledge bases. Empty: no synonyms.
	Path string
	// Tokenizer is that of the texts searched.
	Tokenizer Tokenizer
	// OnReload is called after every reload, from one goroutine: with nil, or
	// with the bad line or file; what was loaded from it before stays in use.
	// May be nil.
	OnReload func(error)
}

// Library holds the synonym sets of a folder and follows its changes until it
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

// Open loads the sets and begins to watch. A missing path or a bad line is an
// error here; later it is reported to OnReload.
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

// watch begins before the first load, so that no change falls in between. The
// folder is watched also for one file: editors replace files.
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

// For gives the synonyms of a knowledge base: its own, then the global ones.
// It keeps to the sets of this moment: one query sees one version.
func (l *Library) For(knowledgeBase string) analysis.Expander {
	sets := *l.sets.Load()
	if knowledgeBase == Global {
		return sets[Global]
	}
	return both{own: sets[knowledgeBase], global: sets[Global]}.expander()
}

// Rules is the number of rules in use by set name.
func (l *Library) Rules() map[string]int {
	counts := map[string]int{}
	for name, s := range *l.sets.Load() {
		counts[name] = s.Len()
	}
	return counts
}

// Close stops watching and waits for the watcher to end. The sets stay usable.
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

// None knows no synonym. It is what there is for a knowledge base without a set.
var None analysis.Expander = both{}

// expander spares memory where there is nothing: most have no synonyms.
func (b both) expander() analysis.Expander {
	if b == (both{}) {
		return None
	}
	return b
}

// Expand implements analysis.Expander.
func (b both) Expand(terms []string) []analysis.Expansion {
	return append(b.own.Expand(terms), b.global.Expand(terms)...)
}

// follow reloads whenever the folder was changed and has settled.
func (l *Library) follow() {
	quiet := time.NewTimer(settle)
	quiet.Stop()
	defer quiet.Stop()
	for {
		select {
		case _, open := <-l.watcher.Events:
			if !open {
				return
			}
			quiet.Reset(settle)
		case err, open := <-l.watcher.Errors:
			if !open {
				return
			}
			if errors.Is(err, fsnotify.ErrEventOverflow) {
				quiet.Reset(settle)
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

// load reads every file. The set of a bad one stays as it was; the errors of
// all are returned.
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

// names gives the files by set name.
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
