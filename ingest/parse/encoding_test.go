package parse

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding/simplifiedchinese"
)

// TestOlderNamesOfGB18030: what calls itself GB2312 or GBK, or is taken for it, has characters that only GB18030 has.
func TestOlderNamesOfGB18030(t *testing.T) {
	const said = "如何申请退款，请先登录您的账户，然后在订单页面选择退款，签名为𠮷田。"
	f := func(name, before, after string) {
		t.Helper()
		source, err := simplifiedchinese.GB18030.NewEncoder().String(before + said + after)
		if err != nil {
			t.Fatal(err)
		}
		document, err := Here{}.Parse(t.Context(), name, []byte(source), Options{})
		if err != nil {
			t.Errorf("%s %s: %v", name, before, err)
			return
		}
		if document.Encoding != "gb18030" || len(document.Passages) != 1 || !strings.Contains(document.Passages[0].Content, said) {
			t.Errorf(`%s %s: encoding %s, %+v; want document.Encoding "gb18030" and 1 document.Passages and said in it`, name, before, document.Encoding, document.Passages)
		}
	}
	f("a.txt", "", "")
	for _, label := range []string{"gb2312", "GBK", "gb18030", "x-gbk"} {
		f("a.html", `<html><head><meta charset="`+label+`"></head><body><p>`, "</p></body></html>")
	}
}

// TestBytesThatAreNoText: an encoding is only told from bytes that are likely of it.
func TestBytesThatAreNoText(t *testing.T) {
	for _, source := range []string{"\xc0\xc1", "ab\xf0\x9f", "\x81\x8d"} {
		document, err := Here{}.Parse(t.Context(), "a.txt", []byte(source), Options{})
		if err == nil || !strings.Contains(err.Error(), "its encoding cannot be told") {
			t.Errorf(`%q: %+v, %v; want an error and "its encoding cannot be told" in it`, source, document, err)
		}
	}
	document, err := Here{}.Parse(t.Context(), "a.txt", []byte("na\xefve caf\xe9"), Options{})
	if err != nil || document.Passages[0].Content != "naïve café" {
		t.Errorf(`Latin 1: %+v, %v; want no error and document.Passages[0].Content "naïve café"`, document, err)
	}
}
