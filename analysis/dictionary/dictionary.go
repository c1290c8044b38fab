// Package dictionary carries the Chinese word list, folded as texts are, and the model for
// unknown words that gojieba reads, so that a binary copied alone can segment Chinese.
//
// `go generate ./analysis/dictionary` takes them out of the gojieba module into the ignored
// folder data, compressed, which is embedded. A build without that step (go test, go run)
// reads them from the module itself.
package dictionary

import (
	"bytes"
	"embed"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/yanyiwu/gojieba"

	"github.com/hybridge-search/hybridge/analysis/fold"
	"github.com/hybridge-search/hybridge/fault"
)

//go:generate go run ./gen

//go:embed all:data
var embedded embed.FS

// The files copied, by their names in the gojieba module; embedded with .zst.
const (
	WordsFile = "jieba.dict.utf8"
	ModelFile = "hmm_model.utf8"
)

// The SHA-256 of gojieba's files, which no one wants to read at every start.
const (
	WordsSum = "3043b77068e09c9904f27cad82f12b6ebe9dbdb5aeff3b25e45ab7f9c1122b55"
	ModelSum = "f17790586ac86dd048c8adffed052c4bd2b28ed0682972c1275e59040c0589a7"
)

// Words is the word list, folded: a line `word frequency tag` each.
func Words() ([]byte, error) { return load(WordsFile, gojieba.DICT_PATH, FoldWords) }

// Model is the hidden Markov model for words that the list does not know.
func Model() ([]byte, error) {
	return load(ModelFile, gojieba.HMM_PATH, func(raw []byte) []byte { return raw })
}

// Check fails when a dictionary can be read neither from the binary nor from the module.
func Check() error {
	for name, fallback := range map[string]string{WordsFile: gojieba.DICT_PATH, ModelFile: gojieba.HMM_PATH} {
		if _, err := fs.Stat(embedded, embeddedName(name)); err == nil {
			continue
		}
		if _, err := os.Stat(fallback); err != nil {
			return missing(name, err)
		}
	}
	return nil
}

func embeddedName(name string) string { return "data/" + name + ".zst" }

func missing(name string, err error) error {
	return fault.Wrap(fault.Internal, err,
		"the Chinese dictionary %s is not in this binary; run `go generate ./analysis/dictionary` before building", name)
}

func load(name, fallback string, made func([]byte) []byte) ([]byte, error) {
	packed, err := fs.ReadFile(embedded, embeddedName(name))
	if err == nil {
		return unpack(name, packed)
	}
	raw, err := os.ReadFile(filepath.Clean(fallback))
	if err != nil {
		return nil, missing(name, err)
	}
	return made(raw), nil
}

// FoldWords folds the word list as texts are folded, so that every entry can match. Of two
// entries that fold to the same word the more frequent counts. ASCII entries are skipped,
// as the dictionary does not cut Latin words.
func FoldWords(raw []byte) []byte {
	t := fold.Load()
	var lines bytes.Buffer
	lines.Grow(len(raw))
	best := map[string]float64{}
	for line := range strings.Lines(string(raw)) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			continue
		}
		entry := t.String(fields[0])
		frequency, err := strconv.ParseFloat(fields[1], 64)
		if err != nil || frequency <= 0 || entry == "" || fold.IsASCII(entry) || frequency <= best[entry] {
			continue
		}
		best[entry] = frequency
		lines.WriteString(entry + " " + fields[1] + " " + fields[2] + "\n") // a later line replaces an earlier one
	}
	return lines.Bytes()
}

func unpack(name string, packed []byte) ([]byte, error) {
	r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "unpacking the embedded dictionary %s", name)
	}
	defer r.Close()
	raw, err := r.DecodeAll(packed, nil)
	if err != nil {
		return nil, fault.Wrap(fault.Corrupt, err, "unpacking the embedded dictionary %s", name)
	}
	return raw, nil
}
