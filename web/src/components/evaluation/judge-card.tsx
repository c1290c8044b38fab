import { useState } from 'react'
import type { DocumentChunks, SearchHit } from '../../api/schema'
import { call } from '../../lib/api'
import { documentName } from '../../lib/format'
import { useText, type Key, type Translate } from '../../lib/i18n'
import { useLoad } from '../../lib/load'
import { markedBy, Marks } from '../../lib/marked'
import { readable } from '../../lib/readable'
import { Failure, Skeleton } from '../notice'

/** What a grade means, where the scale is the usual one or an end of another. */
export function gradeName(t: Translate, grade: number, most: number): string {
  if (grade === 0) return t('judge.grade.0')
  if (most === 3) return t(`judge.grade.${grade}` as Key)
  return grade === most ? t('judge.grade.3') : ''
}

/** A hit to be judged: its text, and nothing of who found it or where it stood. */
export function JudgeCard({ hit }: { hit: SearchHit }) {
  const t = useText()
  const [around, setAround] = useState(false)
  return (
    <article className="card padded judged-hit" aria-label={t('judge.hit')}>
      <h2>{hit.question || hit.title || documentName(hit)}</h2>
      <p className="quiet small">{documentName(hit)} · {t('hit.chunk', { ordinal: hit.ordinal + 1 })}</p>
      <div className="text" tabIndex={0} role="region" aria-label={t('judge.text')}><Marks text={readable(markedBy(hit.answer || hit.content, hit.highlights ?? []))} /></div>
      <button type="button" className="linkish small" aria-expanded={around} onClick={() => setAround(!around)}>{t('judge.around')}</button>
      {around ? <Surroundings hit={hit} /> : null}
    </article>
  )
}

const near = 2 // chunks on each side

/** The chunks before and after, as its document has them. */
function Surroundings({ hit }: { hit: SearchHit }) {
  const t = useText()
  const of = useLoad(['surroundings', hit.knowledge_base, hit.document_id], (signal) => call<DocumentChunks>('GET',
    `/v1/knowledge-bases/${encodeURIComponent(hit.knowledge_base)}/documents/${encodeURIComponent(hit.document_id)}?limit=1000`, undefined, signal))
  if (of.error) return <Failure error={of.error} again={of.again} />
  if (!of.data) return <Skeleton rows={1} />
  const chunks = (of.data.chunks ?? []).filter((c) => Math.abs(c.ordinal - hit.ordinal) <= near).sort((a, b) => a.ordinal - b.ordinal)
  return (
    <ol className="around" tabIndex={0} aria-label={t('judge.around')}>
      {chunks.map((c) => <li key={c.id} className={c.id === hit.id ? 'this' : undefined} value={c.ordinal + 1}>{c.content || c.answer}</li>)}
    </ol>
  )
}
