import { Fragment, memo } from 'react'
import { post, pre, readable } from './readable'

export { post, pre }

const entities: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&amp;': '&', '&#34;': '"', '&#39;': "'" }

/** Fragments come escaped for HTML; here they become the text that they were. */
export const plain = (text: string) => text.replace(/&(?:lt|gt|amp|#34|#39);/g, (entity) => entities[entity] ?? entity)

/** A text with what is between the marks marked; text stays text. */
export function Marks({ text }: { text: string }) {
  return text.split(pre).map((part, i) => {
    const [marked = '', rest = ''] = i === 0 ? ['', part] : part.split(post)
    return (
      <Fragment key={i}>
        {marked ? <mark>{marked}</mark> : null}
        {rest}
      </Fragment>
    )
  })
}

/** A fragment as text to read, with its marked parts marked. As it is: not read as Markdown. */
export const Marked = memo(function Marked({ text, asItIs }: { text: string; asItIs?: boolean }) {
  return <Marks text={asItIs ? plain(text) : readable(plain(text))} />
})

/** The whole text marked where fragments of it are; a fragment that is not of this text marks nothing. */
export function markedBy(text: string, fragments: string[]): string {
  const stretches: [from: number, to: number][] = []
  for (const fragment of fragments.map(plain)) {
    let at = text.indexOf(fragment.replaceAll(pre, '').replaceAll(post, ''))
    if (at < 0) continue
    for (const piece of fragment.split(/(?=[\uE000\uE001])/)) {
      const length = piece.replace(/^[\uE000\uE001]/, '').length
      if (piece.startsWith(pre)) stretches.push([at, at + length])
      at += length
    }
  }
  let [out, done] = ['', 0]
  for (const [from, to] of stretches.sort((a, b) => a[0] - b[0])) {
    if (from < done) continue
    out += text.slice(done, from) + pre + text.slice(from, to) + post
    done = to
  }
  return out + text.slice(done)
}
