package endpoint

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/access/quota"
)

// meterBody refuses a write beyond the quotas of the tenant before its body is read, counts the bytes
// read, and tells the client the rest of the day's quota.
func meterBody(
	ctx context.Context, meter *quota.Meter, c *fiber.Ctx, scope access.Scope, body *RequestBody,
) error {
	left, wait, err := meter.Write(ctx, scope.Tenant, int64(max(body.Length, 0)))
	headers := &c.Response().Header
	add := func(name, value string) {
		if before := headers.Peek(name); len(before) > 0 {
			value = string(before) + ", " + value
		}
		headers.Set(name, value)
	}
	add("RateLimit-Policy", fmt.Sprintf(`"tenant-bytes";q=%d;w=86400`, meter.Limits().Bytes))
	add("RateLimit", fmt.Sprintf(`"tenant-bytes";r=%d;t=%d`, left.Bytes, seconds(left.Reset)))
	if err != nil {
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(seconds(wait)))
		return err
	}
	body.count = func(n int) error { return meter.Wrote(scope.Tenant, int64(n)) }
	return nil
}

func seconds(d time.Duration) int { return max(1, int(math.Ceil(d.Seconds()))) }
