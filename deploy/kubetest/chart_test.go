package kubetest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"
)

func TestSelectorsMatchLabels(t *testing.T) {
	forAll(t, func(t *testing.T, all objects) {
		matches := func(what string, selector map[string]string, has map[string]string) {
			t.Helper()
			if len(selector) < 3 || !labels.SelectorFromSet(selector).Matches(labels.Set(has)) {
				t.Errorf("%s selects %v, and the labels are %v", what, selector, has)
			}
		}
		byName := map[string]map[string]string{}
		for _, w := range all.workloads {
			byName[w.name] = w.template.Labels
			matches(w.kind, w.selector.MatchLabels, w.template.Labels)
			for _, spread := range w.template.Spec.TopologySpreadConstraints {
				matches("the spread", spread.LabelSelector.MatchLabels, w.template.Labels)
			}
			for _, claim := range w.claims {
				matches("the workload of a claim", claim.Labels, w.template.Labels)
			}
		}
		if len(all.workloads) > 1 && maps.Equal(all.workloads[0].template.Labels, all.workloads[1].template.Labels) {
			t.Error("gateway and embedding service have the same labels")
		}
		for _, s := range all.services {
			matches("the Service "+s.Name, s.Spec.Selector, byName[s.Name])
		}
		for _, p := range all.policies {
			matches("the NetworkPolicy "+p.Name, p.Spec.PodSelector.MatchLabels, byName[p.Name])
		}
		for _, b := range all.budgets {
			matches("the PodDisruptionBudget", b.Spec.Selector.MatchLabels, byName[b.Name])
		}
		for _, m := range all.monitors {
			selector, _, err := unstructured.NestedStringMap(m.Object, "spec", "selector", "matchLabels")
			if err != nil {
				t.Fatal(err)
			}
			matches("the ServiceMonitor", selector, serviceOf(t, all, m.GetName()).Labels)
		}
	})
}

func serviceOf(t *testing.T, all objects, name string) *corev1.Service {
	t.Helper()
	at := slices.IndexFunc(all.services, func(s *corev1.Service) bool { return s.Name == name })
	if at < 0 {
		t.Fatalf("there is no Service %q", name)
	}
	return all.services[at]
}

// TestNamesLeadSomewhere: of ports, volumes, claims, the ConfigMap, the ServiceAccount and what is scaled.
func TestNamesLeadSomewhere(t *testing.T) {
	forAll(t, func(t *testing.T, all objects) {
		for _, w := range all.workloads {
			checkPod(t, all, w)
		}
		for _, s := range all.services {
			for _, p := range s.Spec.Ports {
				if p.Name != "http" || p.TargetPort.String() != "http" {
					t.Errorf("the Service %s has the port %+v, want one that is called and leads to http", s.Name, p)
				}
			}
		}
		for _, i := range all.ingresses {
			back := i.Spec.Rules[0].HTTP.Paths[0].Backend.Service
			if serviceOf(t, all, back.Name).Spec.Ports[0].Name != back.Port.Name {
				t.Errorf("the Ingress leads to %+v", back)
			}
		}
		for _, scaler := range all.scalers {
			w, _ := all.gateway(t)
			if target := scaler.Spec.ScaleTargetRef; target.Kind != w.kind || target.Name != w.name || w.replicas != nil {
				t.Errorf("%+v is scaled, and there is the %s %s of %v replicas", target, w.kind, w.name, w.replicas)
			}
		}
	})
}

func checkPod(t *testing.T, all objects, w workload) {
	t.Helper()
	spec := w.template.Spec
	var volumes []string
	for _, v := range spec.Volumes {
		volumes = append(volumes, v.Name)
		if v.ConfigMap != nil && all.config[0].Name != v.ConfigMap.Name {
			t.Errorf("%s mounts the ConfigMap %q, which is not there", w.name, v.ConfigMap.Name)
		}
	}
	for _, claim := range w.claims {
		volumes = append(volumes, claim.Name)
	}
	for _, m := range spec.Containers[0].VolumeMounts {
		if !slices.Contains(volumes, m.Name) {
			t.Errorf("%s mounts %q, and there are %v", w.name, m.Name, volumes)
		}
	}
	if ports := spec.Containers[0].Ports; len(ports) != 1 || ports[0].Name != "http" {
		t.Errorf("%s has the ports %v, want one that is called http", w.name, ports)
	}
	if name := spec.ServiceAccountName; name != "" && all.accounts[0].Name != name {
		t.Errorf("%s has the ServiceAccount %q, which is not there", w.name, name)
	}
}

// TestPodsAreConfined: what gets into one of them can do little there, and its Services' variables, which would be
// misspelt settings, stay outside.
func TestPodsAreConfined(t *testing.T) {
	forAll(t, func(t *testing.T, all objects) {
		for _, account := range all.accounts {
			if isNot(account.AutomountServiceAccountToken, false) {
				t.Errorf("the ServiceAccount %s has a token", account.Name)
			}
		}
		for _, w := range all.workloads {
			spec, pod, c := w.template.Spec, w.template.Spec.SecurityContext, w.template.Spec.Containers[0].SecurityContext
			if isNot(spec.AutomountServiceAccountToken, false) || isNot(spec.EnableServiceLinks, false) {
				t.Errorf("%s gets a token or variables of Services", w.name)
			}
			if isNot(pod.RunAsNonRoot, true) || isNot(pod.RunAsUser, 65532) || isNot(pod.RunAsGroup, 65532) ||
				isNot(pod.FSGroup, 65532) || pod.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
				t.Errorf("%s runs as %+v", w.name, pod)
			}
			if isNot(c.AllowPrivilegeEscalation, false) || isNot(c.ReadOnlyRootFilesystem, true) ||
				!slices.Equal(c.Capabilities.Drop, []corev1.Capability{"ALL"}) || len(c.Capabilities.Add) > 0 {
				t.Errorf("the container of %s has %+v", w.name, c)
			}
			limits := spec.Containers[0].Resources.Limits
			if limits.Memory().IsZero() || spec.HostNetwork || spec.HostPID {
				t.Errorf("%s may take any memory, or is in the host's network", w.name)
			}
			if !slices.ContainsFunc(spec.Containers[0].VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == "/tmp" }) {
				t.Errorf("%s has no /tmp to write to", w.name)
			}
		}
	})
}

// isNot reports whether a member is left out or another value.
func isNot[T comparable](got *T, want T) bool { return got == nil || *got != want }

func TestImagesHaveTheVersionOfTheProgram(t *testing.T) {
	version := load(t).Metadata.AppVersion
	python := regexp.MustCompile(`(?m)^version = "(.+)"$`).FindStringSubmatch(read(t, root+"/clients/python/pyproject.toml"))
	if python == nil || python[1] != version {
		t.Errorf("appVersion is %s, and the Python client has the version %v", version, python)
	}
	for _, w := range objectsOf(t, "testdata/open.yaml").workloads {
		if image := w.template.Spec.Containers[0].Image; image != w.name+":"+version {
			t.Errorf("%s has the image %s, want %s:%s", w.name, image, w.name, version)
		}
	}
}

// TestImagesFitTheirPods: they are made for the user and the port that the pods have.
func TestImagesFitTheirPods(t *testing.T) {
	dockerfiles := map[string]string{"gateway": root + "/Dockerfile", "embedding": root + "/deploy/embedding/Dockerfile"}
	for _, w := range objectsOf(t, "testdata/open.yaml").workloads {
		c, pod := w.template.Spec.Containers[0], w.template.Spec.SecurityContext
		dockerfile := read(t, dockerfiles[c.Name])
		for _, line := range []string{
			fmt.Sprintf("USER %d:%d", *pod.RunAsUser, *pod.RunAsGroup), fmt.Sprintf("EXPOSE %d", c.Ports[0].ContainerPort),
		} {
			if !strings.Contains(dockerfile, "\n"+line+"\n") {
				t.Errorf("%s has no line %q", dockerfiles[c.Name], line)
			}
		}
	}
}

// TestSeveralGatewaysAreKeptUp: drains leave some of them, they stand on different nodes, and none of them has a volume.
func TestSeveralGatewaysAreKeptUp(t *testing.T) {
	forAll(t, func(t *testing.T, all objects) {
		w, _ := all.gateway(t)
		several := len(all.scalers) > 0 || *w.replicas > 1
		if spread := w.template.Spec.TopologySpreadConstraints; several != (len(all.budgets) == 1) || several != (len(spread) == 1) {
			t.Errorf("several gateways: %v, with %d budgets and the spread %v", several, len(all.budgets), spread)
		}
		if (w.kind == "StatefulSet") != (len(w.claims) == 1) || several == (len(w.claims) == 1) {
			t.Errorf("a %s of several gateways (%v) has the claims %v", w.kind, several, w.claims)
		}
		for _, claim := range w.claims {
			if !slices.Equal(claim.Spec.AccessModes, []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}) {
				t.Errorf("the volume is %v", claim.Spec.AccessModes)
			}
		}
	})
}

// TestTheEndIsGraceful: Kubernetes waits longer than the gateway does.
func TestTheEndIsGraceful(t *testing.T) {
	forAll(t, func(t *testing.T, all objects) {
		w, c := all.gateway(t)
		var config struct {
			Limits struct {
				ShutdownGrace metav1.Duration `json:"shutdown_grace"`
			}
		}
		if err := yaml.Unmarshal([]byte(all.config[0].Data["hybridge.yaml"]), &config); err != nil {
			t.Fatal(err)
		}
		sleep, grace := c.Lifecycle.PreStop.Sleep.Seconds, int64(config.Limits.ShutdownGrace.Seconds())
		if whole := *w.template.Spec.TerminationGracePeriodSeconds; sleep < 1 || grace < 1 || whole < sleep+grace+5 {
			t.Errorf("of %d seconds %d are slept and %d are the gateway's", whole, sleep, grace)
		}
	})
}

func TestRefused(t *testing.T) {
	const (
		keys    = "secrets: {keys: {name: a, key: b}}\n"
		outside = "config: {elasticsearch: {url: http://elasticsearch:9200}}\n"
		without = "persistence: {enabled: false}\n"
	)
	f := func(values, want string) {
		t.Helper()
		if _, err := renderFiles(t, values); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is refused with %v, want %q", values, err, want)
		}
	}
	f(keys+"replicas: 2", "replicas is 2 and persistence.enabled is true: only one gateway may use a volume")
	f(keys+"replicas: 2", "set persistence.enabled to false and leave the embedded engine: set config.elasticsearch.url, or")
	f(keys+outside+"replicas: 2", "for several set persistence.enabled to false")
	f(keys+"autoscaling: {enabled: true}", "autoscaling.enabled is true and persistence.enabled is true")
	f(keys+without+"replicas: 3", "the engine is embedded, whose data would be gone with the pod and be another in each "+
		"replica (replicas is 3)")
	f(keys+without, "set config.elasticsearch.url, or postgres.url in secrets")
	f(keys+without+"config: {default_engine: embedded, elasticsearch: {url: http://e:9200}}", "the engine is embedded")
	f("", "of keys in secrets and openWithoutKeys one must be set, and they are neither set")
	f(keys+"openWithoutKeys: true", "they are both set")
	f(keys+"ingress: {enabled: true}", "ingress.host is empty")
	f(keys+"serviceMonitor: {enabled: true}", "serviceMonitor.key is not set")

	// By the schema, which names the place.
	f(keys+"replica: 2", "additional properties 'replica' not allowed")
	f(keys+"replicas: 0", "minimum: got 0, want 1")
	f(keys+"config: {elasticsearch: {ulr: http://e:9200}}", "at '/config/elasticsearch': additional properties 'ulr' not allowed")
	f(keys+"config: {elasticsearch: {password: x}}", "additional properties 'password' not allowed")
	f(keys+"config: {keys: []}", "additional properties 'keys' not allowed")
	f(keys+"config: {listen: 127.0.0.1:1}", "additional properties 'listen' not allowed")
	f(keys+"config: {embeddings: {bge: {api_key: x}}}", "at '/config/embeddings/bge': additional properties 'api_key' not allowed")
	f(keys+"config: {presets: {mine: {top: 3}}}", "at '/config/presets/mine': additional properties 'top' not allowed")
	f("secrets: {postgres.password: {name: a, key: b}}", "additional properties 'postgres.password' not allowed")
	f("secrets: {keys: {name: a}}", "missing property 'key'")
	f(keys+"synonyms: {global: a}", "invalid propertyName 'global'")
}

// TestEverythingIsSet: testdata/everything.yaml has each value, so that a template nobody tries cannot be.
func TestEverythingIsSet(t *testing.T) {
	var given map[string]any
	if err := yaml.Unmarshal([]byte(read(t, "testdata/everything.yaml")), &given); err != nil {
		t.Fatal(err)
	}
	var missing []string
	var compare func(at string, defaults, given map[string]any)
	compare = func(at string, defaults, given map[string]any) {
		for name, value := range defaults {
			set, there := given[name]
			if !there {
				missing = append(missing, at+name)
			}
			below, isMap := value.(map[string]any)
			if inner, both := set.(map[string]any); isMap && both && len(below) > 0 {
				compare(at+name+".", below, inner)
			}
		}
	}
	compare("", load(t).Values, given)
	if len(missing) > 0 {
		t.Errorf("testdata/everything.yaml does not set %s", strings.Join(missing, ", "))
	}
}
