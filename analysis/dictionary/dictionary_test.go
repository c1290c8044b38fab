package dictionary

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/brief"
)

func TestFilesAreThere(t *testing.T) {
	f := func(read func() ([]byte, error), part string) {
		t.Helper()
		raw, err := read()
		if err != nil || !bytes.Contains(raw, []byte(part)) {
			t.Errorf("%d bytes without %q: %v", len(raw), part, err)
		}
	}
	f(Words, "\n退款 ")
	f(Model, "B:")
}

// TestSumsAreThoseOfTheFiles: with other files every index has to be built anew, which the sums bring about.
func TestSumsAreThoseOfTheFiles(t *testing.T) {
	f := func(path, want string) {
		t.Helper()
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(raw)); got != want {
			t.Errorf("%s has the sum %s, want %s", path, got, want)
		}
	}
	module, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/yanyiwu/gojieba").Output()
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(strings.TrimSpace(string(module)), "deps", "cppjieba", "dict")
	f(filepath.Join(folder, WordsFile), WordsSum)
	f(filepath.Join(folder, ModelFile), ModelSum)
	if err := Check(); err != nil {
		t.Errorf("Check: %v, want no error where the files are", err)
	}
}

func TestFoldWords(t *testing.T) {
	const raw = "退貨 3 v\n退货 5 v\n退貨 4 v\nABC 9 n\n坏\n无 x n\n零 0 n\n"
	const want = "退货 3 v\n退货 5 v\n"
	if got := string(FoldWords([]byte(raw))); got != want {
		t.Errorf("FoldWords(%q) = %q, want %q", brief.Of(raw), got, want)
	}
}

func TestMissingFileSaysWhatToDo(t *testing.T) {
	_, err := load("no.such.file", "/does/not/exist", FoldWords)
	if err == nil || !bytes.Contains([]byte(err.Error()), []byte("go generate ./analysis/dictionary")) {
		t.Errorf(`error %v; want an error and "go generate ./analysis/dictionary" in it`, err)
	}
}

func TestUnpack(t *testing.T) {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	packed := w.EncodeAll([]byte("退款 3 v\n"), nil)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if raw, err := unpack("x", packed); err != nil || string(raw) != "退款 3 v\n" {
		t.Errorf(`got %q, %v; want no error and string(raw) "退款 3 v\n"`, brief.Of(raw), err)
	}
	for _, bad := range [][]byte{{1}, []byte("text"), packed[:len(packed)-3]} {
		if _, err := unpack("x", bad); !fault.Is(err, fault.Corrupt) {
			t.Errorf("%d damaged bytes: %v; want an error of kind Corrupt", len(bad), err)
		}
	}
}
