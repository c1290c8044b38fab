import { useState } from 'react'
import type { EngineChunk } from '../api/schema'
import type { Matches } from '../lib/documents'
import { useText } from '../lib/i18n'
import { Icon } from './icons'
import { Link } from './link'

interface Props {
  question: string
  matches: Matches | undefined
  chosen: string
  chunks: EngineChunk[]
  /** Where the hits are. */
  back: string
  ask: (question: string) => void
  choose: (chunk: string) => void
}

/** The question, and the steps from one passage that has words of it to the next. */
export function Finder({ question, matches, chosen, chunks, back, ask, choose }: Props) {
  const t = useText()
  const [text, setText] = useState(question)
  const all = matches?.inOrder ?? []
  const here = chunks.find((c) => c.id === chosen)?.ordinal ?? -1
  const at = all.findIndex((m) => m.id === chosen)
  const next = all.find((m) => m.ordinal > here) ?? all[0]
  const previous = all.findLast((m) => m.ordinal < here) ?? all.at(-1)
  return (
    <div className="finder">
      <Link to={back} className="back" data-key="Escape"><Icon name="left" /><span>{t(question.trim() ? 'doc.back' : 'doc.search')}</span></Link>
      <form role="search" onSubmit={(e) => (e.preventDefault(), ask(text))}>
        <Icon name="search" />
        <input type="search" name="q" maxLength={8000} value={text} aria-label={t('doc.find')} placeholder={t('doc.find')} onChange={(e) => setText(e.target.value)} />
      </form>
      {matches ? (
        <>
          <span className="quiet small" role="status">
            {all.length === 0 ? t('doc.matches.none') : at < 0 ? t('doc.matches', { count: all.length }) : t('doc.matches.at', { n: at + 1, count: all.length })}
          </span>
          <button type="button" className="tool" disabled={all.length === 0} aria-label={t('doc.previous')} title={t('doc.previous')} data-key="k" onClick={() => choose(previous!.id)}><Icon name="up" /></button>
          <button type="button" className="tool" disabled={all.length === 0} aria-label={t('doc.next')} title={t('doc.next')} data-key="j" onClick={() => choose(next!.id)}><Icon name="chevron" /></button>
        </>
      ) : null}
    </div>
  )
}
