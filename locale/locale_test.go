package locale

import (
	"reflect"
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	f := func(accept, want string) {
		t.Helper()
		if got := Match(accept).Tag(); got != want {
			t.Errorf("Accept-Language %q: %s, want %s", accept, got, want)
		}
	}
	f("", "en")
	f("*", "en")
	f("no language;q=x", "en")
	f("fr", "en")
	f("en-GB,zh;q=0.9", "en")
	f("zh", "zh")
	f("zh-CN,zh;q=0.9,en;q=0.8", "zh")
	f("zh-TW", "zh")
	f("fr, zh;q=0.3", "zh")
	f("en;q=0.1, zh;q=0.3", "zh")
	f(strings.Repeat("zh-", 5000), "en")
}

func TestText(t *testing.T) {
	zh := Match("zh")
	f := func(english, want string) {
		t.Helper()
		if got := zh.Text(english); got != want {
			t.Errorf("%q:\n got %q\nwant %q", english, got, want)
		}
	}
	f("", "")
	f("nobody has written this", "nobody has written this")
	f("this gateway manages no mappings", "此网关不管理索引映射")
	f(`top_k is 0; it must be 1 to 10000`, `top_k 的值为 0；应为 1 到 10000`)
	f(`query is ""; it must be valid UTF-8`, `query 的值为 ""；应为有效的 UTF-8`)
	// A value is never taken for a part of the message, nor translated.
	f(`name is "a is b; it must be c"; it must be valid UTF-8`, `name 的值为 "a is b; it must be c"；应为有效的 UTF-8`)
	f(`name is "internal error"; it must be valid UTF-8`, `name 的值为 "internal error"；应为有效的 UTF-8`)
	f(`name is "\"; it must be"; it must be valid UTF-8`, `name 的值为 "\"; it must be"；应为有效的 UTF-8`)
	f(`name is "long"… (300 bytes); it must be valid UTF-8`, `name 的值为 "long"…（共 300 字节）；应为有效的 UTF-8`)
	// Values in another order, and texts in texts.
	f(`chunk "a" does not exist in knowledge base "b"`, `知识库 "b" 中没有片段 "a"`)
	f(`line 3: content is ""; it must be text; a chunk without any is never found`,
		`第 3 行：content 的值为 ""；应为文本；没有文本的片段永远不会被找到`)
	f(`columns[1].weights is "all zero"; it must be at least one weight > 0`,
		`columns[1].weights 的值为 "all zero"；应为至少有一个大于 0 的权重`)
	f("manuals line 2 has an empty entry: synonyms is \"a,,b\"; it must be `a, b => c^0.5` or `a, b, c`",
		"manuals 第 2 行有空的词：synonyms 的值为 \"a,,b\"；应为 `a, b => c^0.5` 或 `a, b, c`")
	f(`engine is "x"; it must be embedded, which holds knowledge base manuals`,
		`engine 的值为 "x"；应为 embedded，即知识库 manuals 所在的引擎`)
	f("the body is a list; it must be an object", "请求体的值为列表；应为对象")
	f("counts: a has 3 documents and b has 4", "数量：a 有 3 个文档，b 有 4 个")
	f("user is 7; it must be at most 256 bytes", "user 的值为 7；应为不超过 256 字节")
	f("what: ever", "what: ever")
	f("a whole number >= 1", "不小于 1 的整数")
	f("Largest JSON body.", "JSON 请求体的最大大小。")
	// Texts that were joined.
	f("no leg of the search could be run: a/text: Elasticsearch took too long; a/vector: embedding service unavailable",
		"所有检索路都无法执行：a/text：Elasticsearch 超时；a/vector：向量服务不可用")
	f("every candidate was cut by a threshold: relative cut 2, score cut 1", "所有候选都被阈值去掉：relative 去掉 2 条、score 去掉 1 条")
	if got := Match("").Text("internal error"); got != "internal error" {
		t.Errorf(`English is %q; want got "internal error"`, got)
	}
}

// TestNoMistake gives every message some values: the text must be known as this
// message, not as another that fits too.
func TestNoMistake(t *testing.T) {
	c := &reader{Match("zh").catalog(), map[string]reading{}}
	samples := map[byte]string{'d': "7", 'q': `"x"`, 'f': "0.5", 'g': "0.5"}
	for i := range c.messages {
		parts, _, err := split(c.messages[i].english)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for _, p := range parts {
			sample := samples[p.verb]
			if p.value > 0 && sample == "" {
				sample = "word"
			}
			text.WriteString(p.text + sample)
		}
		for j := range c.messages {
			values, fits := c.messages[j].match(text.String())
			if i == j || !fits || c.messages[j].letters < c.messages[i].letters {
				continue
			}
			if said := c.messages[j].say(values, c.read).said; said != c.text(text.String()) { // %q and %s say the same
				t.Errorf("%q may be taken for %q", c.messages[i].english, c.messages[j].english)
			}
		}
	}
}

func TestAnswer(t *testing.T) {
	type item struct {
		Name string `json:"name"`
		Why  string `json:"why" locale:"text"`
	}
	type answer struct {
		Plain  string
		Items  []item
		First  *item
		Free   map[string]any `locale:"text"`
		hidden string
	}
	const english, chinese = "internal error", "内部错误"
	original := &answer{
		Plain: english, Items: []item{{english, english}}, First: &item{english, english},
		Free: map[string]any{"tokens": english, "n": 1, "deep": map[string]any{"a": english}, "none": nil}, hidden: english,
	}
	got := Match("zh").Answer(original)
	want := &answer{
		Plain: english, Items: []item{{english, chinese}}, First: &item{english, chinese},
		Free: map[string]any{"tokens": chinese, "n": 1, "deep": map[string]any{"a": chinese}, "none": nil}, hidden: english,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if original.Items[0].Why != english || original.First.Why != english || original.Free["tokens"] != english {
		t.Errorf(`the answer itself was changed: %+v; want original.Items[0].Why english and original.First.Why english and original.Free["tokens"] english`, original)
	}
	if same := Match("en").Answer(original); same != any(original) {
		t.Error("an English answer is not the same")
	}
	type textless struct{ Values []float64 }
	plain := &textless{Values: []float64{1}}
	if same := Match("zh").Answer(plain); same != any(plain) {
		t.Error("an answer without texts was copied")
	}
}
