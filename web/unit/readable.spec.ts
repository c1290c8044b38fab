import { post, pre, readable } from '../src/lib/readable'
import { expect, test } from '@playwright/test'

// What a fragment holds, and what is read; « and » stand for the marks.
const cases: Record<string, [from: string, to: string]> = {
  'text stays text': ['A «refund» takes 5 days, at most.', 'A «refund» takes 5 days, at most.'],
  'nothing': ['', ''],
  'a table': ['| leg | weight |\n|---|:--:|\n| «text» | 0.2 |\n| vector | 0.8 |', 'leg · weight\n«text» · 0.2\nvector · 0.8'],
  'a table without outer pipes': ['leg | weight\n--- | ---\ntext | «0.2»', 'leg · weight\ntext · «0.2»'],
  'a table cut off at both ends': ['of both | «rank» |\n| raw | sco', 'of both · «rank»\nraw · sco'],
  'only the ruler of a table': ['text «before»\n|---|---|\n| a | b |', 'text «before»\na · b'],
  'empty cells, and a pipe that is text': ['| a || b \\| c |', 'a · b | c'],
  'a mark over two cells': ['| a «b | c» d |', 'a «b · c» d'],
  'a pipe in a sentence': ['cat notes | grep «refund»', 'cat notes | grep «refund»'],
  'bullets': ['- one\n* «two»\n  + three', '• one\n• «two»\n• three'],
  'bullets that were wrapped': ['- one\n  goes «on»\n- two', '• one goes «on»\n• two'],
  'a mark over a bullet': ['it «ends\n- begins» anew', 'it «ends\n• begins» anew'],
  'a mark around the bullet itself': ['«- item» more', '• «item» more'],
  'numbers': ['1. one\n2) «two»', '1. one\n2) «two»'],
  'boxes to tick': ['- [ ] open\n- [x] done', '☐ open\n☑ done'],
  'headings': ['## The «heading» ##\n\ntext\n\nOld style\n---------\nmore', 'The «heading»\ntext\nOld style\nmore'],
  'what is no heading': ['#tag and C# and «# 5»', '#tag and C# and «# 5»'],
  'a quote in it': ['> he «said»\n> so', 'he «said» so'],
  'fenced code keeps its signs and lines': ['so:\n```sh\ncurl -d \'**«x»** _y_\' | jq\n# done\n```\nthen', 'so:\ncurl -d \'**«x»** _y_\' | jq\n# done\nthen'],
  'fenced code without an end': ['```go\nfunc f(a **T) { *a = «nil» }', 'func f(a **T) { *a = «nil» }'],
  'the end of a fence alone': ['make «all»\n```\nThen **look**.', 'make «all»\nThen look.'],
  'code in a line': ['set `rrf_«k»` and `a_b_c` or ``x`y``', 'set rrf_«k» and a_b_c or x`y'],
  'links and pictures': ['see [the «guide»](https://a.example/b_(c) "d") ![a «map»](m.png) <https://«a».example>', 'see the «guide» a «map» https://«a».example'],
  'a link that matched in its address alone': ['see [it](https://a.example/«refund»)', 'see it'],
  'a link cut off in its address': ['see [the guide](https://a.exam', 'see the guide'],
  'a mark over the end of a link': ['[the «guide](x) says»', 'the «guide says»'],
  'an index is no link': ['handlers[«name»](event), a[i][j]', 'handlers[«name»](event), a[i][j]'],
  'emphasis': ['**«bold»** and *slanted* and _so_ and __two words__ and ***both*** and ~~gone~~', '«bold» and slanted and so and two words and both and gone'],
  'emphasis in Chinese': ['这是**«重点»**，以及*斜体*。', '这是«重点»，以及斜体。'],
  'a mark from within emphasis to without': ['**a «b** c» d', 'a «b c» d'],
  'a mark around emphasis': ['«**a**» b', '«a» b'],
  'emphasis with code in it': ['**`--«flag»`** is **`a`, `b`**', '--«flag» is a, b'],
  'half of an emphasis': ['end of it.** Then «more»** and **half of', 'end of it. Then «more» and half of'],
  'what is no emphasis': ['2 * 3 * «4», snake_case_name, __init__, x**2 + y**2, f(**kwargs), a, **kw', '2 * 3 * «4», snake_case_name, __init__, x**2 + y**2, f(**kwargs), a, **kw'],
  'signs that were escaped': ['\\*not\\* \\_slanted\\_ «\\#»', '*not* _slanted_ «#»'],
  'lines that were wrapped': ['one\n«two»\n\nthree', 'one «two»\nthree'],
  'Chinese lines that were wrapped': ['检索\n«结果»\n\n下一段', '检索«结果»\n下一段'],
  'a rule, and a break in a cell': ['a\n\n***\n\n| b<br>c |', 'a\nb c'],
  'markup of HTML is text': ['<b>«x»</b> <img src=x onerror=alert(1)> &amp;', '<b>«x»</b> <img src=x onerror=alert(1)> &amp;'],
  'a mark without an end': ['a «b', 'a «b»'],
}

const coded = (text: string) => text.replaceAll('«', pre).replaceAll('»', post)

for (const [name, [from, to]] of Object.entries(cases)) {
  test(`readable: ${name}`, () => {
    expect(readable(coded(from)).replaceAll(pre, '«').replaceAll(post, '»')).toBe(to)
  })
}

test('readable: a long text takes no long time', () => {
  const started = performance.now()
  for (const piece of ['| a ', '**a ', '[a](', '`a ``', '- ', '_a ', '> ', '# ', '\n', ' ', '<', '![']) readable(piece.repeat(20_000))
  expect(performance.now() - started).toBeLessThan(10_000)
})
