package kubetest

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"
	"sigs.k8s.io/yaml"
)

const (
	root      = "../.."
	chartPath = root + "/deploy/helm/hybridge"
	plain     = root + "/deploy/kubernetes"
	namespace = "hybridge"
)

// valuesFiles are all that the chart is tried with, by name: those that the plain manifests are made of, and more.
func valuesFiles(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, pattern := range []string{plain + "/*/values.yaml", "testdata/*.yaml"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			name := strings.TrimSuffix(filepath.Base(path), ".yaml")
			if name == "values" {
				name = filepath.Base(filepath.Dir(path))
			}
			files[name] = path
		}
	}
	if len(files) < 5 {
		t.Fatalf("the values files are %v; some are missing", slices.Sorted(maps.Keys(files)))
	}
	return files
}

// forAll runs a test with the objects of each values file.
func forAll(t *testing.T, test func(t *testing.T, all objects)) {
	t.Helper()
	for name, path := range valuesFiles(t) {
		t.Run(name, func(t *testing.T) { test(t, objectsOf(t, path)) })
	}
}

// objectsOf are the objects of a values file.
func objectsOf(t *testing.T, path string) objects {
	t.Helper()
	rendered, err := render(t, read(t, path))
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, rendered)
}

func load(t *testing.T) *chart.Chart {
	t.Helper()
	loaded, err := loader.Load(chartPath)
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

// render does what `helm template hybridge CHART --namespace hybridge --values FILE` does.
func render(t *testing.T, values string) (string, error) {
	t.Helper()
	files, err := renderFiles(t, values)
	if err != nil {
		return "", err
	}
	delete(files, "hybridge/templates/NOTES.txt")
	hooks, manifests, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder)
	if err != nil || len(hooks) > 0 {
		t.Fatalf("%d hooks, %v", len(hooks), err)
	}
	var all strings.Builder
	for _, m := range manifests {
		all.WriteString("---\n# Source: " + m.Name + "\n" + m.Content + "\n")
	}
	return strings.TrimSpace(all.String()) + "\n", nil
}

func renderFiles(t *testing.T, values string) (map[string]string, error) {
	t.Helper()
	var given map[string]any
	if err := yaml.Unmarshal([]byte(values), &given); err != nil {
		t.Fatal(err)
	}
	loaded := load(t)
	release := common.ReleaseOptions{Name: "hybridge", Namespace: namespace, Revision: 1, IsInstall: true}
	all, err := util.ToRenderValues(loaded, given, release, common.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	return engine.Engine{Strict: true}.RenderWithContext(t.Context(), loaded, all)
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
