import { useState } from 'react'
import type { AnswerSentence, EngineChunk, RagCitation, SearchHit, SearchRequest } from '../api/schema'
import { answerRequestOf, isOver, useAnswer, type Written } from '../lib/answering'
import { call } from '../lib/api'
import { documentName } from '../lib/format'
import { useText, type Translate } from '../lib/i18n'
import { useLoad } from '../lib/load'
import { Copy } from './code'
import { legName } from './legs'
import { Icon } from './icons'
import { Failure, Skeleton } from './notice'
import { Term } from './term'
import '../styles/answer.css'

interface Props {
  /** The search that found them. */
  request: SearchRequest
  /** The hits that the page shows: citations lead to them. */
  hits: SearchHit[]
}

/** What a model makes of the hits, as it is written. */
export default function Answer({ request, hits }: Props) {
  const t = useText()
  const { written, stop, again } = useAnswer(answerRequestOf(request))
  const [open, setOpen] = useState<number>() // the source that is shown here, as no hit on this page is
  const over = isOver(written)
  const cited = (written.sources?.sources ?? []).filter((s) => written.sentences.some((w) => w.citations.includes(s.number)))
  const lead = (n: number) => {
    const source = written.sources?.sources.find((s) => s.number === n)
    if (source && !focusHit(source, hits)) setOpen(open === n ? undefined : n)
  }
  const shown = cited.find((s) => s.number === open)
  return (
    <section className="answered card" aria-label={t('answer.title')} aria-busy={!over}>
      <div className="row between">
        <h2><Term name="answer">{t('answer.title')}</Term></h2>
        <div className="row">
          {over ? null : <button type="button" className="button compact" onClick={stop}><Icon name="close" />{t('answer.stop')}</button>}
          {written.stopped ? <button type="button" className="button compact" onClick={again}><Icon name="again" />{t('answer.again')}</button> : null}
          {over && written.sentences.length > 0 ? <Copy label={t('app.copy')} text={() => asText(written, cited)} /> : null}
        </div>
      </div>
      <div className="text" aria-live="polite">
        {written.sentences.map((s, i) => <Sentence key={i} sentence={s} lead={lead} open={open} />)}
        {over ? null : <span className="pending" role="status">{progressOf(written, t)}</span>}
        {written.unknown ? <p className="unknown">{written.unknown.reason}</p> : null}
      </div>
      {written.error ? <Failure error={written.error} again={again} /> : null}
      {written.stopped ? <p className="quiet small">{t('answer.stopped')}</p> : null}
      {written.done?.truncated ? <p className="quiet small">{t('answer.truncated')}</p> : null}
      {(written.sources?.degraded ?? []).map((d, i) => (
        <p key={i} className="quiet small">{t('answer.degraded', { leg: legName(d.leg, t), reason: d.reason })}</p>
      ))}
      {cited.length > 0 ? (
        <ul className="sources" aria-label={t('answer.sources')}>
          {cited.map((s) => (
            <li key={s.number}>
              <button type="button" className="linkish" aria-expanded={open === s.number ? true : undefined} onClick={() => lead(s.number)}>
                <span className="number">{s.number}</span> {nameOf(s)}
              </button>
            </li>
          ))}
        </ul>
      ) : null}
      {shown ? <Source key={shown.number} source={shown} /> : null}
      {written.sentences.length > 0 ? <p className="quiet small">{t('answer.caution')}</p> : null}
    </section>
  )
}

const progressOf = (w: Written, t: Translate) =>
  w.sentences.length > 0 ? '…' : w.sources ? t('answer.reading', { count: w.sources.sources.length }) : t('answer.searching')

function nameOf(s: RagCitation) {
  const document = documentName({ document_id: s.document_id, document_name: s.source })
  return s.heading ? `${document} · ${s.heading}` : document
}

/** A sentence with the numbers of its sources; one without any may be made up, and looks so. */
function Sentence({ sentence: s, lead, open }: { sentence: AnswerSentence; lead: (n: number) => void; open?: number }) {
  const t = useText()
  const end = s.text.trimEnd()
  return (
    <>
      {s.cited ? end : <span className="uncited" title={t('answer.uncited')}>{end}</span>}
      {s.citations.map((n) => (
        <button key={n} type="button" className="cite" aria-label={t('answer.source', { n })} aria-expanded={open === n ? true : undefined} onClick={() => lead(n)}>{n}</button>
      ))}
      {s.text.slice(end.length) || ' '}
    </>
  )
}

/** Leads to a hit of the page; false: it is on another one. */
function focusHit(source: RagCitation, hits: SearchHit[]): boolean {
  const at = hits.findIndex((h) => h.id === source.id && h.knowledge_base === source.knowledge_base)
  const hit = at < 0 ? null : document.querySelectorAll<HTMLElement>('.hits > .hit')[at]
  if (!hit) return false
  hit.tabIndex = -1
  hit.scrollIntoView({ block: 'center' })
  hit.focus({ preventScroll: true })
  return true
}

/** The text of a source that is on another page of the hits. */
function Source({ source: s }: { source: RagCitation }) {
  const t = useText()
  const path = `/v1/knowledge-bases/${encodeURIComponent(s.knowledge_base)}/chunks/${encodeURIComponent(s.id)}`
  const chunk = useLoad(['source', path], (signal) => call<EngineChunk>('GET', path, undefined, signal))
  if (chunk.error) return <Failure error={chunk.error} again={chunk.again} />
  if (!chunk.data) return <Skeleton rows={1} />
  return (
    <div className="fulltext" tabIndex={0} role="region" aria-label={t('answer.source', { n: s.number })}>
      {chunk.data.answer || chunk.data.content}
    </div>
  )
}

/** The answer as it is pasted elsewhere: with its citations, and what they are. */
function asText(w: Written, cited: RagCitation[]): string {
  const text = w.sentences.map((s) => {
    const end = s.text.trimEnd()
    return end + s.citations.map((n) => ` [${n}]`).join('') + (s.text.slice(end.length) || ' ')
  }).join('').trim()
  return [text, '', ...cited.map((s) => `[${s.number}] ${nameOf(s)}${s.url ? ` ${s.url}` : ''}`)].join('\n')
}
