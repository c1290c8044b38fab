// Package realtext gives tests the texts of the retrieval sets beside the clone, and Chinese that
// is drawn to be hard to cut.
package realtext

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/hybridge-search/hybridge/internal/skips"
)

// Every gives the texts of each stride-th entry of all sets in a folder.
func Every(t testing.TB, stride int, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*", "*.jsonl"))
	if err != nil || len(files) == 0 {
		skips.Missing(t, "no data sets in "+folder)
	}
	var all []string
	for _, path := range files {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 1<<20)
		for n := 0; lines.Scan(); n++ {
			if n%stride > 0 {
				continue
			}
			var e struct{ Title, Text, Question, Answer string }
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
				t.Fatal(err)
			}
			all = append(all, e.Title, e.Text, e.Question, e.Answer)
		}
		_ = file.Close()
	}
	return all
}
