package elastic

import (
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/lib/smile"
)

// LinesAsJSON gives the values of a body in SMILE, each as a line of JSON.
func LinesAsJSON(tb testing.TB, body string) string {
	tb.Helper()
	var all strings.Builder
	for value := range strings.SplitSeq(strings.TrimSuffix(body, "\xff"), "\xff") {
		err := smile.Read(value, func(r smile.Reader) { all.WriteString(r.Raw() + "\n") })
		if err != nil || !strings.HasPrefix(value, smile.Header) {
			tb.Errorf("%q: %v; want no error and one that begins with Header", value, err)
		}
	}
	return all.String()
}
