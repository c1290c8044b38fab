// Package dictionary carries the Chinese word list and the model for unknown
// words that gojieba reads, so that a binary copied alone can segment Chinese.
//
// `go generate ./analysis/dictionary` copies them, compressed, out of the
// gojieba module into the ignored folder data, which is embedded. A build
// without that step (go test, go run) reads them from the module itself.
package dictionary

import (
	"embed"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"
	"github.com/yanyiwu/gojieba"

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

// Words is the word list: a line `word frequency tag` each.
func Words() ([]byte, error) { return load(WordsFile, gojieba.DICT_PATH) }

// Model is the hidden Markov model for words that the list does not know.
func Model() ([]byte, error) { return load(ModelFile, gojieba.HMM_PATH) }

func load(name, fallback string) ([]byte, error) {
	packed, err := fs.ReadFile(embedded, "data/"+name+".zst")
	if err == nil {
		return unpack(name, packed)
	}
	raw, err := os.ReadFile(filepath.Clean(fallback))
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err,
			"the Chinese dictionary %s is not in this binary; run `go generate ./analysis/dictionary` before building",
			name)
	}
	return raw, nil
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
