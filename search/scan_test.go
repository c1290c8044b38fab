package search

import (
	stdjson "encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"
)

// failing is what a test and a property have.
type failing interface {
	Helper()
	Errorf(format string, args ...any)
}

func decodeStrictly(text []byte, into any) error {
	return json.Unmarshal(text, into, json.RejectUnknownMembers(true))
}

// checkScan compares what is scanned of a text with what is decoded of it: the same,
// or nothing.
func checkScan(t failing, text string) (scanned bool) {
	t.Helper()
	var got, want Request
	rest, ok := got.ScanJSON([]byte(text))
	if !ok {
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s left %+v", text, got)
		}
		return false
	}
	if rest != nil && decodeStrictly(rest, &got) != nil {
		return false
	}
	if err := decodeStrictly([]byte(text), &want); err != nil {
		t.Errorf("%s is scanned, with the rest %s, although: %v", text, rest, err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s is scanned as\n%+v\ndecoded as\n%+v", text, got, want)
	}
	return rest == nil
}

func TestUsualRequestsAreScanned(t *testing.T) {
	whole := func(text string) {
		t.Helper()
		if !checkScan(t, text) {
			t.Errorf("%s was left to the decoder", text)
		}
	}
	whole(`{}`)
	whole(` { "query" : "如何申请退款" , "knowledge_bases":["manuals", "faq"],"preset":"rrf"} ` + "\r\n\t")
	whole(`{"query":"a \"quoted\" \u9000\u6b3e\n","knowledge_bases":[],"plain":true,"top_k":10}`)
	whole(`{"vector":[],"plain":false,"limit":1,"candidates":9999}`)
	whole(`{"vector":[0,-0,0.5,-1.25e-3,1E+2,0.012345679104328156,-3.4028235e38,1e-45,9007199254740993,16777217]}`)
}

func TestTheRestOfARequestIsLeft(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		checkScan(t, text)
		var r Request
		if rest, ok := r.ScanJSON([]byte(text)); !ok || string(rest) != want {
			t.Errorf("%s leaves %s, want %s", text, rest, want)
		}
	}
	f(`{"query":"a","filter":{"a":["}",{"b\"":1}]} , "top_k":null,"vector":[1,null]}`,
		`{"filter":{"a":["}",{"b\"":1}]} ,"top_k":null,"vector":[1,null]}`)
	f(`{"explain":true}`, `{"explain":true}`)
	f(`{"top_k":0}`, `{"top_k":0}`)
	f(`{"vector":[1e39]}`, `{"vector":[1e39]}`)
	f(`{"vector":[01]}`, `{"vector":[01]}`)
}

func TestWhatIsNoRequestIsNotScanned(t *testing.T) {
	for _, text := range []string{
		``, `{`, `[]`, `{}}`, `{"query":"a"`, `{"query":"a" "plain":true}`, `{"query":"a",}`, `{,}`, `{"query"}`,
		`{"query":"a","query":"b"}`, `{"top_k":1,"top_k":null}`, `{"\u0071uery":"a"}`, `{"query":"a"]`, `{"top_k":12x}`,
		"{\"a\":\"\\", `{"a":"`, `{"a":[`, `{"a`, `{"vector":`, `{"vector":[`,
		`{"query":0"}`, `{"query":refund"}`, `{"knowledge_bases":[x"]}`,
	} {
		var r Request
		if _, ok := r.ScanJSON([]byte(text)); ok && checkScan(t, text) {
			t.Errorf("%s is scanned", text)
		}
	}
}

func TestScanningIsDecoding(t *testing.T) {
	sign := rapid.SampledFrom(strings.Split(
		`{|}|[|]|,|:| |"|\|\"|\u0041|null|true|false|0|1|-|.|e|5.5|"query"|"vector"|"top_k"|"plain"|"knowledge_bases"|`+
			`"query":"a"|"vector":[1,2.5]|"filter":{"a":1}|"weights":{"text":1}|"top_k":5|"limit":3|é|退|`+"\xff|\n", "|"))
	rapid.Check(t, func(t *rapid.T) {
		checkScan(t, "{"+strings.Join(rapid.SliceOf(sign).Draw(t, "signs"), "")+"}")
	})
	member := rapid.SampledFrom([]string{
		`"query":"a"`, `"query" : "退\u6b3e"`, `"query":null`, `"plain":true`, `"plain":null`, `"preset":"rrf"`,
		`"knowledge_bases":["a","b"]`, `"knowledge_bases":["a",null]`, `"knowledge_bases":null`, `"top_k":10`,
		`"top_k":null`, `"top_k":-1`, `"top_k":1.5`, `"candidates":100`, `"limit":07`, `"vector":[1,2,3]`, `"vector":null`,
		`"vector":[1,null,2]`, `"vector":[1,"2"]`, `"filter":{"a":[1,{"b":"]"}]}`, `"weights":{"text":1}`, `"unknown":1`,
		`"highlight":{"fragments":1}`, `"explain":true`, `"threshold":{"score":0.5}`, "\"user\":\"\xff\"",
	})
	rapid.Check(t, func(t *rapid.T) {
		checkScan(t, "{"+strings.Join(rapid.SliceOfN(member, 0, 6).Draw(t, "members"), ",")+"}")
	})
}

func FuzzScanning(f *testing.F) {
	f.Add([]byte(`{"query":"a","knowledge_bases":["b"],"vector":[1,-2.5e-3],"filter":{"c":["d"]},"top_k":10}`))
	f.Fuzz(func(t *testing.T, text []byte) { checkScan(t, string(text)) })
}

// checkFloat compares a number with that of strconv, of which JSON knows a part: at the
// end of a text, and before much else.
func checkFloat(t failing, text string) {
	t.Helper()
	checkFloatBefore(t, text, ",")
	checkFloatBefore(t, text, ",-0.123456789012345678]")
	checkFloatBefore(t, text, "                     ]")
}

func checkFloatBefore(t failing, text, behind string) {
	t.Helper()
	got, end := readFloat([]byte(text+behind), 0)
	want, err := strconv.ParseFloat(text, 32)
	if !stdjson.Valid([]byte(text)) || err != nil {
		if end > 0 && end == len(text) {
			t.Errorf("%s is read as %v, want none", text, got)
		}
		return
	}
	if end != len(text) || math.Float32bits(got) != math.Float32bits(float32(want)) {
		t.Errorf("%s is read as %v to byte %d, want %v", text, got, end, float32(want))
	}
}

func TestNumbersAreReadAsStrconv(t *testing.T) {
	for _, text := range strings.Fields(`0 -0 00 -00 1 -1 01 1. .1 0.1 - + +1 e 1e 1e+ 1e5 1E-5 1e+05 0e9999 1e-9999 1e9999
		1e1000000000000000000 1e-00000000001 0.00000000000000000000000000000000000000000001
		0.0000000123456789 0.1234567 0.12345678 0.123456789 0.123456789012345 0.1234567890123456 0.12345678901234567 -0.5 0.5e3 0.12345678e-5
		0.123456789012345678901234567890 0.00035392807330936193 0.1234567890123456e1 0.e1 0.
		3.4028234663852886e38 3.4028235677973366e38 3.4028235677973365e38 1.1754943508222875e-38 1.1754942807573643e-38
		1.401298464324817e-45 7.006492321624085e-46 16777217 16777219 0.1000000014901161193847656250 inf NaN 0x1p3 1_0
		9999999999999999999 18446744073709551616 99999999999999999999999 0.5000000298023224 1.00000017881393421514957253748434595763683319091796875001`) {
		checkFloat(t, text)
	}
	single := rapid.Float32().Filter(func(f float32) bool { return !math.IsInf(float64(f), 0) && f == f })
	rapid.Check(t, func(t *rapid.T) {
		f := single.Draw(t, "number")
		next := math.Nextafter32(f, 0)
		middle := (float64(f) + float64(next)) / 2
		format := rapid.SampledFrom([]byte{'e', 'f', 'g'}).Draw(t, "format")
		precision := rapid.IntRange(-1, 25).Draw(t, "precision")
		for _, number := range []float64{
			float64(f), middle, math.Nextafter(middle, 0), math.Nextafter(middle, 1), float64(float32(middle)),
		} {
			checkFloat(t, strconv.FormatFloat(number, format, precision, 64))
		}
		checkFloat(t, strconv.FormatFloat(float64(f), format, -1, 32))
	})
	rapid.Check(t, func(t *rapid.T) {
		checkFloat(t, rapid.StringMatching(`-?(0|[1-9][0-9]{0,22})(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?`).Draw(t, "number"))
		checkFloat(t, rapid.StringMatching(`[-+0-9.eE]{0,12}`).Draw(t, "text"))
	})
}

func FuzzNumbers(f *testing.F) {
	f.Add("0.012345679104328156")
	f.Fuzz(func(t *testing.T, text string) { checkFloat(t, text) })
}
