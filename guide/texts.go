package guide

// texts are the words of the frame in a language.
type texts struct {
	code, tag string // of the folder, and as HTML has it
	language  string // its own name

	guide, contents, onThisPage, skip       string
	search, find, application, site         string
	previous, next, turning                 string
	reference                               string // the name of the part
	results                                 string // of a search, as a heading
	ask, nothing, cut                       string // before a question, without hits, of a question that is too long
	notFound, notFoundAbout, notFoundSearch string
}

// languages are the languages of the guide; the reference is in the first, and partly in the others.
var languages = []texts{
	{
		code: "en", tag: "en", language: "English",
		guide: "Guide", contents: "Contents", onThisPage: "On this page", skip: "Skip to content",
		search: "Search the guide", find: "Search", application: "Application", site: "Hybridge",
		previous: "Previous", next: "Next", turning: "Previous and next page",
		reference: "Reference",
		results:   "Results for “%s”",
		ask:       "Ask in your own words, in English or Chinese. “Quoted words” must be there, -\u2060words must not.",
		nothing:   "Nothing in the guide matches “%s”. Fewer or other words may find more.",
		cut:       "The question was cut after %d characters.",
		notFound:  "There is no such page", notFoundAbout: "The guide has no page at this address.",
		notFoundSearch: "It may be one of these:",
	},
	{
		code: "zh", tag: "zh-CN", language: "中文",
		guide: "手册", contents: "目录", onThisPage: "本页内容", skip: "跳到正文",
		search: "搜索手册", find: "搜索", application: "应用", site: "Hybridge",
		previous: "上一页", next: "下一页", turning: "上一页和下一页",
		reference: "参考",
		results:   "“%s”的结果",
		ask:       "用自己的话提问，中英文均可。“引号中的词”必须出现，-词 不得出现。",
		nothing:   "手册中没有与“%s”匹配的内容。可以减少词语，或换一种说法。",
		cut:       "问题过长，只搜索了前 %d 个字符。",
		notFound:  "没有这个页面", notFoundAbout: "手册中没有这个地址的页面。",
		notFoundSearch: "可能是其中之一：",
	},
}
