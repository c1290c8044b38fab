package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/search/recall"
)

// TestRecallOfTheEmbeddedEngineIsOne: it compares all vectors, so a table says that nothing is lost.
func TestRecallOfTheEmbeddedEngineIsOne(t *testing.T) {
	t.Parallel()
	c := command{t: t, folder: t.TempDir()}
	file, questions := filepath.Join(t.TempDir(), "k.jsonl"), filepath.Join(t.TempDir(), "questions.txt")
	c.want(cli.ExitOK, "", "kb create k --dimensions 2")
	c.want(cli.ExitOK, "", "kb create words --dimensions 0")
	if err := os.WriteFile(file, []byte(someChunks(0, 20)), 0o600); err != nil {
		t.Fatal(err)
	}
	c.want(cli.ExitOK, "", "ingest --kb k "+file)
	c.want(cli.ExitOK, "", "kb recall k", "k on embedded, preset balanced: 20 of 20 queries measured to depth 10",
		"1.0000 [1.0000, 1.0000]", "answers keep 1.0000", "0 queries lack something")
	code, out, errs := c.run("", strings.Fields("kb recall k --sample 3 --k 5 --preset vector --candidates 5 --json")...)
	var report recall.Report
	if err := json.Unmarshal([]byte(out), &report); code != cli.ExitOK || err != nil {
		t.Fatalf("%d %v: %s %s; want code exitOK and no error", code, err, brief.Of(out), errs)
	}
	if report.Measured != 3 || report.K != 5 || len(report.Fields) != 1 || report.Fields[0].Recall.Mean != 1 ||
		report.Fields[0].Methods["exact"] != 3 {
		t.Errorf(`%+v; want report.Measured 3 and report.K 5 and 1 report.Fields and report.Fields[0].Recall.Mean 1 and report.Fields[0].Methods["exact"] 3`, report)
	}
	c.want(cli.ExitUsage, "", "kb recall k --sample 0", "sample is 0; it must be 1 to 500")
	c.want(cli.ExitUsage, "", "kb recall k --queries "+questions, "--queries cannot be read")
	if err := os.WriteFile(questions, []byte("\n \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.want(cli.ExitUsage, "", "kb recall k --queries "+questions, "a file with a question on each line")
	c.want(cli.ExitUsage, "", "kb recall k --sample 3 --queries "+questions, "--queries")
	c.want(cli.ExitNotFound, "", "kb recall nosuch", "nosuch")
	c.want(cli.ExitUsage, "", "kb recall words", "nothing is approximate")
}
