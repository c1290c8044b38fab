import { useEffect, useState, type ReactNode } from 'react'
import type { JobsJob, Readiness } from '../api/schema'
import { call } from '../lib/api'
import type { Choices } from '../lib/bases'
import { follow } from '../lib/events'
import { guideAt, useLanguage, useText } from '../lib/i18n'
import { useLoad } from '../lib/load'
import { Code, Copy } from './code'
import { Examples } from './examples'
import { Icon } from './icons'
import { Link } from './link'
import { Failure } from './notice'
import '../styles/first-run.css'

interface Props {
  choices: Choices
  /** Chunks that there are to search; undefined while nobody knows. */
  chunks: number | undefined
  /** Whether a question has found something. */
  asked: boolean
  ask: (q: string) => void
  /** Looks again at what there is. */
  again: () => void
  dismiss: () => void
  /** Is told that all is done. */
  done: () => void
}

/** The way from an empty gateway to the first answer. Ticks say what is so now, not what was clicked. */
export default function FirstRun({ choices, chunks = 0, asked, ask, again, dismiss, done }: Props) {
  const t = useText()
  const ready = useLoad(['ready', chunks], (signal) => call<Readiness>('GET', '/readyz', undefined, signal))
  const model = ready.data?.back_ends?.embedding
  const filled = chunks > 0
  const over = filled && model === 'ok' && asked
  useEffect(() => { if (over) done() }, [over, done])
  return (
    <section className="first card" aria-label={t('first.title')}>
      <div className="row between">
        <h2>{t('first.title')}</h2>
        <button type="button" className="tool" aria-label={t('first.dismiss')} title={t('first.dismiss')} onClick={dismiss}><Icon name="close" /></button>
      </div>
      <ol>
        <Step done={filled} title={t('first.data')} about={filled ? t('first.data.there', { count: chunks }) : t('first.data.about')}>
          {filled ? null : <LoadSample done={again} />}
        </Step>
        <Step done={model === 'ok'} title={t('first.model')} about={t(model === 'ok' ? 'first.model.there' : model ? 'first.model.away' : 'first.model.about')}>
          {ready.data && !model ? <ModelSettings /> : null}
        </Step>
        <Step done={asked} title={t('first.question')} about={t(asked ? 'first.question.there' : filled ? 'first.question.about' : 'first.question.later')}>
          {filled && !asked ? <Examples choices={choices} ask={ask} /> : null}
        </Step>
      </ol>
    </section>
  )
}

function Step({ done, title, about, children }: { done: boolean; title: string; about: string; children?: ReactNode }) {
  const t = useText()
  return (
    <li className={done ? 'done' : undefined}>
      <span className="tick">{done ? <Icon name="check" /> : null}</span>
      <div>
        <h3>{title} <span className="visually-hidden">{t(done ? 'first.done' : 'first.open')}</span></h3>
        <p className="quiet">{about}</p>
        {children}
      </div>
    </li>
  )
}

/** Loads the pages of the guide, or leads to where files are uploaded. */
function LoadSample({ done }: { done: () => void }) {
  const t = useText()
  const [job, setJob] = useState<JobsJob>()
  const [error, setError] = useState<Error>()
  const id = job?.id
  useEffect(() => {
    if (!id) return
    const abort = new AbortController()
    void follow<JobsJob>(`/v1/jobs/${encodeURIComponent(id)}/events`, abort.signal, setJob)
      .catch((e: Error) => { if (!abort.signal.aborted) setError(e) })
      .finally(() => { if (!abort.signal.aborted) done() })
    return () => abort.abort()
  }, [id, done])
  const load = () => {
    setError(undefined)
    call<JobsJob>('POST', '/v1/demo').then(setJob, setError)
  }
  const failed = job?.state === 'failed' ? job.errors?.[0]?.detail : undefined
  const { done: loaded = 0, total = 0 } = job?.progress ?? {}
  return (
    <>
      {job?.state === 'running' ? (
        <div className="loading" role="status">
          <progress aria-label={t('first.data.loading')} value={total > 0 ? loaded / total : undefined} />
          <span className="quiet small">{total > 0 ? t('first.data.progress', { done: loaded, total }) : t('first.data.loading')}</span>
        </div>
      ) : (
        <p className="row">
          <button type="button" className="button primary" onClick={load}>{t('first.data.load')}</button>
          <Link to="/knowledge-bases?create=1" className="button">{t('search.nobase.go')}</Link>
        </p>
      )}
      {failed ? <Failure error={new Error(failed)} /> : null}
      {error ? <Failure error={error} /> : null}
    </>
  )
}

const command = 'hybridge serve --embedding-url http://127.0.0.1:11434 --embedding-model bge-m3'

/** What is missing for searches by meaning. */
function ModelSettings() {
  const { t, language } = useLanguage()
  return (
    <div className="setting">
      <Code label={t('first.model')} text={command} />
      <p className="row">
        <Copy label={t('app.copy')} text={() => command} />
        <a href={`${guideAt(language)}embedding-models`}>{t('term.more')}</a>
      </p>
    </div>
  )
}
