package cli

import (
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/locale"
)

func TestLanguageOf(t *testing.T) {
	t.Parallel()
	f := func(args []string, environ map[string]string, want string) {
		t.Helper()
		if got := languageOf(args, func(name string) string { return environ[name] }).Tag(); got != want {
			t.Errorf("%q in %v: %s, want %s", args, environ, got, want)
		}
	}
	chinese := map[string]string{"LANG": "zh_CN.UTF-8"}
	f(nil, nil, "en")
	f(nil, map[string]string{"LANG": "C"}, "en")
	f(nil, map[string]string{"LANG": "de_DE.UTF-8"}, "en")
	f(nil, chinese, "zh")
	f(nil, map[string]string{"LC_ALL": "en_US.UTF-8", "LANG": "zh_CN.UTF-8"}, "en")
	f(nil, map[string]string{"LC_MESSAGES": "zh_TW", "LANG": "en_US"}, "zh")
	f([]string{"search", "--lang", "en", "a"}, chinese, "en")
	f([]string{"search", "--lang=zh"}, nil, "zh")
	f([]string{"search", "--lang=xx"}, chinese, "zh")
	f([]string{"search", "--", "--lang=en"}, chinese, "zh") // a question
}

func TestProgressInChinese(t *testing.T) {
	t.Parallel()
	zh := locale.MatchCommands("zh")
	p := Progress{what: zh.Text("uploading"), says: zh, unit: InBytes, size: 100e6}
	start := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	p.pace.start(start)
	p.pace.add(2e6, start.Add(2*time.Second))
	if got, want := p.text(), "上传 2.0 MB / 100 MB, 1.0 MB/s, 剩余 1m38s"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestWrapped(t *testing.T) {
	t.Parallel()
	f := func(text, want string) {
		t.Helper()
		if got := wrapped(text, "  ", 14); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	f("one two three four", "one two\n  three four")
	f("关键词与向量混合检索", "关键词与向量\n  混合检索")
	f("关键词与向量，混合", "关键词与向\n  量，混合") // no line begins with a comma
	f("用 hybridge help 查看", "用 hybridge\n  help 查看")
}
