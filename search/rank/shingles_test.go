package rank

import (
	"fmt"
	"strings"
	"testing"
)

// Promise: "only if it is equal" (docs/score-contract.md).
func TestCopiesByTheirShingles(t *testing.T) {
	f := func(better, lower string, want bool) {
		t.Helper()
		a, b := NewShingles(better), NewShingles(lower)
		if got := a.StandsFor(&b); got != want {
			t.Errorf("%.60q stands for %.60q: %v, want %v", better, lower, got, want)
		}
	}
	const article = "第十二条 用人单位应当按照劳动合同约定和国家规定，向劳动者及时足额支付劳动报酬。"
	f(article, article, true)
	f(article, "第十二条用人单位应当按照劳动合同约定和国家规定、向劳动者及时足额支付劳动报酬", true)
	f(article, "第十三条 用人单位应当严格执行劳动定额标准，不得强迫或者变相强迫劳动者加班。", false)
	f(article, article+" 用人单位拖欠的，依法支付。", true)
	f(article, article+strings.Repeat("用人单位拖欠或者未足额支付劳动报酬的，劳动者可以依法申请支付令。", 2), false)
	f(article+strings.Repeat("用人单位拖欠或者未足额支付劳动报酬的，劳动者可以依法申请支付令。", 2), article, true)
	f("Refund!", "refund", true)
	f("refund", "refunds", false)
	f("a refund of an order", "a refund of an order and of more than an order", false)
	f("", "", false)
	f("***", "…", false)
	long := func(from, to int) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			fmt.Fprintf(&b, "%d words about %d. ", i*7919, i*104729)
		}
		return b.String()
	}
	f(long(0, 1000), long(0, 1000), true)
	f(long(0, 1000), long(20, 1020), true) // 20 of 1000 are others
	f(long(0, 1000), long(300, 1300), false)
	f(long(0, 1000), long(0, 30), true) // a sample of the one is compared with all of the other
	f(long(0, 1000), long(2000, 2030), false)
	f(long(0, 30), long(0, 1000), false)
}

func BenchmarkShingles(b *testing.B) {
	text := strings.Repeat("how to request a refund of an order, and when ", 20)
	for b.Loop() {
		NewShingles(text)
	}
}
