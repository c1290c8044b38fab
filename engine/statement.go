package engine

import "encoding/json"

// Statement is one request that an engine sends to its back end: an HTTP
// request with a JSON body, or SQL.
type Statement struct {
	Method string          `json:"method,omitempty"`
	Path   string          `json:"path,omitempty"`
	Body   json.RawMessage `json:"body,omitempty"`
	SQL    string          `json:"sql,omitempty"`
}
