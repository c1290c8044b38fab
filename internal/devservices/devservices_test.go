package devservices

import (
	"fmt"
	"testing"
)

// recorder stands in for a test and notes how it would end.
type recorder struct {
	testing.TB
	end    string
	errors int
}

func (*recorder) Helper()                 {}
func (r *recorder) Fatal(args ...any)     { r.end = "fatal: " + fmt.Sprint(args...) }
func (r *recorder) Errorf(string, ...any) { r.errors++ }
func (r *recorder) Skip(args ...any)      { r.end = "skip: " + fmt.Sprint(args...) }
func (r *recorder) has(prefix string) bool {
	return len(r.end) > len(prefix) && r.end[:len(prefix)] == prefix
}

func TestMissingServerSkipsOnALaptopAndFailsInCI(t *testing.T) {
	for ci, want := range map[string]string{"": "skip: ", "false": "skip: ", "true": "fatal: "} {
		t.Setenv("CI", ci)
		t.Setenv(elasticsearchURL, "")
		t.Setenv("HYBRIDGE_TEST_SKIPS", "") // it is none that counts
		r := &recorder{}
		if Elasticsearch(r); !r.has(want) {
			t.Errorf("CI=%q: %q, want it to begin with %q", ci, r.end, want)
		}
	}
}

func TestURLsComeFromTheEnvironment(t *testing.T) {
	t.Setenv(elasticsearchURL, "http://127.0.0.1:1")
	t.Setenv(embeddingURL, "http://127.0.0.1:2/v1")
	if got := Elasticsearch(t); got != "http://127.0.0.1:1" {
		t.Errorf(`Elasticsearch: %q; want got "http://127.0.0.1:1"`, got)
	}
	if got := Embedding(t); got != "http://127.0.0.1:2/v1" {
		t.Errorf(`Embedding: %q; want got "http://127.0.0.1:2/v1"`, got)
	}
}
