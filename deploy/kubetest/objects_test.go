package kubetest

import (
	"regexp"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

// objects are what one set of values makes, by kind.
type objects struct {
	workloads []workload
	services  []*corev1.Service
	config    []*corev1.ConfigMap
	accounts  []*corev1.ServiceAccount
	budgets   []*policyv1.PodDisruptionBudget
	scalers   []*autoscalingv2.HorizontalPodAutoscaler
	ingresses []*networkingv1.Ingress
	policies  []*networkingv1.NetworkPolicy
	monitors  []*unstructured.Unstructured
}

// workload is what a Deployment and a StatefulSet have in common.
type workload struct {
	kind, name string
	replicas   *int32
	selector   *metav1.LabelSelector
	template   corev1.PodTemplateSpec
	claims     []corev1.PersistentVolumeClaim
}

// strictly refuses members that a kind does not have, and those that are there twice.
var strictly = serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()

var separator = regexp.MustCompile(`(?m)^---\n`)

func decode(t *testing.T, manifests string) (all objects) {
	t.Helper()
	for _, document := range separator.Split(manifests, -1) {
		if strings.TrimSpace(document) != "" {
			all.add(t, document)
		}
	}
	return all
}

func (all *objects) add(t *testing.T, document string) {
	t.Helper()
	if strings.Contains(document, "\nkind: ServiceMonitor\n") {
		monitor := &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict([]byte(document), &monitor.Object); err != nil {
			t.Fatalf("%v\n%s", err, document)
		}
		all.monitors = append(all.monitors, monitor)
		return
	}
	decoded, _, err := strictly.Decode([]byte(document), nil, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, document)
	}
	all.sort(t, decoded)
}

func (all *objects) sort(t *testing.T, decoded runtime.Object) {
	t.Helper()
	switch o := decoded.(type) {
	case *appsv1.Deployment:
		all.workloads = append(all.workloads,
			workload{o.Kind, o.Name, o.Spec.Replicas, o.Spec.Selector, o.Spec.Template, nil})
	case *appsv1.StatefulSet:
		all.workloads = append(all.workloads,
			workload{o.Kind, o.Name, o.Spec.Replicas, o.Spec.Selector, o.Spec.Template, o.Spec.VolumeClaimTemplates})
	case *corev1.Service:
		all.services = append(all.services, o)
	case *corev1.ConfigMap:
		all.config = append(all.config, o)
	case *corev1.ServiceAccount:
		all.accounts = append(all.accounts, o)
	case *policyv1.PodDisruptionBudget:
		all.budgets = append(all.budgets, o)
	case *autoscalingv2.HorizontalPodAutoscaler:
		all.scalers = append(all.scalers, o)
	case *networkingv1.Ingress:
		all.ingresses = append(all.ingresses, o)
	case *networkingv1.NetworkPolicy:
		all.policies = append(all.policies, o)
	default:
		t.Fatalf("%T is not looked at by any test", decoded)
	}
}

// gateway is the workload of the gateway, with its one container.
func (all *objects) gateway(t *testing.T) (workload, corev1.Container) {
	t.Helper()
	for _, w := range all.workloads {
		if containers := w.template.Spec.Containers; len(containers) == 1 && containers[0].Name == "gateway" {
			return w, containers[0]
		}
	}
	t.Fatal("there is no gateway with one container")
	return workload{}, corev1.Container{}
}
