package events_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/events"
)

// childFolder tells the child process of TestKilled where its log is.
const childFolder = "HYBRIDGE_TEST_EVENTS"

// TestKilled kills a process that takes events and stores them without pause: all that it acknowledged are there
// afterwards, once.
func TestKilled(t *testing.T) {
	folder := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	acknowledged := map[string]bool{}
	for round := range 2 {
		child := exec.Command(self, "-test.run=^TestChildTakesEvents$", "-test.count=1")
		child.Env = append(os.Environ(), childFolder+"="+folder, fmt.Sprint("HYBRIDGE_TEST_ROUND=", round))
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		for lines := bufio.NewScanner(out); len(acknowledged) < 100*(round+1) && lines.Scan(); {
			if id, ok := strings.CutPrefix(lines.Text(), "took "); ok {
				acknowledged[id] = true
			}
		}
		if err := child.Process.Kill(); err != nil {
			t.Error(err)
		}
		_ = child.Wait() // it was killed
	}
	l := open(t, func(o *events.Options) { o.Folder, o.Keeper = folder, keeper(t, folder) })
	seen := map[string]int{}
	for e, err := range l.Read(t.Context(), tenant, noon.AddDate(0, 0, -1), noon.Add(time.Hour)) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range e.Events {
			seen[e.Events[i].EventID]++
		}
	}
	for id := range acknowledged {
		if seen[id] != 1 {
			t.Errorf("event %s was acknowledged and is there %d times; want seen[id] 1", id, seen[id])
		}
	}
	if len(acknowledged) < 200 {
		t.Errorf("the children acknowledged %d events only; want at least 200 acknowledged", len(acknowledged))
	}
}

// TestChildTakesEvents is the child of TestKilled; alone it takes a few.
func TestChildTakesEvents(t *testing.T) {
	folder, child := os.LookupEnv(childFolder)
	if !child {
		folder = t.TempDir()
	}
	l := open(t, func(o *events.Options) { o.Folder, o.Keeper = folder, keeper(t, folder) })
	tea := asked("tea", time.Minute, "shop/a")
	for i := 0; i < 10 || child; i++ {
		id := fmt.Sprint(os.Getenv("HYBRIDGE_TEST_ROUND"), "-", i)
		accept(t, l, tenant, did(tea, "a", id))
		fmt.Println("took", id)
		if i%7 == 0 { // killed in the middle of moving, too
			if err := l.Settle(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}
