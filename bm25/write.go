package bm25

import (
	"bufio"
	"encoding/binary"
	"io"

	"github.com/cespare/xxhash/v2"

	"github.com/hybridge-search/hybridge/fault"
)

// The stored form, version 1. Numbers are unsigned varints unless a width is said.
//
//	magic (8 bytes), version (1 byte), flags (1 byte: 1 = positions)
//	fingerprint (length, bytes), next key, number of segments
//	each segment:
//	  chunks, tokens; per chunk: key less the lowest possible, length
//	  deleted: 0, or 1 and a bit per chunk
//	  terms, blocks; per term: shared prefix, suffix length, suffix bytes, document frequency
//	  per block: widths of gaps, frequencies and positions (a byte each)
//	  postings (length, bytes), positions (length, bytes); both with their padding
//	xxhash64 of everything before (8 bytes, little endian)
const (
	magic         = "HYB-BM25"
	formatVersion = 1
	withPositions = 1
	// maxShared bounds a prefix, so that a file cannot hold terms that are much
	// larger than itself.
	maxShared = 255
)

// writer counts what it writes; its error is the first one.
type writer struct {
	buf *bufio.Writer
	n   int64
	err error
	num [binary.MaxVarintLen64]byte
}

func (w *writer) bytes(b []byte) {
	if w.err != nil {
		return
	}
	n, err := w.buf.Write(b)
	w.n += int64(n)
	w.err = err
}

func (w *writer) flush() {
	if w.err == nil {
		w.err = w.buf.Flush()
	}
}

func (w *writer) uint(v uint64) { w.bytes(w.num[:binary.PutUvarint(w.num[:], v)]) }

func (w *writer) sized(b []byte) {
	w.uint(uint64(len(b)))
	w.bytes(b)
}

// WriteTo writes the snapshot in a form that Read understands.
func (s *Snapshot) WriteTo(to io.Writer) (int64, error) {
	hash := xxhash.New()
	w := &writer{buf: bufio.NewWriterSize(io.MultiWriter(to, hash), 1<<16)} // hashed by the buffer, not by the number
	flags := byte(0)
	if !s.opts.WithoutPositions {
		flags |= withPositions
	}
	w.bytes(append([]byte(magic), formatVersion, flags))
	w.sized([]byte(s.opts.Fingerprint))
	w.uint(s.nextKey)
	w.uint(uint64(len(s.views)))
	for _, v := range s.views {
		w.view(v)
	}
	w.flush()
	w.bytes(binary.LittleEndian.AppendUint64(nil, hash.Sum64()))
	w.flush()
	if w.err != nil {
		return w.n, fault.Wrap(fault.Internal, w.err, "writing a BM25 index")
	}
	return w.n, nil
}

func (w *writer) view(v *view) {
	s := v.seg
	w.uint(uint64(len(s.keys)))
	w.uint(s.tokens)
	next := uint32(0)
	for i, key := range s.keys {
		w.uint(uint64(key - next))
		w.uint(uint64(s.lengths[i]))
		next = key + 1
	}
	w.deleted(v.deleted)
	w.terms(s)
	for i := range s.blocks {
		b := &s.blocks[i]
		w.bytes([]byte{b.gapBits, b.freqBits, b.posBits})
	}
	w.sized(s.postings)
	w.sized(s.positions)
}

func (w *writer) deleted(words []uint64) {
	if words == nil {
		w.uint(0)
		return
	}
	w.uint(1)
	for _, word := range words {
		w.bytes(binary.LittleEndian.AppendUint64(nil, word))
	}
}

func (w *writer) terms(s *segment) {
	w.uint(uint64(s.dict.len()))
	w.uint(uint64(len(s.blocks)))
	var prev []byte
	for i := range s.dict.len() {
		term := s.dict.at(i)
		shared := 0
		for shared < min(len(term), len(prev), maxShared) && term[shared] == prev[shared] {
			shared++
		}
		w.uint(uint64(shared))
		w.sized(term[shared:])
		w.uint(uint64(s.terms[i].df))
		prev = term
	}
}
