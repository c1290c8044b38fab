package endpoint

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/fault"
)

// Route describes an endpoint.
type Route struct {
	Method  string
	Path    string // with {parameters}
	ID      string // of the operation
	Summary string
	About   string
	Tag     string
	Access  Permission
	Role    string        // that a key needs; empty: search for reads, write for the rest
	Status  int           // of success; 0: 200
	Timeout time.Duration // 0: Limits.Request
	Whole   bool          // not for keys that are bound to a filter, although it only reads
	Dry     bool          // it changes nothing, although it is a POST that takes more than a key that reads

	BodyBytes int // room for a JSON body where that is more than Limits.JSONBytes

	Dialect *Dialect // of another program; nil: that of this API
}

// Permission is a route's requirement on the caller's key.
type Permission int

// What routes require.
const (
	public  Permission = iota // nothing
	Reads                     // any valid key
	Writes                    // a key that is not read-only
	Governs                   // nor bound to a filter: it is about more than chunks
)

// needs is the role that a key must have for the route; empty for public ones.
func (r *Route) needs() string {
	switch {
	case r.Access == public:
		return ""
	case r.Role != "":
		return r.Role
	case r.Access == Reads:
		return keys.Search
	default:
		return keys.Write
	}
}

// changes reports whether requests for the route change something: they need more than a read-only
// key, and are neither a GET nor a dry run.
func (r *Route) changes() bool { return r.Access >= Writes && r.Method != http.MethodGet && !r.Dry }

// pathNames are the names of path parameters that bodies and errors name differently.
var pathNames = map[string][]string{
	"knowledge_base": {"kb"}, "document_id": {"document"}, "chunk_id": {"id"}, "id": {"set", "list"},
}

// named renames the field of an error as this route calls it.
func (r *Route) named(err error) error {
	if r.Dialect != nil {
		return r.Dialect.Named(err)
	}
	var refused *fault.Error
	if !errors.As(err, &refused) {
		return err
	}
	for _, theirs := range pathNames[refused.Field] {
		if strings.Contains(r.Path, "{"+theirs+"}") {
			return refused.Called(theirs)
		}
	}
	return err
}
