package benchmarks

import (
	"fmt"
	"net"
	"net/http"

	"github.com/valyala/fasthttp"

	"github.com/hybridge-search/hybridge/lib/quietconn"
)

// serveRelay serves the cheapest hop there can be in Go: the recorded statements go
// out as bytes and the last answer goes back as bytes. Nothing is decoded, and both
// sides are the gateway's own HTTP library and sockets. What it takes no gateway can go under.
func (r *recording) serveRelay(address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	client := &fasthttp.Client{NoDefaultUserAgentHeader: true, Dial: func(addr string) (net.Conn, error) {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return nil, err
		}
		return quietconn.Wrap(conn), nil
	}}
	return fasthttp.Serve(quietconn.Listener(listener), func(ctx *fasthttp.RequestCtx) {
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
		out.SetBody(s.Body)
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
