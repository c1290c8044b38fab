// Command gen copies gojieba's dictionaries, compressed, into ../data, from
// where package dictionary embeds them. Run it by `go generate`.
package main

import (
	"bytes"
	"compress/gzip"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	log.SetFlags(0)
	if err := copyAll("data", "jieba.dict.utf8", "hmm_model.utf8"); err != nil {
		log.Fatal("copying gojieba's dictionaries: ", err)
	}
}

func copyAll(target string, names ...string) error {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/yanyiwu/gojieba").Output()
	if err != nil {
		return err
	}
	source := filepath.Join(strings.TrimSpace(string(out)), "deps", "cppjieba", "dict")
	for _, name := range names {
		raw, err := os.ReadFile(filepath.Join(source, name))
		if err != nil {
			return err
		}
		packed, err := compress(raw)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(target, name+".gz"), packed, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func compress(raw []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(raw); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
