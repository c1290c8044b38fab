package benchmarks

import (
	"fmt"
	"net/http"

	"github.com/valyala/fasthttp"
)

// serveRelay serves the cheapest hop there can be in Go: the recorded statements go
// out as bytes and the last answer goes back as bytes. Nothing is decoded, and both
// sides are the gateway's own HTTP library. What it takes no gateway can go under.
func (r *recording) serveRelay(address string) error {
	client := &fasthttp.Client{NoDefaultUserAgentHeader: true}
	return fasthttp.ListenAndServe(address, func(ctx *fasthttp.RequestCtx) {
		if ctx.IsGet() { // whether it is ready
			return
		}
		if err := r.relay(client, ctx); err != nil {
			ctx.Error(err.Error(), http.StatusBadGateway)
		}
	})
}

func (r *recording) relay(client *fasthttp.Client, ctx *fasthttp.RequestCtx) error {
	out, answer := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(out)
	defer fasthttp.ReleaseResponse(answer)
	i, err := ctx.QueryArgs().GetUint("question")
	if err != nil {
		return err
	}
	for _, s := range r.Statements[i] {
		out.Reset()
		answer.Reset()
		out.SetRequestURI(r.Target + s.Path)
		out.Header.SetMethod(http.MethodPost)
		out.Header.SetContentType(s.ContentType)
		out.Header.Set("Accept", s.Accept)
		out.SetBodyString(s.Body)
		if err := client.Do(out, answer); err != nil {
			return err
		}
		if answer.StatusCode() != http.StatusOK {
			return fmt.Errorf("%s: status %d", s.Path, answer.StatusCode())
		}
	}
	ctx.SetContentType("application/json")
	ctx.SetBody(answer.Body())
	return nil
}
