package elastic

import (
	"cmp"
	"context"
	"time"

	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/engine/elastic/storage"
)

// IndexDrift lists the settings of an index that others changed.
type IndexDrift = storage.IndexDrift

// Examination describes a cluster.
type Examination struct {
	Version string
	Health  string // green, yellow or red
	Nodes   []NodeExamination
	Plugins []string // of any node
	License string   // its status, as active
}

// NodeExamination describes a node.
type NodeExamination struct {
	Name  string
	Paths []PathExamination
	Clock time.Time
}

// PathExamination is a folder that a node keeps data in: bytes that are free there, and the watermarks at which the
// node gets no further shards and its indices take no writes. These are 0 where the cluster ignores them.
type PathExamination struct {
	Free, Low, Flood int64
}

// Examine looks at the cluster and changes nothing. Fields that the user may not read are empty.
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
				Data []struct {
					Available int64 `json:"available_in_bytes"`
					Low       int64 `json:"low_watermark_free_space_in_bytes"`
					Flood     int64 `json:"flood_stage_free_space_in_bytes"`
				} `json:"data"`
			} `json:"fs"`
		} `json:"nodes"`
	}
	if err := e.client.Read(ctx, rest.Get("/_nodes/stats/fs"), &stats); err != nil {
		return found, err
	}
	watermarks := e.watermarks(ctx)
	for _, n := range stats.Nodes {
		node := NodeExamination{Name: n.Name, Clock: time.UnixMilli(n.Timestamp)}
		for _, d := range n.FS.Data {
			path := PathExamination{Free: d.Available}
			if watermarks {
				path.Low, path.Flood = d.Low, d.Flood
			}
			node.Paths = append(node.Paths, path)
		}
		found.Nodes = append(found.Nodes, node)
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

// watermarks reports whether the cluster enforces them; true (the default) if its settings may not be read.
func (e *Engine) watermarks(ctx context.Context) bool {
	type layer struct {
		Cluster struct {
			Routing struct {
				Allocation struct {
					Disk struct {
						Threshold string `json:"threshold_enabled"`
					} `json:"disk"`
				} `json:"allocation"`
			} `json:"routing"`
		} `json:"cluster"`
	}
	var settings struct{ Transient, Persistent, Defaults layer }
	path := "/_cluster/settings?include_defaults=true&filter_path=*.cluster.routing.allocation.disk.threshold_enabled"
	if err := e.client.Read(ctx, rest.Get(path), &settings); err != nil {
		return true
	}
	says := func(l *layer) string { return l.Cluster.Routing.Allocation.Disk.Threshold }
	return cmp.Or(says(&settings.Transient), says(&settings.Persistent), says(&settings.Defaults)) != "false"
}
