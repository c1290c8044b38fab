import { expect, test } from '@playwright/test'
import { runsOf } from '../src/lib/lines'
import { BadLine, idFrom, queriesOf } from '../src/lib/queries'
import { idOf, questionSets, setsAtMost, setSize } from '../src/lib/question-sets'

/** What a browser keeps, with room for so many characters. */
function room(characters = Infinity) {
  const kept = new Map<string, string>()
  const storage = {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem(name: string, value: string) {
      if (value.length > characters) throw new DOMException('full', 'QuotaExceededError')
      kept.set(name, value)
    },
  }
  Object.assign(globalThis, { localStorage: storage })
  return () => (JSON.parse(kept.get('hybridge.questions') ?? '[]') as [string, string][]).map(([id]) => id)
}

test('the same questions have the same id, in whichever browser', async () => {
  room()
  const id = await questionSets.keep(['how are scores fused', '如何融合'])
  expect(id).toBe(idOf('how are scores fused\n如何融合'))
  expect(await questionSets.read(id)).toEqual(['how are scores fused', '如何融合'])
  expect(await questionSets.read('another')).toBeUndefined()
})

test('of the sets of questions that was used longest ago goes', async () => {
  const kept = room()
  const ids: string[] = []
  for (let i = 0; i < setsAtMost; i++) ids.push(await questionSets.keep([`question ${i}`]))
  await questionSets.read(ids[0]!) // used last, so it is not the oldest any more
  const last = await questionSets.keep(['one more'])
  expect(kept()).toHaveLength(setsAtMost)
  expect(kept().slice(0, 2)).toEqual([last, ids[0]])
  expect(await questionSets.read(ids[1]!)).toBeUndefined()
})

test('where there is no room, older sets make it; a set that cannot fit is refused and drops none', async () => {
  const kept = room(3000)
  const first = await questionSets.keep(['x'.repeat(1000)])
  const second = await questionSets.keep(['y'.repeat(2500)])
  expect(kept()).toEqual([second])
  await expect(questionSets.keep(['z'.repeat(4000)])).rejects.toThrow()
  await expect(questionSets.keep(['z'.repeat(setSize + 1)])).rejects.toThrow(RangeError)
  expect(kept()).toEqual([second])
  expect(await questionSets.read(first)).toBeUndefined()
})

test('questions come as lines, as a table and as JSON lines; doubled ones are one', () => {
  expect(queriesOf(' a \n\nb\na').map((q) => q.text)).toEqual(['a', 'b'])
  expect(queriesOf('id,Query\n7,"a, ""quoted"""\n,b\n', 'q.csv')).toEqual([{ id: '7', text: 'a, "quoted"' }, { id: idOf('b'), text: 'b' }])
  expect(queriesOf('{"_id":"q1","text":"a"}\n\n{"query":"b","notes":"n"}', 'q.jsonl')).toEqual([
    { id: 'q1', text: 'a' }, { id: idOf('b'), text: 'b', notes: 'n' },
  ])
})

test('a line that is not what its file says is told by its number', () => {
  const line = (text: string, name: string) => {
    try {
      queriesOf(text, name)
    } catch (error) {
      return (error as BadLine).line
    }
    return 0
  }
  expect(line('{"text":"a"}\n{"text":""}', 'q.jsonl')).toBe(2)
  expect(line('{"text":"a"}\n\nnot json', 'q.ndjson')).toBe(3)
  expect(line('name,words\na,b', 'q.csv')).toBe(1)
})

test('a name becomes an id, and one that has nothing of an id still has one of its own', () => {
  expect(idFrom('My questions, 2026!')).toBe('my-questions-2026')
  expect(idFrom('退款')).toBe(`set-${idOf('退款')}`)
})

test('a file of lines is cut between them, so that each request is whole', async () => {
  const lines = Array.from({ length: 150 }, (_, i) => `{"id":"c${i}","content":"退款 ${i}"}`)
  const file = new Blob([lines.join('\n')]) // its last line has no end
  const runs = await runsOf(file)
  expect(runs.map((r) => [r.line, r.lines])).toEqual([[1, 64], [65, 64], [129, 22]])
  const read = await Promise.all(runs.map((r) => file.slice(r.from, r.to).text()))
  expect(read.join('')).toBe(lines.join('\n'))
  for (const text of read) for (const line of text.trimEnd().split('\n')) JSON.parse(line)
})
