package dictionary

import (
	"bytes"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/hybridge-search/hybridge/fault"
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

func TestMissingFileSaysWhatToDo(t *testing.T) {
	_, err := load("no.such.file", "/does/not/exist")
	if err == nil || !bytes.Contains([]byte(err.Error()), []byte("go generate ./analysis/dictionary")) {
		t.Errorf("error %v", err)
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
		t.Errorf("got %q, %v", raw, err)
	}
	for _, bad := range [][]byte{{1}, []byte("text"), packed[:len(packed)-3]} {
		if _, err := unpack("x", bad); !fault.Is(err, fault.Corrupt) {
			t.Errorf("%d damaged bytes: %v", len(bad), err)
		}
	}
}
