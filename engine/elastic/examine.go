package elastic

import (
	"context"
	"time"

	"github.com/hybridge-search/hybridge/engine/elastic/rest"
)

// Examination is what there is to know of a cluster.
type Examination struct {
	Version string
	Health  string // green, yellow or red
	Nodes   []NodeExamination
	Plugins []string // of any node
	License string   // its status, as active
}

// NodeExamination is what there is to know of a node.
type NodeExamination struct {
	Name       string
	Free, Disk int64 // bytes
	Clock      time.Time
}

// Examine looks at the cluster and changes nothing. What the user may not read is left empty.
func (e *Engine) Examine(ctx context.Context) (*Examination, error) {
	version, err := e.client.Version(ctx)
	if err != nil {
		return nil, err
	}
	found := &Examination{Version: version}
	var health struct {
		Status string `json:"status"`
	}
	if err := e.client.Read(ctx, rest.Get("/_cluster/health"), &health); err != nil {
		return found, err
	}
	found.Health = health.Status
	var stats struct {
		Nodes map[string]struct {
			Name      string `json:"name"`
			Timestamp int64  `json:"timestamp"`
			FS        struct {
				Total struct {
					Total     int64 `json:"total_in_bytes"`
					Available int64 `json:"available_in_bytes"`
				} `json:"total"`
			} `json:"fs"`
		} `json:"nodes"`
	}
	if err := e.client.Read(ctx, rest.Get("/_nodes/stats/fs"), &stats); err != nil {
		return found, err
	}
	for _, n := range stats.Nodes {
		found.Nodes = append(found.Nodes, NodeExamination{
			Name: n.Name, Free: n.FS.Total.Available, Disk: n.FS.Total.Total, Clock: time.UnixMilli(n.Timestamp),
		})
	}
	var plugins []struct {
		Component string `json:"component"`
	}
	if err := e.client.Read(ctx, rest.Get("/_cat/plugins?format=json"), &plugins); err == nil {
		for _, p := range plugins {
			found.Plugins = append(found.Plugins, p.Component)
		}
	}
	var license struct {
		License struct {
			Status string `json:"status"`
		} `json:"license"`
	}
	if err := e.client.Read(ctx, rest.Get("/_license"), &license); err == nil {
		found.License = license.License.Status
	}
	return found, nil
}
