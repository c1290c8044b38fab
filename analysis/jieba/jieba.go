// Package jieba segments by gojieba, which needs a C compiler. Only the command imports it.
package jieba

import (
	"runtime"
	"runtime/debug"
	"sync"
	"weak"

	"github.com/yanyiwu/gojieba"

	"github.com/hybridge-search/hybridge/analysis/fold"
	"github.com/hybridge-search/hybridge/analysis/segment"
)

// Options are where the dictionaries are, and further words.
type Options struct {
	// DictionaryDir is where the embedded dictionaries are unpacked, once per version.
	// Empty: a temporary folder while they are loaded.
	DictionaryDir string
	// UserDictionary is a file of further words, with lines of `word [frequency] [tag]`
	// and # comments; empty for none. ASCII words need no entry: they are never cut.
	UserDictionary string
}

// Segmenter is a loaded gojieba. Its 150 MB are freed by gojieba's finalizer.
type Segmenter struct {
	jieba       *gojieba.Jieba
	lexicon     *segment.Lexicon
	fingerprint string
}

// Lexicon implements segment.Segmenter.
func (s *Segmenter) Lexicon() *segment.Lexicon { return s.lexicon }

// Fingerprint implements segment.Segmenter.
func (s *Segmenter) Fingerprint() string { return s.fingerprint }

// loaded holds the segmenters in use, by fingerprint.
var loaded = struct {
	sync.Mutex
	by map[string]weak.Pointer[Segmenter]
}{by: map[string]weak.Pointer[Segmenter]{}}

// Open loads the dictionaries, which takes half a second, or returns the segmenter in use
// with the same ones. A bad user dictionary is an InvalidArgument that names the line.
func Open(o Options) (*Segmenter, error) {
	t := fold.Load()
	d, err := collect(o, t)
	if err != nil {
		return nil, err
	}
	loaded.Lock()
	defer loaded.Unlock()
	s := loaded.by[d.fingerprint].Value()
	if s == nil {
		if s, err = d.load(o.DictionaryDir, t); err != nil {
			return nil, err
		}
		loaded.by[d.fingerprint] = weak.Make(s)
		d = dictionaries{}
		debug.FreeOSMemory() // reading them leaves 40 MB of garbage
	}
	return s, nil
}

// Segment implements segment.Segmenter. gojieba does not say which words are parts; they
// are those that overlap the word after them.
func (s *Segmenter) Segment(text string, words []segment.Word) []segment.Word {
	first := len(words)
	for _, w := range s.jieba.Tokenize(text, gojieba.SearchMode, true) {
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
