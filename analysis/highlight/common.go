package highlight

import "strings"

// commonWords are the terms, as stems, that questions are built with beside stop words: they
// are searched for, but a mark on them would not say that a text answers.
var commonWords = func() map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(`
		how what when where which whi who whom whose do doe did i me my we our you your he him his she her
		am be been have has had i'm it don't doesn't can't can could should would about from so than ani some get got
		为什么 为何 为啥 怎么办 怎么样 多少 多久 几 谁 哪里 哪儿 何时 有没有 能否 能不能 可不可以 可以 能 能够
		会 要 应该 有 没有 请`) {
		all[word] = true
	}
	return all
}()

// IsCommon reports whether a term, as a stem, is one that questions are built with.
func IsCommon(term string) bool { return commonWords[term] }
