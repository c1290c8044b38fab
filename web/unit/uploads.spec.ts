import { expect, test } from '@playwright/test'
import { isActive, isFailed, isOver, UploadQueue } from '../src/lib/upload-queue'

const base = { id: 'docs', name: 'Docs' }
const found = (...names: string[]) => names.map((name) => ({ name, file: new File([name], name) }))

function filled(...names: string[]) {
  const queue = new UploadQueue()
  queue.add(base, found(...names))
  return queue
}

const states = (queue: UploadQueue) => Object.fromEntries(queue.order().map((id) => [queue.get(id)!.name, queue.get(id)!.state]))
const named = (queue: UploadQueue) => queue.order().map((id) => queue.get(id)!.name)

test('two files are sent at a time, the next when one ends', () => {
  const queue = filled('a', 'b', 'c', 'd')
  expect(queue.start().map((u) => u.name)).toEqual(['a', 'b'])
  expect(queue.start()).toEqual([])
  queue.put(1, { state: 'working', done: 3, all: 9 })
  expect(queue.start()).toEqual([])
  queue.put(1, { state: 'done' })
  expect(queue.start().map((u) => u.name)).toEqual(['c'])
  expect(queue.counts()).toEqual({ running: 2, waiting: 1, done: 1, failed: 0, cancelled: 0 })
})

test('of 500 files never more than two are under way, and what failed is sent again by itself', () => {
  const queue = filled(...Array.from({ length: 500 }, (_, i) => `note-${i}.md`))
  const end = (refused: string[]) => {
    let most = 0
    for (let sent = queue.start(); queue.counts().running > 0; sent = queue.start()) {
      most = Math.max(most, queue.counts().running)
      const u = sent[0] ?? queue.get(queue.order()[0]!)!
      queue.put(u.id, { state: refused.includes(u.name) ? 'failed' : 'done' })
    }
    return most
  }
  expect(end(['note-7.md', 'note-300.md'])).toBe(2)
  expect(queue.counts()).toMatchObject({ done: 498, failed: 2 })
  expect(named(queue).slice(0, 2)).toEqual(['note-7.md', 'note-300.md']) // those that one wants to see
  queue.retry(isFailed)
  expect(queue.counts()).toMatchObject({ waiting: 2, done: 498 })
  end([])
  expect(queue.counts()).toMatchObject({ done: 500, failed: 0 })
})

test('a file takes the place of an earlier one of its name that is not on its way', () => {
  const queue = filled('a', 'b', 'c')
  queue.start()
  queue.add(base, found('a', 'c'))
  expect(named(queue)).toEqual(['a', 'b', 'a', 'c']) // the a on its way stays, and the new one waits for it
  queue.put(2, { state: 'done' })
  expect(queue.start().map((u) => u.name)).toEqual(['c'])
  queue.put(1, { state: 'done' })
  expect(queue.start().map((u) => u.name)).toEqual(['a'])
})

test('files of one name go to two knowledge bases at once', () => {
  const queue = filled('a')
  queue.add({ id: 'other', name: 'Other' }, found('a'))
  expect(queue.start()).toHaveLength(2)
})

test('cancelled, what waits ends at once, and who sends what runs is told', () => {
  const queue = filled('a', 'b', 'c')
  queue.start()
  expect(queue.cancel(isActive)).toEqual([1, 2])
  expect(states(queue)).toEqual({ a: 'sending', b: 'sending', c: 'cancelled' }) // a request ends when it has ended
  queue.put(1, { state: 'cancelled' })
  queue.put(2, { state: 'done' }) // it was too late
  expect(queue.start()).toEqual([])
  expect(queue.counts()).toEqual({ running: 0, waiting: 0, done: 1, failed: 0, cancelled: 2 })
})

test('what is cleared comes back by nothing, what runs cannot be cleared', () => {
  const queue = filled('a', 'b', 'c')
  queue.start()
  queue.put(1, { state: 'failed' })
  queue.clear(() => true)
  expect(named(queue)).toEqual(['b', 'c'])
  queue.put(1, { state: 'done' })
  expect(named(queue)).toEqual(['b', 'c'])
  queue.put(2, { state: 'done' })
  queue.clear(isOver)
  expect(named(queue)).toEqual(['c'])
})

test('sent again, a file has forgotten its errors', () => {
  const queue = filled('a')
  queue.start()
  queue.put(1, { state: 'failed', reason: 'error.unreachable', detail: 'away', failed: 3, failures: [{ line: 1, detail: 'bad' }], sent: 1 })
  queue.retry(isFailed)
  expect(queue.get(1)).toMatchObject({ state: 'waiting', reason: undefined, detail: undefined, failed: 0, failures: [], sent: 0 })
})

test('progress changes neither the order nor the counts, so that no other row is drawn', () => {
  const queue = filled('a', 'b')
  queue.start()
  const [order, counts, other] = [queue.order(), queue.counts(), queue.get(2)]
  queue.put(1, { done: 5, all: 9 })
  expect(queue.order()).toBe(order)
  expect(queue.counts()).toBe(counts)
  expect(queue.get(2)).toBe(other)
})
