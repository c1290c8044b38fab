package realtext

import (
	"strings"
	"unicode"

	"pgregory.net/rapid"
)

// AnyHan draws ideographs, common, rare and beyond the basic plane, words that
// overlap, and ASCII between them.
func AnyHan() *rapid.Generator[string] {
	const common = "退款申请人民共和国工会部分钟头发现在线上海水平台北京东西方便宜家务必须要点心情的了一二三是不有"
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.OneOf(
			rapid.SampledFrom([]string{
				"b", "t恤", "3.14", "user's", "c++", "卡拉ok", "ab2", "2ab", "1.", "𠀀", "㐀", "〇", "々", "混合桥接器", "云图pro",
				"中华人民共和国", "乒乓球拍卖完", "结婚的和尚未结婚的", "南京市长江大桥", "台湾繁體字後", "克里斯蒂亚诺罗纳尔多",
			}),
			rapid.StringOfN(rapid.RuneFrom([]rune(common)), 1, 12, -1),
			rapid.StringOfN(rapid.RuneFrom(nil, unicode.Han), 1, 6, -1),
		), 1, 20).Draw(t, "pieces"), "")
	})
}
