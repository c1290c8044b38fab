package elastic

import (
	"net/http"
	"unsafe"
)

// borrower is a readable whose texts may stay in the memory of the answer.
type borrower interface {
	readable
	borrow(*exchange)
}

// borrowed is the answer that texts are in, until it is given back.
type borrowed struct{ from *exchange }

func (b *borrowed) borrow(from *exchange) { b.from = from }

// giveBack lets the memory be used again: the texts are gone then.
func (b *borrowed) giveBack() {
	if b.from != nil {
		b.from.release()
		b.from = nil
	}
}

// decodeAnswer reads an answer into out and releases it, unless out borrows it. One
// that out could not read is left to the garbage collector, as the error may have
// parts of it.
func decodeAnswer(from *exchange, out any) error {
	if out, ok := out.(borrower); ok && from.status < http.StatusBadRequest {
		out.borrow(from)
		if err := readWith(sharedText(from.body), out.read); err != nil {
			return unreadable(err)
		}
		return nil
	}
	defer from.release()
	return decode(from.status, string(from.body), out)
}

// sharedText is the text that the bytes are, without a copy: it is only good as
// long as nobody changes them.
func sharedText(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
