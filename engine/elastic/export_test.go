package elastic

import (
	"strings"
	"testing"
)

// LinesAsJSON gives the values of a body in SMILE, each as a line of JSON.
func LinesAsJSON(tb testing.TB, body string) string {
	tb.Helper()
	var all strings.Builder
	for value := range strings.SplitSeq(strings.TrimSuffix(body, "\xff"), "\xff") {
		err := readWith(value, func(r reader) { all.WriteString(r.raw() + "\n") })
		if err != nil || !strings.HasPrefix(value, smileHeader) {
			tb.Errorf("%q: %v", value, err)
		}
	}
	return all.String()
}
