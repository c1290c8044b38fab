package events

import (
	"encoding/binary"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// batch holds the entries of one day of a tenant that wait in the spool.
type batch struct {
	number int64 // in the spool
	tenant string
	day    string
	items  int
	body   []byte // for each item the length of its key, the key, the length of its body, the body
}

// rowBytes is about what a row of the spool takes beside its body.
const rowBytes = 64

// size is the space that a batch counts for in the spool.
func (b *batch) size() int64 { return int64(len(b.body) + rowBytes) }

func (b *batch) add(key string, body []byte) {
	b.items++
	b.body = binary.AppendUvarint(b.body, uint64(len(key)))
	b.body = append(b.body, key...)
	b.body = binary.AppendUvarint(b.body, uint64(len(body)))
	b.body = append(b.body, body...)
}

// appendItems reads a batch back.
func (b *batch) appendItems(to []engine.RecordItem) ([]engine.RecordItem, error) {
	rest := b.body
	for range b.items {
		var key, body []byte
		var ok bool
		if key, rest, ok = cutPart(rest); ok {
			body, rest, ok = cutPart(rest)
		}
		if !ok {
			return to, fault.New(fault.Corrupt, "a batch of the spool of events cannot be read")
		}
		to = append(to, engine.RecordItem{Key: string(key), Body: body})
	}
	return to, nil
}

func cutPart(from []byte) (part, rest []byte, ok bool) {
	n, width := binary.Uvarint(from)
	if width <= 0 || n > uint64(len(from)-width) {
		return nil, nil, false
	}
	from = from[width:]
	return from[:n], from[n:], true
}

// batches holds the batches of one call, by tenant and day.
type batches struct {
	all []*batch
	at  map[[2]string]*batch
}

func (b *batches) add(tenant, day, key string, body []byte) {
	name := [2]string{tenant, day}
	of := b.at[name]
	if of == nil {
		of = &batch{tenant: tenant, day: day}
		if b.at == nil {
			b.at = map[[2]string]*batch{}
		}
		b.at[name], b.all = of, append(b.all, of)
	}
	of.add(key, body)
}
