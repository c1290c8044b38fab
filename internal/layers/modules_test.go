package layers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// elsewhere are needs of one folder, which has a module of its own: whoever imports a package of this one downloads
// everything that its go.mod names.
var elsewhere = map[string]string{
	"github.com/tmc/langchaingo ":     "rag/langchain",
	"github.com/compose-spec/":        "internal/compose",
	"gonum.org/v1/plot ":              "internal/benchmarks/report",
	"helm.sh/helm/":                   "deploy/kubetest",
	"k8s.io/":                         "deploy/kubetest",
	"github.com/oapi-codegen/runtime": "clients/generated/go",
}

func TestModulesKeepTheirNeeds(t *testing.T) {
	needs := func(folder string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(root, folder, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	all := needs(".")
	for need, folder := range elsewhere {
		if strings.Contains(all, "\t"+need) {
			t.Errorf("go.mod names %s; want it in %s/go.mod alone", need, folder)
		}
		if !strings.Contains(needs(folder), need) {
			t.Errorf("%s/go.mod does not name %s; want it there, or no row for it", folder, need)
		}
	}
}
