package rest

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/reason"
	"github.com/hybridge-search/hybridge/lib/smile"
)

// ContextFault is the fault of a context that has ended.
func ContextFault(ctx context.Context) error { return transportFault(ctx, ctx.Err()) }

// transportFault classifies an error of the connection.
func transportFault(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	timed, hasTimeout := errors.AsType[interface {
		error
		Timeout() bool
	}](err)
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	switch {
	case untrusted:
		return fault.Wrap(fault.Unavailable, err, "Elasticsearch's certificate is not trusted; check elasticsearch.ca_file "+
			"or elasticsearch.ca_fingerprint, and that elasticsearch.url names a host of the certificate")
	case errors.Is(ctx.Err(), context.Canceled):
		return fault.Wrap(fault.Canceled, err, "the request to Elasticsearch was given up")
	case ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) || hasTimeout && timed.Timeout():
		return fault.Wrap(fault.Timeout, err, "Elasticsearch took too long")
	default:
		return fault.Wrap(fault.Unavailable, err, "Elasticsearch cannot be reached")
	}
}

// Refusal is an error of Elasticsearch, for a request or for one item of a bulk.
type Refusal struct {
	Type      string    `json:"type"`
	Reason    string    `json:"reason"`
	CausedBy  *Refusal  `json:"caused_by"`
	RootCause []Refusal `json:"root_cause"`
	Shards    []struct {
		Reason Refusal `json:"reason"`
	} `json:"failed_shards"`

	lasting bool // permanent: caused by the request or the server's state
}

// Error implements error: all that Elasticsearch said, for the log only.
func (r *Refusal) Error() string { return strings.Join(r.chain(), "; caused by ") }

// Lasting reports whether the same request will be refused again, see fault.IsLasting.
func (r *Refusal) Lasting() bool { return r.lasting }

// chain joins the distinct reasons: the outermost first, then the causes.
func (r *Refusal) chain() []string {
	var all []string
	r.visit(func(one *Refusal) {
		text := strings.TrimSuffix(one.Type+": "+one.Reason, ": ")
		if text != "" && !slices.Contains(all, text) {
			all = append(all, text)
		}
	})
	return all
}

func (r *Refusal) visit(see func(*Refusal)) {
	if r == nil {
		return
	}
	see(r)
	for i := range r.RootCause {
		r.RootCause[i].visit(see)
	}
	for i := range r.Shards {
		r.Shards[i].Reason.visit(see)
	}
	r.CausedBy.visit(see)
}

// wrapping lists reasons that only refer to another one.
var wrapping = []string{"", "all shards failed", "Partial shards failure"}

// Shown is the reason as callers may see it: the outermost informative one, and the innermost.
func (r *Refusal) Shown() string {
	var reasons []string
	r.visit(func(one *Refusal) {
		if !slices.Contains(wrapping, one.Reason) && !slices.Contains(reasons, one.Reason) {
			reasons = append(reasons, one.Reason)
		}
	})
	if len(reasons) == 0 {
		return reason.Shown(r.Type)
	}
	shown := reason.Shown(reasons[0])
	if last := reasons[len(reasons)-1]; !strings.Contains(reasons[0], last) {
		shown += " (" + reason.Shown(last) + ")"
	}
	return shown
}

// Has reports whether the refusal, or any of its causes, is an error of a type.
func (r *Refusal) Has(kind string) bool {
	if r == nil {
		return false
	}
	if r.Type == kind || r.CausedBy.Has(kind) {
		return true
	}
	for i := range r.RootCause {
		if r.RootCause[i].Has(kind) {
			return true
		}
	}
	for i := range r.Shards {
		if r.Shards[i].Reason.Has(kind) {
			return true
		}
	}
	return false
}

// lacksShard reports whether there is no shard to ask. A search that wants all shards
// (allow_partial_search_results=false) is then refused although none of them failed.
func (r *Refusal) lacksShard() bool {
	return r.Has("no_shard_available_action_exception") ||
		r.Type == "search_phase_execution_exception" && len(r.RootCause) == 0 && len(r.Shards) == 0
}

// WriteBlock is how reasons name the block index.blocks.write.
const WriteBlock = "FORBIDDEN/8/"

// Mentions reports whether the reason of the refusal, or of any of its causes, contains a text.
func (r *Refusal) Mentions(text string) bool {
	if r == nil {
		return false
	}
	return strings.Contains(r.Reason, text) || r.CausedBy.Mentions(text) ||
		slices.ContainsFunc(r.RootCause, func(cause Refusal) bool { return cause.Mentions(text) })
}

// responseFault classifies a response that is not a success.
func responseFault(status int, text string) error {
	var body struct {
		Error json.RawMessage `json:"error"`
	}
	r := smile.New(text)
	smile.Decode(r, &body)
	var why Refusal
	if r.End() != nil || json.Unmarshal(body.Error, &why) != nil {
		why = Refusal{Type: "unreadable", Reason: fmt.Sprintf("status %d", status)}
	}
	return why.Fault(status)
}

// fullBlock is how reasons name the block that Elasticsearch sets on a full disk.
const fullBlock = "/12/"

// blockFault distinguishes the block that Elasticsearch sets on a full disk from the short one of a
// migration's switch, and from blocks set by others.
func blockFault(why *Refusal) error {
	switch {
	case why.Mentions(WriteBlock):
		return fault.Wrap(fault.Overloaded, why, "the index takes no writes: %s; a migration ends that within seconds, "+
			"otherwise unset index.blocks.write", why.Shown())
	case why.Mentions(fullBlock):
		return fault.Wrap(fault.DiskFull, why,
			"Elasticsearch has made the index read-only, as it does when a disk is full: %s", esquery.ReadOnlyWayOut)
	}
	return fault.Wrap(fault.Unavailable, why, "the index is blocked in Elasticsearch: %s", why.Shown())
}

// textFaults lists refusals that only the text or values of a request can cause: the limits of words and of a
// term's length are no settings of the index.
var textFaults = []struct{ kind, reason string }{
	{"too_many_clauses", "the query has too many words"},
	{"too_many_nested_clauses", "the query has too many words"},
	{"max_bytes_length_exceeded_exception", "a value is longer than the 32766 bytes that Elasticsearch can index"},
}

// Fault translates the refusal for the caller. As the gateway has validated the request and built
// Elasticsearch's from it, a refusal is the caller's fault only in known cases, otherwise the server's or
// ours.
func (r *Refusal) Fault(status int) error {
	for _, known := range textFaults {
		if r.Has(known.kind) {
			return fault.Wrap(fault.InvalidArgument, r, "%s", known.reason)
		}
	}
	switch {
	case r.Has("cluster_block_exception"):
		return blockFault(r)
	case status == http.StatusNotFound:
		return fault.Wrap(fault.NotFound, r, "the index of the knowledge base does not exist")
	case status == http.StatusTooManyRequests:
		return fault.Wrap(fault.Overloaded, r, "Elasticsearch has too much to do") // the reason names nodes and queues
	case status == http.StatusUnauthorized || status == http.StatusForbidden: // the reason names users
		return fault.Wrap(fault.Unavailable, r,
			"Elasticsearch refuses the gateway's credentials (status %d); check elasticsearch.api_key, or the username "+
				"and the password, and what they may do", status)
	case status == http.StatusRequestEntityTooLarge:
		return fault.Wrap(fault.TooLarge, r, "the request is larger than Elasticsearch accepts")
	case status == http.StatusConflict || r.Has("resource_already_exists_exception"):
		return fault.Wrap(fault.Conflict, r, "it exists already, or was changed at the same time")
	case status == http.StatusRequestTimeout || status == http.StatusGatewayTimeout:
		return fault.Wrap(fault.Timeout, r, "Elasticsearch took too long")
	case status >= http.StatusInternalServerError:
		return fault.Wrap(fault.Unavailable, r, "Elasticsearch failed (status %d): %s", status, r.Shown())
	default:
		r.lasting = true
		return fault.Wrap(fault.Unavailable, r,
			"Elasticsearch refuses what the gateway asks (status %d): %s", status, r.Shown())
	}
}

// Refused reports whether Elasticsearch refused the request itself, whatever the reason.
func Refused(err error) bool {
	why, is := errors.AsType[*Refusal](err)
	return is && why.lasting
}
