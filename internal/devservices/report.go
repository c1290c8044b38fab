package devservices

import (
	"os"
	"testing"
)

// reportVariable names the file that `make stamina` collects reports in.
const reportVariable = "HYBRIDGE_TEST_REPORT"

// Report logs what a test measured, in Markdown, and appends it to the file that
// collects such reports, if there is one.
func Report(t testing.TB, text string) {
	t.Helper()
	t.Log("\n" + text)
	path, wanted := os.LookupEnv(reportVariable)
	if !wanted {
		return
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = file.WriteString(text + "\n")
	}
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		t.Error(err)
	}
}
