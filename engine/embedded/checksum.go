package embedded

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// castagnoli is the polynomial with hardware support.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum holds two CRC-32s: the low half covers a chunk's body, which is often read alone; the high half
// the row number and all other columns. Rows written before checksums existed have none.
type checksum int64

// holdsBody reports whether a body is intact.
func (c checksum) holdsBody(body []byte) bool { return uint32(c) == crc32.Checksum(body, castagnoli) }

// columns holds the columns of a chunk's row in the file.
type columns struct {
	row     uint32
	record  record
	ordinal int64
	fields  []byte // JSON
	body    []byte // JSON
	blobs   [][]byte
}

// checksum computes the expected checksum of the row. room is a buffer for reuse.
func (c *columns) checksum(room *[]byte) checksum {
	head := binary.LittleEndian.AppendUint32((*room)[:0], c.row)
	head = binary.AppendVarint(head, c.ordinal)
	available := byte(0)
	if c.record.available {
		available = 1
	}
	head = append(head, available)
	for _, text := range []string{c.record.id, c.record.documentID, c.record.documentName, c.record.owner} {
		head = append(binary.AppendUvarint(head, uint64(len(text))), text...)
	}
	head = binary.AppendUvarint(head, uint64(len(c.fields)))
	for _, data := range c.blobs {
		head = binary.AppendUvarint(head, uint64(len(data)))
	}
	*room = head
	sum := crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, c.fields)
	for _, data := range c.blobs {
		sum = crc32.Update(sum, castagnoli, data)
	}
	return checksum(uint64(sum)<<32 | uint64(crc32.Checksum(c.body, castagnoli)))
}

// integer is a column read without reflection, which would take longer than SQLite takes
// for the whole row.
type integer struct {
	value int64
	there bool // it is not NULL
}

// Scan implements sql.Scanner.
func (n *integer) Scan(column any) error {
	if column == nil {
		*n = integer{}
		return nil
	}
	value, ok := column.(int64)
	if !ok {
		return fmt.Errorf("a column holds %T, an integer is wanted", column)
	}
	*n = integer{value: value, there: true}
	return nil
}
