package kubetest

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the files that are made of others instead of comparing with them")

// same compares a file of the project with what it is made of.
func same(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, read(t, path)); diff != "" {
		t.Errorf("%s is not what it is made of (-want +got; -update writes it):\n%s", path, diff)
	}
}

// TestPlainManifests: they are what the chart makes of the values beside them.
func TestPlainManifests(t *testing.T) {
	folders, err := filepath.Glob(plain + "/*/values.yaml")
	if err != nil || len(folders) != 2 {
		t.Fatalf("%v, %v; want two", folders, err)
	}
	for _, values := range folders {
		rendered, err := render(t, read(t, values))
		if err != nil {
			t.Fatal(err)
		}
		same(t, filepath.Join(filepath.Dir(values), "hybridge.yaml"), plainHead+rendered)
	}
}

const plainHead = "# Made from values.yaml by the tests of deploy/kubetest with -update; what\n" +
	"# `helm template hybridge deploy/helm/hybridge --namespace hybridge --values values.yaml` makes.\n"
