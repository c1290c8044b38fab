package golden

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/internal/brief"
)

// recorder stands in for a test and notes what it complains of.
type recorder struct {
	testing.TB
	complaint string
}

func (*recorder) Helper()                          {}
func (r *recorder) Errorf(format string, a ...any) { r.complaint = fmt.Sprintf(format, a...) }
func (r *recorder) Fatalf(format string, a ...any) {
	r.complaint = fmt.Sprintf(format, a...)
	panic(r)
}

func complaintOf(check func(t testing.TB)) (complaint string) {
	r := &recorder{}
	defer func() {
		if recovered := recover(); recovered != nil && recovered != any(r) {
			panic(recovered)
		}
		complaint = r.complaint
	}()
	check(r)
	return r.complaint
}

func TestGolden(t *testing.T) {
	t.Chdir(t.TempDir())
	value := map[string]string{"query": "a < b & 退款"}

	missing := complaintOf(func(t testing.TB) { JSON(t, "deep/value.json", value) })
	if !strings.Contains(missing, "-update") {
		t.Errorf("a missing file must tell of -update, got %q", missing)
	}

	*update = true
	JSON(t, "deep/value.json", value)
	*update = false
	written, err := os.ReadFile("testdata/deep/value.json")
	if want := "{\n  \"query\": \"a < b & 退款\"\n}\n"; err != nil || string(written) != want {
		t.Fatalf("wrote %q (%v), want %q", brief.Of(written), err, want)
	}

	if same := complaintOf(func(t testing.TB) { JSON(t, "deep/value.json", value) }); same != "" {
		t.Errorf(`an equal value is refused: %s; want same ""`, same)
	}
	value["query"] = "other"
	if other := complaintOf(func(t testing.TB) { JSON(t, "deep/value.json", value) }); !strings.Contains(other, "other") {
		t.Errorf("a different value gives %q, want the difference", other)
	}
}
