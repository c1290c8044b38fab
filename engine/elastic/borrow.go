package elastic

import (
	"net/http"
	"unsafe"

	"github.com/valyala/fasthttp"
)

// borrower is a readable whose texts may stay in the memory of the response.
type borrower interface {
	readable
	borrow(*fasthttp.Response)
}

// borrowed is the response that texts are in, until it is given back.
type borrowed struct{ response *fasthttp.Response }

func (b *borrowed) borrow(from *fasthttp.Response) { b.response = from }

// giveBack lets the response be used again: the texts are gone then.
func (b *borrowed) giveBack() {
	if b.response != nil {
		fasthttp.ReleaseResponse(b.response)
		b.response = nil
	}
}

// decodeResponse reads a response into out and releases it, unless out borrows it.
// One that out could not read is left to the garbage collector, as the error may
// have parts of it.
func decodeResponse(from *fasthttp.Response, out any) error {
	status, body := from.StatusCode(), from.Body()
	if out, ok := out.(borrower); ok && status < http.StatusBadRequest {
		out.borrow(from)
		return decode(status, sharedText(body), out)
	}
	defer fasthttp.ReleaseResponse(from)
	return decode(status, string(body), out)
}

// sharedText is the text that the bytes are, without a copy: it is only good as
// long as nobody changes them.
func sharedText(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
