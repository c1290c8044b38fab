import { Fragment, memo } from 'react'
import { post, pre, readable } from './readable'

export { post, pre }

const entities: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&amp;': '&', '&#34;': '"', '&#39;': "'" }

/** Fragments come escaped for HTML; here they become the text that they were. */
export const plain = (text: string) => text.replace(/&(?:lt|gt|amp|#34|#39);/g, (entity) => entities[entity] ?? entity)

/** A fragment as text to read, with its marked parts marked; text stays text. As it is: not read as Markdown. */
export const Marked = memo(function Marked({ text, asItIs }: { text: string; asItIs?: boolean }) {
  const shown = asItIs ? plain(text) : readable(plain(text))
  return shown.split(pre).map((part, i) => {
    const [marked = '', rest = ''] = i === 0 ? ['', part] : part.split(post)
    return (
      <Fragment key={i}>
        {marked ? <mark>{marked}</mark> : null}
        {rest}
      </Fragment>
    )
  })
})

const escaped = (text: string) => text.replace(/[&<>]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[c]!)

/** A whole text as one fragment: the words that its fragments mark are marked wherever they stand. */
export function wholly(content: string, fragments: string[]): string {
  const words = new Set(fragments.flatMap((f) => [...plain(f).matchAll(new RegExp(`${pre}([^${post}]+)${post}`, 'g'))].map(([, word]) => word!)))
  if (words.size === 0) return escaped(content)
  const either = [...words].sort((a, b) => b.length - a.length).map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .map((w) => (/^[\p{Script=Latin}\d]/u.test(w) ? `(?<![\\p{L}\\d])${w}(?![\\p{L}\\d])` : w))
  return escaped(content.replace(new RegExp(either.join('|'), 'gu'), `${pre}$&${post}`))
}
