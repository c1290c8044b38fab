package embedding

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/sony/gobreaker/v2"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/reason"
)

// failure is why one request failed, and what that means for the next.
type failure struct {
	fault      *fault.Error
	retry      bool           // it may work next time
	after      *time.Duration // when to retry, if the server said so
	serverDown bool           // counts towards opening the breaker
	callerGone bool           // does not count at all
}

// Error implements error.
func (f *failure) Error() string { return f.fault.Error() }

// Unwrap returns the error for the caller, and what package backoff looks for.
func (f *failure) Unwrap() []error {
	causes := []error{f.fault}
	if f.after != nil {
		causes = append(causes, &backoff.RetryAfterError{Duration: *f.after})
	}
	return causes
}

func failureOf(err error) failure {
	var f *failure
	if errors.As(err, &f) {
		return *f
	}
	return failure{}
}

// send posts, retries where that may help, and sends nothing while the breaker is open.
func (c *Client) send(ctx context.Context, kind Kind, texts []string) ([][]float32, error) {
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval = c.options.firstPause
	tries := c.options.Retries + 1
	vectors, err := backoff.Retry(ctx, func() ([][]float32, error) {
		vectors, err := c.breaker.Execute(func() ([][]float32, error) { return c.postOrBlame(ctx, kind, texts) })
		if err != nil && !failureOf(err).retry {
			err = backoff.Permanent(err)
		}
		return vectors, err
	},
		backoff.WithBackOff(pauses),
		backoff.WithMaxTries(uint(tries)),
		backoff.WithMaxElapsedTime(time.Duration(tries)*c.options.Timeout))
	return vectors, c.publicError(ctx, err)
}

// postOrBlame is post, where the text is blamed for a refusal only after the server took another one of the same
// kind: what it refuses whatever the text, as a model that it does not have, is the fault of its settings or ours.
func (c *Client) postOrBlame(ctx context.Context, kind Kind, texts []string) ([][]float32, error) {
	vectors, err := c.post(ctx, kind, texts)
	if len(texts) > 1 || failureOf(err).fault == nil || failureOf(err).fault.Kind != fault.InvalidArgument {
		return vectors, err
	}
	_, again := c.post(ctx, kind, []string{harmless})
	if why := failureOf(again).fault; why != nil && why.Kind == fault.InvalidArgument {
		return nil, &failure{fault: &fault.Error{Kind: fault.Unavailable, Detail: why.Detail, Err: refusesAll{}}}
	}
	return nil, err
}

// harmless is a text that every model takes.
const harmless = "ping"

// refusesAll is the cause of a server that refuses any text, which waiting does not mend.
type refusesAll struct{}

func (refusesAll) Error() string { return "the embedding service refuses any text" }

// Lasting is for fault.IsLasting.
func (refusesAll) Lasting() bool { return true }

// publicError makes the error that callers see: always a *fault.Error.
func (c *Client) publicError(ctx context.Context, err error) error {
	var known *fault.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fault.Wrap(fault.Timeout, err, "embedding took longer than the request may")
	case ctx.Err() != nil:
		return fault.Wrap(fault.Canceled, err, "embedding was given up")
	case errors.Is(err, gobreaker.ErrOpenState), errors.Is(err, gobreaker.ErrTooManyRequests):
		return fault.Wrap(fault.Unavailable, err,
			"embedding service unavailable, left alone for up to %s", c.options.Cooldown)
	case errors.As(err, &known):
		return known
	default:
		return fault.Wrap(fault.Internal, err, "embed text")
	}
}

// malformed is a response that cannot be used. It is not retried, since the same would
// come again, and not the caller's fault, so that it costs a leg instead of the request.
func malformed(format string, args ...any) *failure {
	return &failure{fault: fault.New(fault.Unavailable, "the embedding service answered %s", fmt.Sprintf(format, args...))}
}

// refused explains a status other than 200.
func (c *Client) refused(response *http.Response, body []byte) *failure {
	status := response.StatusCode
	kind := kindOf(status)
	f := &failure{
		fault: fault.New(kind, "the embedding service answered %d: %s", status, reason.OfBody(body, c.options.APIKey)),
		retry: status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout,
		// 500 itself may be about one text.
		serverDown: status > http.StatusInternalServerError,
	}
	if f.retry {
		f.after = retryAfter(response.Header.Get("Retry-After"), time.Now())
	}
	return f
}

// kindOf blames the caller for what another text would avoid. A bad key, model or
// address is the gateway's own fault, and costs the leg instead of the request.
func kindOf(status int) fault.Kind {
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return fault.InvalidArgument
	case http.StatusRequestEntityTooLarge:
		return fault.TooLarge
	case http.StatusTooManyRequests:
		return fault.Overloaded
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return fault.Timeout
	default:
		return fault.Unavailable
	}
}

// retryAfter reads the header's two forms, seconds and a date (RFC 9110, 10.2.3).
func retryAfter(header string, now time.Time) *time.Duration {
	pause := time.Duration(-1)
	if seconds, err := strconv.Atoi(header); err == nil {
		pause = time.Duration(min(seconds, 24*60*60)) * time.Second
	} else if date, err := http.ParseTime(header); err == nil {
		pause = max(date.Sub(now), 0)
	}
	if pause < 0 {
		return nil
	}
	return &pause
}
