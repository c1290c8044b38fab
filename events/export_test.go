package events

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/google/uuid"
)

// SetNow gives the log another clock.
func (l *Log) SetNow(now time.Time) { l.now = func() time.Time { return now } }

// Settle stores what was taken.
func (l *Log) Settle(ctx context.Context) error { return l.settle(ctx) }

// Expire deletes what is too old and tells how many days it was.
func (l *Log) Expire(ctx context.Context) (int, error) { return l.expire(ctx) }

// SpoolBytes are those that are used.
func (l *Log) SpoolBytes() int64 { return l.spool.bytes.Load() }

// IDAt is an id of a search at a time, and of a number among those of that millisecond.
func IDAt(at time.Time, number uint64) string {
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], uint64(at.UnixMilli())<<16|7<<12)
	binary.BigEndian.PutUint64(id[8:], number)
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}

// MadeAt is the time of an id.
var MadeAt = madeAt
