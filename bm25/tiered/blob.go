package tiered

import (
	"bytes"
	"encoding/binary"
	"errors"
	"sync"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"

	"github.com/hybridge-search/hybridge/bm25"
	"github.com/hybridge-search/hybridge/fault"
)

// The stored form, version 1. Numbers are unsigned varints.
//
//	magic (8 bytes), version (1 byte)
//	knowledge base, field (length, bytes), from, to
//	content (length, then zstd):
//	  deleted keys (number, then each less the one before), the index as package bm25 stores it
//	xxhash64 of everything before (8 bytes, little endian)
const (
	blobMagic   = "HYB-TIER"
	blobVersion = 1
	sumSize     = 8
)

// maxContent bounds what a blob may unpack to, in bytes.
const maxContent = 8 << 30

// encoder and decoder work on whole blobs only and then start no goroutine.
var (
	encoder = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
		if err != nil {
			panic(err) // the options are constant
		}
		return e
	})
	decoder = sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxContent))
		if err != nil {
			panic(err) // the options are constant
		}
		return d
	})
)

// encodeBlob stores a snapshot and the keys, ascending, that it deletes from what
// is before it.
func encodeBlob(index Index, from, to int64, deleted []uint32, s *bm25.Snapshot) (Blob, error) {
	var content bytes.Buffer
	num := binary.AppendUvarint(nil, uint64(len(deleted)))
	last := uint32(0)
	for _, key := range deleted {
		num = binary.AppendUvarint(num, uint64(key-last))
		last = key
	}
	content.Write(num)
	if _, err := s.WriteTo(&content); err != nil {
		return Blob{}, err
	}
	data := blobHeader(index, from, to)
	packed := encoder().EncodeAll(content.Bytes(), nil)
	data = binary.AppendUvarint(data, uint64(len(packed)))
	data = append(data, packed...)
	data = binary.LittleEndian.AppendUint64(data, xxhash.Sum64(data))
	return Blob{From: from, To: to, Docs: s.Docs() + len(deleted), Data: data}, nil
}

func blobHeader(index Index, from, to int64) []byte {
	data := append([]byte(blobMagic), blobVersion)
	data = binary.AppendUvarint(data, uint64(index.KnowledgeBase))
	data = binary.AppendUvarint(data, uint64(len(index.Field)))
	data = append(data, index.Field...)
	data = binary.AppendUvarint(data, uint64(from))
	return binary.AppendUvarint(data, uint64(to))
}

// part is what a blob holds.
type part struct {
	added   *bm25.Index
	deleted []uint32
}

// decodeBlob reads a blob that belongs to the index. Damage is Corrupt; another
// format or another analyzer is a Conflict.
func decodeBlob(index Index, b Blob) (part, error) {
	content, err := unpackBlob(index, b)
	if err != nil {
		return part{}, err
	}
	n, size := binary.Uvarint(content)
	if size <= 0 || n > uint64(len(content)) {
		return part{}, corrupt(errors.New("the number of deleted keys is wrong"))
	}
	content = content[size:]
	p := part{deleted: make([]uint32, n)}
	last := uint64(0)
	for i := range p.deleted {
		gap, size := binary.Uvarint(content)
		last += gap
		if size <= 0 || gap >= 1<<32 || last >= 1<<32 {
			return part{}, corrupt(errors.New("a deleted key is wrong"))
		}
		p.deleted[i] = uint32(last)
		content = content[size:]
	}
	p.added, err = bm25.Read(content, index.Options)
	return p, err
}

// unpackBlob checks the frame and gives the content.
func unpackBlob(index Index, b Blob) ([]byte, error) {
	data := b.Data
	if len(data) < len(blobMagic)+1+sumSize || string(data[:len(blobMagic)]) != blobMagic {
		return nil, corrupt(errors.New("it does not begin like one"))
	}
	body, sum := data[:len(data)-sumSize], data[len(data)-sumSize:]
	if xxhash.Sum64(body) != binary.LittleEndian.Uint64(sum) {
		return nil, corrupt(errors.New("its checksum is wrong"))
	}
	if v := body[len(blobMagic)]; v != blobVersion {
		return nil, fault.New(fault.Conflict, "the stored index has format %d; this program reads format %d", v, blobVersion)
	}
	packed, ours := bytes.CutPrefix(body, blobHeader(index, b.From, b.To))
	if !ours {
		return nil, corrupt(errors.New("it belongs elsewhere"))
	}
	size, n := binary.Uvarint(packed)
	if n <= 0 || size != uint64(len(packed)-n) {
		return nil, corrupt(errors.New("its length is wrong"))
	}
	content, err := decoder().DecodeAll(packed[n:], nil)
	if err != nil {
		return nil, corrupt(err)
	}
	return content, nil
}

func corrupt(err error) error {
	return fault.Wrap(fault.Corrupt, err, "a stored part of a keyword index is damaged")
}

// restore makes an index of a base and its deltas. When a part behind the base
// cannot be used it gives what is before that part, with the error.
func restore(index Index, blobs []Blob) (x *bm25.Index, to int64, err error) {
	for i, b := range blobs {
		if i == 0 && !b.isBase() || i > 0 && b.From != to {
			return x, to, corrupt(errors.New("the parts do not follow each other"))
		}
		p, err := decodeBlob(index, b)
		if err != nil {
			return x, to, err
		}
		if i == 0 {
			x = p.added
		} else if err := x.Append(p.added.Snapshot(), p.deleted); err != nil {
			return x, to, corrupt(err)
		}
		to = b.To
	}
	return x, to, nil
}
