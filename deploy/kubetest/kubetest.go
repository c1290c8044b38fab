// Package kubetest has the tests of deploy/helm and deploy/kubernetes: Helm's own engine renders the chart,
// Kubernetes' own types read what comes out, and the gateway reads its configuration. It is a module of its own, so
// that the gateway's has nothing of Helm and Kubernetes.
package kubetest
