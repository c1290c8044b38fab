package embedded_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/embedded"
	"github.com/hybridge-search/hybridge/engine/enginetest"
	"github.com/hybridge-search/hybridge/fault"
)

// killedWith leaves a data directory as a killed process would, in the same files: what the
// engine does when it is closed is undone.
func killedWith(t *testing.T, change func(log string)) string {
	t.Helper()
	dir := t.TempDir()
	e := open(t, dir)
	mustCreate(t, e)
	mustWrite(t, e, chunk("a", "d", "red"), chunk("b", "d", "red"))
	log, file := filepath.Join(dir, "hybridge.db-wal"), filepath.Join(dir, "hybridge.db")
	deadline := time.Now().Add(10 * time.Second)
	for !marked(t, dir, `"commits":2`) && time.Now().Before(deadline) {
		time.Sleep(20 * time.Millisecond)
	}
	mark := readFile(t, file+".mark")
	data, frames := readFile(t, file), readFile(t, log)
	mustClose(t, e)
	for path, content := range map[string][]byte{file: data, log: frames, file + ".mark": mark} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	change(log)
	return dir
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func marked(t *testing.T, dir, what string) bool {
	t.Helper()
	return bytes.Contains(readFile(t, filepath.Join(dir, "hybridge.db.mark")), []byte(what))
}

// TestLostLog starts after the write-ahead log was removed, cut or kept.
func TestLostLog(t *testing.T) {
	f := func(what string, lost bool, change func(log string)) {
		t.Run(what, func(t *testing.T) {
			dir := killedWith(t, change)
			options := embedded.Options{Path: dir, Tokenizer: enginetest.Words{}}
			e, err := embedded.Open(t.Context(), options)
			if !lost {
				if err != nil || len(e.Troubles()) > 0 || len(found(t, e, "red")) != 2 {
					t.Fatal(err)
				}
				mustClose(t, e)
				return
			}
			if !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), "of 2 changes") ||
				!strings.Contains(err.Error(), "--accept-loss") {
				t.Fatalf(`opened with %v; want an error of kind Corrupt and "of 2 changes" in it and "--accept-loss" in it`, err)
			}
			options.AcceptLoss = true
			if e, err = embedded.Open(t.Context(), options); err != nil {
				t.Fatal(err)
			}
			if all := e.Troubles(); len(all) != 1 || all[0].Code != engine.LostWrites {
				t.Errorf("troubles %+v; want 1 all and all[0].Code LostWrites", all)
			}
			mustClose(t, e)
			mustClose(t, open(t, dir)) // told once
		})
	}
	f("kept", false, func(string) {})
	f("removed", true, func(log string) { _ = os.Remove(log) })
	f("emptied", true, func(log string) { _ = os.Truncate(log, 0) })
	f("cut", true, func(log string) {
		if info, err := os.Stat(log); err == nil {
			_ = os.Truncate(log, info.Size()-1)
		}
	})
}

// TestNoFalseAlarm: after a clean stop nothing is missing, and a copy of the directory, or a
// data file from elsewhere, is not what the mark speaks of.
func TestNoFalseAlarm(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir)
	mustCreate(t, e)
	earlier := copyDir(t, dir)
	mustWrite(t, e, chunk("a", "d", "red"))
	copied := copyDir(t, dir)
	mustClose(t, e)
	mustClose(t, open(t, dir)) // stopped cleanly
	mustClose(t, open(t, copied))
	if err := os.Remove(filepath.Join(copied, "hybridge.db")); err != nil {
		t.Fatal(err)
	}
	older := open(t, earlier)
	mustClose(t, older)
	err := os.WriteFile(filepath.Join(copied, "hybridge.db"), readFile(t, filepath.Join(earlier, "hybridge.db")), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	e, err = embedded.Open(t.Context(), embedded.Options{Path: copied, Tokenizer: enginetest.Words{}})
	if err != nil {
		t.Fatal("restored", err)
	}
	mustClose(t, e)
}
