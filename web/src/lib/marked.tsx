import { Fragment, memo } from 'react'

// Private-use characters around what matched: they cannot be HTML, and a text
// that brings its own loses nothing but these two.
export const pre = '\uE000'
export const post = '\uE001'

const entities: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&amp;': '&', '&#34;': '"', '&#39;': "'" }

/** Fragments come escaped for HTML; here they become the text that they were. */
export const plain = (text: string) => text.replace(/&(?:lt|gt|amp|#34|#39);/g, (entity) => entities[entity] ?? entity)

/** Text with its marked parts marked; text stays text. */
export const Marked = memo(function Marked({ text }: { text: string }) {
  return text.split(pre).map((part, i) => {
    if (i === 0) return <Fragment key={i}>{plain(part)}</Fragment>
    const end = part.indexOf(post)
    return (
      <Fragment key={i}>
        <mark>{plain(end < 0 ? part : part.slice(0, end))}</mark>
        {end < 0 ? '' : plain(part.slice(end + 1))}
      </Fragment>
    )
  })
})
