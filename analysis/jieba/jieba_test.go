package jieba

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/analysis/fold"
	"github.com/hybridge-search/hybridge/analysis/tokens"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/brief"
)

// shared is one Segmenter for all tests: loading takes half a second.
var shared *Segmenter

func TestMain(m *testing.M) {
	var err error
	if shared, err = Open(Options{}); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func write(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "user.txt")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestUserDictionary(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(Options{
		DictionaryDir:  dir,
		UserDictionary: write(t, "\ufeff# products\n混合桥接器\n雲圖Pro 100\n星火箱 500 nz\n水晶球儀 nz\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	a := tokens.New(s)
	// An index made under another fingerprint is built anew: what changes it does so on purpose.
	if got := shared.Fingerprint(); got != "6d582edea8861a71" {
		t.Errorf(`the fingerprint of the dictionaries is %s; want got "6d582edea8861a71"`, got)
	}
	if s.Fingerprint() == shared.Fingerprint() {
		t.Error("a user dictionary leaves the fingerprint as it is")
	}
	f := func(text, want string) {
		t.Helper()
		if terms := " " + strings.Join(a.Terms(text), " ") + " "; !strings.Contains(terms, " "+want+" ") {
			t.Errorf("%q gives%q, without %q", text, terms, want)
		}
	}
	f("购买混合桥接器说明", "混合桥接器")
	f("购买云图pro说明", "云图pro")
	f("新的星火箱到了", "星火箱")
	f("新的水晶球仪到了", "水晶球仪")

	again, err := Open(Options{DictionaryDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if again != shared {
		t.Error("the same dictionaries were loaded twice")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != s.Fingerprint() {
		t.Errorf("unpacked: %v, %v; want one folder %s", entries, err, s.Fingerprint())
	}
}

func TestUserDictionaryRefusesBadLines(t *testing.T) {
	f := func(content, want string) {
		t.Helper()
		_, err := Open(Options{UserDictionary: write(t, content)})
		if !fault.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", content, err, want)
		}
	}
	f("好词\n坏 行 有 四\n", "line 2")
	f("词 0 n\n", "line 1")
	f("词 -3 n\n", "line 1")
	f("词\xff\n", "line 1")
	if _, err := Open(Options{UserDictionary: "/does/not/exist"}); !fault.Is(err, fault.InvalidArgument) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := Open(Options{DictionaryDir: "a;b", UserDictionary: write(t, "某词\n")}); !fault.Is(err, fault.InvalidArgument) {
		t.Errorf("a folder gojieba cannot read: %v; want an error of kind InvalidArgument", err)
	}
}

// TestDamagedFolderIsReplaced: gojieba would end the process over it.
func TestDamagedFolderIsReplaced(t *testing.T) {
	dir := t.TempDir()
	d, err := collect(Options{}, fold.Load())
	if err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(dir, d.fingerprint)
	for range 2 {
		if err := d.unpack(target); err != nil || !intact(target) {
			t.Fatalf("unpacked: %v, intact: %v", err, intact(target))
		}
		if err := os.Truncate(filepath.Join(target, "jieba.dict.utf8"), 1001); err != nil {
			t.Fatal(err)
		}
		if intact(target) {
			t.Fatal("a cut file passes for intact")
		}
	}
}

// TestWithoutFilesTheLexiconCuts: a full disk after the start must not end the process nor leave Chinese uncut.
func TestWithoutFilesTheLexiconCuts(t *testing.T) {
	file := write(t, "")
	d, err := collect(Options{}, fold.Load())
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	s := d.open(Options{DictionaryDir: file, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	const text = "退款会在三个工作日内原路退回"
	if got, want := s.Segment(text, nil), shared.Segment(text, nil); !slices.Equal(got, want) {
		t.Errorf("%q is cut into %v, want %v", text, got, want)
	}
	if !strings.Contains(log.String(), file) {
		t.Errorf("the log says %q, want what failed in %s", brief.Of(log.String()), file)
	}
}
