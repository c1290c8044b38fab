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
