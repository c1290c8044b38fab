package locale

import (
	"errors"
	"testing"
)

func TestFormat(t *testing.T) {
	t.Parallel()
	zh := MatchCommands("zh")
	f := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	f(MatchCommands("de").Format("ID\tNAME %d", 7), "ID\tNAME 7")
	f(zh.Format("ID\tNAME\tENGINE"), "ID\t名称\t引擎")
	f(zh.Format("nobody has written %s", "this"), "nobody has written this")
	f(zh.Format("exported %s: %s", "manuals", "3 chunks"), "已导出 manuals：3 个片段")
	f(zh.Format("%s grades %+.2f higher than %s", "a", 0.5, "b"), "a 的评级比 b 高 +0.50")
	f(zh.Format("%s %s", Text("deleted"), "deleted"), "已删除 deleted")
	f(zh.Format("hybridge: %v", errors.New("internal error\ninternal error")), "hybridge: 内部错误\n内部错误")
}
