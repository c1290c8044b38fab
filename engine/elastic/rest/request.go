package rest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/smile"
)

// Request is one request to Elasticsearch, with at most one of the bodies Query, JSON and
// Lines. The body is encoded when it is sent.
type Request struct {
	Method string
	Path   string // with its parameters

	Query esquery.Body // sent as SMILE, unless Options.JSON
	JSON  any
	Lines []byte // of a _bulk, one JSON value a line

	// Compact asks for the response in SMILE too, which pays for many hits without content.
	Compact bool
}

// Get makes a request without a body.
func Get(path string) Request { return Request{Method: http.MethodGet, Path: path} }

// Delete makes a request without a body.
func Delete(path string) Request { return Request{Method: http.MethodDelete, Path: path} }

// Post makes a request; query may be nil.
func Post(path string, query esquery.Body) Request {
	return Request{Method: http.MethodPost, Path: path, Query: query}
}

// PostJSON makes a request with a body that package esquery does not build.
func PostJSON(path string, body any) Request {
	return Request{Method: http.MethodPost, Path: path, JSON: body}
}

// Put makes a request; body may be nil.
func Put(path string, body any) Request {
	return Request{Method: http.MethodPut, Path: path, JSON: body}
}

// With adds a parameter to the path.
func (r Request) With(param string) Request {
	separator := "?"
	if strings.IndexByte(r.Path, '?') >= 0 {
		separator = "&"
	}
	r.Path += separator + param
	return r
}

const (
	mimeJSON  = "application/json"
	mimeLines = "application/x-ndjson"
)

// body encodes the body, empty where there is none, and names its type.
func (r *Request) body(inSmile bool) (body []byte, mime string, err error) {
	mime = mimeJSON
	switch {
	case r.Lines != nil:
		return r.Lines, mimeLines, nil
	case r.Query != nil && inSmile:
		mime = smile.ContentType
		body, err = esquery.MarshalSmile(r.Query)
	case r.Query != nil:
		if _, lines := r.Query.(esquery.MultiSearch); lines {
			mime = mimeLines
		}
		body, err = esquery.Marshal(r.Query)
	case r.JSON != nil:
		body, err = json.Marshal(r.JSON)
	}
	if err != nil {
		err = fault.Wrap(fault.InvalidArgument, err, "a value of the request cannot be written as JSON")
	}
	return body, mime, err
}

func (r *Request) acceptedType(inSmile bool) string {
	if r.Compact && inSmile {
		return smile.ContentType
	}
	return mimeJSON
}

// IndexPath is the path of an index's endpoint.
func IndexPath(index, endpoint string) string { return "/" + url.PathEscape(index) + "/" + endpoint }

// spanName says what kind of request it is, for traces: the endpoint, without names of indices
// and ids of documents.
func (r *Request) spanName() string {
	path, _, _ := strings.Cut(r.Path, "?")
	for part := range strings.SplitSeq(path, "/") {
		if strings.HasPrefix(part, "_") {
			return "elasticsearch " + part
		}
	}
	return "elasticsearch index"
}
