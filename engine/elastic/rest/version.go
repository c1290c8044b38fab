package rest

import (
	"context"

	"golang.org/x/mod/semver"
)

// Version asks which version answers, such as 8.19.8.
func (c *Client) Version(ctx context.Context) (string, error) {
	var root struct {
		Version struct {
			Number string `json:"number"`
		} `json:"version"`
	}
	err := c.Read(ctx, Get("/"), &root)
	return root.Version.Number, err
}

// WithVectors makes a request return the vectors in _source too. Indices that are made by Elasticsearch 9.2 or newer
// have none there unless one asks, by a parameter that 8.19 does not know:
// https://www.elastic.co/docs/reference/elasticsearch/mapping-reference/dense-vector#dense-vector-source
//
// The version is asked each time, because a cluster is upgraded while the gateway runs.
func (c *Client) WithVectors(ctx context.Context, r Request) (Request, error) {
	version, err := c.Version(ctx)
	if err == nil && semver.Compare("v"+version, "v9.1.0") >= 0 {
		r = r.With("_source_exclude_vectors=false")
	}
	return r, err
}
