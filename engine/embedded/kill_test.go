package embedded_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/embedded"
	"github.com/hybridge-search/hybridge/engine/enginetest"
)

// childDir tells the child process of TestKillProcess where to write.
const childDir = "HYBRIDGE_TEST_CHILD_DIR"

// TestKillProcess kills a process that writes without pause: whatever it was
// told is stored is there afterwards, and nothing stands twice.
func TestKillProcess(t *testing.T) {
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for round := range 2 {
		child := exec.Command(self, "-test.run=^TestChildWrites$", "-test.count=1")
		child.Env = append(os.Environ(), childDir+"="+dir)
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		acknowledged := map[string]bool{}
		for lines := bufio.NewScanner(out); len(acknowledged) < 60 && lines.Scan(); {
			if id, ok := strings.CutPrefix(lines.Text(), "stored "); ok {
				acknowledged[id] = true
			}
		}
		if err := child.Process.Kill(); err != nil {
			t.Error(err)
		}
		_ = child.Wait() // it was killed
		if len(acknowledged) < 60 {
			t.Fatalf("round %d: the child stored %d chunks only; want at least 60 acknowledged", round, len(acknowledged))
		}
		checkStored(t, dir, acknowledged)
	}
}

func checkStored(t *testing.T, dir string, acknowledged map[string]bool) {
	t.Helper()
	e := open(t, dir)
	defer mustClose(t, e)
	seen := map[string]int{}
	for _, id := range found(t, e, "word") {
		seen[id]++
	}
	for id := range acknowledged {
		if seen[id] != 1 {
			t.Errorf("chunk %s was acknowledged and stands %d times; want seen[id] 1", id, seen[id])
		}
	}
	d, err := e.Describe(t.Context(), testKB)
	if err != nil || d.Chunks != len(seen) || d.Vectors != len(seen) {
		t.Errorf("described as %+v, %v; %d chunks were found", d, err, len(seen))
	}
}

// TestChildWrites is the child of TestKillProcess; alone it writes one chunk.
func TestChildWrites(t *testing.T) {
	dir, child := os.LookupEnv(childDir)
	if !child {
		dir = t.TempDir()
	}
	e, err := embedded.Open(t.Context(), embedded.Options{Path: dir, Tokenizer: enginetest.Words{}})
	if err != nil {
		t.Fatal(err)
	}
	defer mustClose(t, e)
	_ = e.CreateKnowledgeBase(t.Context(), testKB) // there already in the second round
	for i := 0; i == 0 || child; i++ {
		chunks := []engine.Chunk{chunk(fmt.Sprint("c", i), "d", "word"), chunk("again", "d", fmt.Sprint("word w", i))}
		outcomes, err := e.Write(t.Context(), engine.WriteRequest{KB: testKB, Chunks: chunks})
		if err != nil || outcomes[0].Err != nil {
			t.Fatal(outcomes, err)
		}
		fmt.Println("stored", chunks[0].ID)
	}
}
