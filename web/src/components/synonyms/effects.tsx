import { useState } from 'react'
import type { EventsAnalytics, SynonymEffect, SynonymEffects, SynonymHit } from '../../api/schema'
import { call } from '../../lib/api'
import { documentName } from '../../lib/format'
import { useText } from '../../lib/i18n'
import { useLoad } from '../../lib/load'
import { Field } from '../field'
import { Failure } from '../notice'
import { Synonyms } from './trial'

const most = 10 // questions, each of which is searched twice

interface Props {
  path: string
  /** Which knowledge bases are searched. */
  bases: string[]
  text: string
}

/** What a draft changes of the answers to real questions, beside what is in use. */
export function Effects({ path, bases, text }: Props) {
  const t = useText()
  const [questions, setQuestions] = useState('')
  const [seen, setSeen] = useState<SynonymEffects>()
  const [error, setError] = useState<Error>()
  const [busy, setBusy] = useState(false)
  const asked = useAsked(bases)
  const list = questions.split('\n').map((q) => q.trim()).filter(Boolean)
  const go = async () => {
    setBusy(true)
    try {
      setSeen(await call<SynonymEffects>('POST', `${path}/effects`, { queries: list.slice(0, most), text, knowledge_bases: bases.slice(0, 64) }))
      setError(undefined)
    } catch (e) {
      setError(e as Error)
    }
    setBusy(false)
  }
  if (bases.length === 0) return null
  return (
    <section className="part effects" aria-label={t('syn.effects')}>
      <h2>{t('syn.effects')}</h2>
      <form onSubmit={(e) => (e.preventDefault(), void go())}>
        <Field label={t('syn.effects.questions')} hint={list.length > most ? t('syn.effects.most', { most }) : t('syn.effects.hint')}>
          {(id, hint) => <textarea id={id} className="input" rows={3} value={questions} aria-describedby={hint} onChange={(e) => setQuestions(e.target.value)} />}
        </Field>
        <p className="row">
          <button type="submit" className="button" disabled={busy || list.length === 0}>{t('syn.effects.go')}</button>
          {asked.length > 0 ? <button type="button" className="button" onClick={() => setQuestions(asked.join('\n'))}>{t('syn.effects.asked')}</button> : null}
        </p>
      </form>
      {error ? <Failure error={error} /> : null}
      {seen ? <Seen questions={seen.questions ?? []} several={bases.length > 1} /> : null}
    </section>
  )
}

/** The questions that users asked most, where they are logged and this key may know. */
function useAsked(bases: string[]): string[] {
  const one = bases.length === 1 ? bases[0] : undefined
  const report = useLoad(['asked questions', one ?? ''], (signal) => call<EventsAnalytics>('GET',
    `/v1/events/analytics?${new URLSearchParams({ limit: String(most), ...(one ? { knowledge_base: one } : {}) })}`, undefined, signal)
    .catch(() => null)) // they are an offer, nothing is wrong without them
  return (report.data?.top ?? []).flatMap((q) => (q.query ? [q.query] : []))
}

const name = (h: SynonymHit) => `${h.knowledge_base}/${h.id}`

const changed = (e: SynonymEffect) => (e.current.hits ?? []).map(name).join('\n') !== (e.draft.hits ?? []).map(name).join('\n')

function Seen({ questions, several }: { questions: SynonymEffect[]; several: boolean }) {
  const t = useText()
  return (
    <div aria-live="polite" className="part">
      <p><strong>{t('syn.effects.changed', { changed: questions.filter(changed).length, all: questions.length })}</strong></p>
      {questions.map((e, i) => (
        <details key={i} className="effect card padded" open={changed(e) || questions.length === 1}>
          <summary><span className="ink">{e.query}</span> <span className={`tag${changed(e) ? ' warn' : ''}`}>{t(changed(e) ? 'syn.effects.moved' : 'syn.effects.same')}</span></summary>
          <div className="sides">
            <Side title={t('syn.try.current')} effect={e} of="current" several={several} />
            <Side title={t('syn.try.draft')} effect={e} of="draft" several={several} />
          </div>
        </details>
      ))}
    </div>
  )
}

/** One side of a question: the synonyms that it has, and its hits with how each moved. */
function Side({ title, effect, of, several }: { title: string; effect: SynonymEffect; of: 'current' | 'draft'; several: boolean }) {
  const t = useText()
  const [own, other] = of === 'draft' ? [effect.draft, effect.current] : [effect.current, effect.draft]
  const hits = own.hits ?? []
  return (
    <div>
      <h3 className="label">{title}</h3>
      <Synonyms list={own.synonyms ?? []} besides={of === 'draft' ? other.synonyms ?? [] : undefined} />
      {hits.length === 0 ? <p className="quiet">{t('search.empty')}</p> : (
        <ol>
          {hits.map((h, at) => (
            <li key={name(h)}>
              <span className="clip">{h.title || documentName(h)}</span> {several ? <span className="quiet small">{h.knowledge_base}</span> : null}{' '}
              <Move at={at} other={(other.hits ?? []).findIndex((o) => name(o) === name(h))} draft={of === 'draft'} />
            </li>
          ))}
        </ol>
      )}
    </div>
  )
}

/** How a hit stands against the other side, where it stands at other, or not at all (-1). */
function Move({ at, other, draft }: { at: number; other: number; draft: boolean }) {
  const t = useText()
  if (other < 0) return <span className={`tag ${draft ? 'good' : 'bad'}`}>{t(draft ? 'syn.effects.new' : 'syn.effects.gone')}</span>
  if (!draft || other === at) return null
  return <span className="tag">{t(other > at ? 'syn.effects.up' : 'syn.effects.down', { by: Math.abs(other - at) })}</span>
}
