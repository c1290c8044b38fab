package web

import (
	"os"
	"strings"
	"testing"
)

// TestTheScriptOfEventsIsSmall, and needs nothing beside it: other pages load it.
func TestTheScriptOfEventsIsSmall(t *testing.T) {
	const most = 2048
	text, err := os.ReadFile("public/events.js")
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > most {
		t.Errorf("events.js has %d bytes; it must have at most %d", len(text), most)
	}
	if strings.Contains(string(text), "import") {
		t.Error("events.js imports something")
	}
}
