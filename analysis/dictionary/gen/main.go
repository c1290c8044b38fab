// Command gen writes gojieba's dictionaries, the words folded and both compressed, into ../data,
// from where package dictionary embeds them. Run it by `go generate`.
package main

import (
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/hybridge-search/hybridge/analysis/dictionary"
)

const window = 8 << 20 // all of a dictionary

func main() {
	log.SetFlags(0)
	if err := copyAll("data", dictionary.WordsFile, dictionary.ModelFile); err != nil {
		log.Fatal("copying gojieba's dictionaries: ", err)
	}
}

func copyAll(target string, names ...string) error {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/yanyiwu/gojieba").Output()
	if err != nil {
		return err
	}
	source := filepath.Join(strings.TrimSpace(string(out)), "deps", "cppjieba", "dict")
	before, err := filepath.Glob(filepath.Join(target, "*.utf8.*")) // an earlier version wrote other names
	if err != nil {
		return err
	}
	for _, name := range before {
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	for _, name := range names {
		raw, err := os.ReadFile(filepath.Join(source, name))
		if err != nil {
			return err
		}
		if name == dictionary.WordsFile {
			raw = dictionary.FoldWords(raw)
		}
		packed, err := compress(raw)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(target, name+".zst"), packed, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func compress(raw []byte) ([]byte, error) {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(window))
	if err != nil {
		return nil, err
	}
	return w.EncodeAll(raw, nil), w.Close()
}
