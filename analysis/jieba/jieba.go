// Package jieba segments by gojieba, which needs a C compiler. Only the command imports it.
package jieba

import (
	"cmp"
	"log/slog"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"weak"

	"github.com/yanyiwu/gojieba"

	"github.com/hybridge-search/hybridge/analysis/dictionary"
	"github.com/hybridge-search/hybridge/analysis/fold"
	"github.com/hybridge-search/hybridge/analysis/segment"
	"github.com/hybridge-search/hybridge/fault"
)

// Options name the folder of the dictionaries, and further words.
type Options struct {
	// DictionaryDir gets the embedded dictionaries, unpacked once per version.
	// Empty: a temporary folder while they are loaded.
	DictionaryDir string
	// UserDictionary is a file of further words, with lines of `word [frequency] [tag]`
	// and # comments; empty for none. ASCII words need no entry: they are never cut.
	UserDictionary string
	// Logger is told when gojieba cannot be loaded later; nil: slog.Default().
	Logger *slog.Logger
}

// Segmenter is gojieba, loaded by the first text that is cut (half a second and 150 MB, which
// gojieba's finalizer frees), and its lexicon, loaded by the first who asks for it: who never
// meets Chinese pays for neither. Where gojieba cannot be loaded, the lexicon, which finds the
// same words, cuts everything.
type Segmenter struct {
	jieba       func() *gojieba.Jieba // nil if it cannot be loaded
	lexicon     func() *segment.Lexicon
	fingerprint string
}

// Lexicon implements segment.Segmenter.
func (s *Segmenter) Lexicon() *segment.Lexicon { return s.lexicon() }

// Fingerprint implements segment.Segmenter.
func (s *Segmenter) Fingerprint() string { return s.fingerprint }

// opened holds the segmenters in use, by fingerprint.
var opened = struct {
	sync.Mutex
	by map[string]weak.Pointer[Segmenter]
}{by: map[string]weak.Pointer[Segmenter]{}}

// Open returns a segmenter, the one in use if it has the same dictionaries. A bad user
// dictionary is an InvalidArgument that names the line; one is loaded at once, as it may be
// more than the lexicon or gojieba takes.
func Open(o Options) (*Segmenter, error) {
	if strings.ContainsAny(o.DictionaryDir, "|;") {
		return nil, fault.Invalid("data_dir", o.DictionaryDir,
			"a path without | and ;, which gojieba reads as a list of paths")
	}
	if err := dictionary.Check(); err != nil {
		return nil, err
	}
	d, err := collect(o, fold.Load())
	if err != nil {
		return nil, err
	}
	opened.Lock()
	defer opened.Unlock()
	s := opened.by[d.fingerprint].Value()
	if s == nil {
		s = d.open(o)
		opened.by[d.fingerprint] = weak.Make(s)
	}
	if d.user != nil && s.jieba() == nil && s.lexicon() == nil {
		return nil, fault.New(fault.Internal, "the dictionaries cannot be loaded; the log says why")
	}
	return s, nil
}

// open returns a segmenter that loads what it needs when it needs it.
func (d dictionaries) open(o Options) *Segmenter {
	log := cmp.Or(o.Logger, slog.Default())
	return &Segmenter{
		fingerprint: d.fingerprint,
		jieba: sync.OnceValue(func() *gojieba.Jieba {
			defer debug.FreeOSMemory() // reading them leaves garbage
			loaded, err := d.gojieba(o.DictionaryDir)
			if err != nil {
				log.Error("gojieba cannot be loaded: Chinese is cut by the program's own tables, which have the same words",
					"error", err)
			}
			return loaded
		}),
		lexicon: sync.OnceValue(func() *segment.Lexicon {
			defer debug.FreeOSMemory()
			read, err := d.lexicon()
			if err != nil {
				log.Error("the dictionaries of Chinese cannot be read: gojieba cuts it", "error", err)
			}
			return read
		}),
	}
}

// Segment implements segment.Segmenter. gojieba does not mark parts: words that overlap the
// next one.
func (s *Segmenter) Segment(text string, words []segment.Word) []segment.Word {
	first, loaded := len(words), s.jieba()
	if loaded == nil {
		return s.lexicon().Segment(text, words)
	}
	for _, w := range loaded.Tokenize(text, gojieba.SearchMode, true) {
		words = append(words, segment.Word{Start: w.Start, End: w.End})
	}
	runtime.KeepAlive(s)
	whole := len(words) - 1
	for i := whole - 1; i >= first; i-- {
		if words[i].End > words[whole].Start {
			words[i].Part = true
		} else {
			whole = i
		}
	}
	return words
}
