import { useEffect, useRef, useState } from 'react'
import type { CatalogDescribed, JobList, JobsJob } from '../../api/schema'
import { call } from '../../lib/api'
import { nameOf, useLanguage, useText, type Key } from '../../lib/i18n'
import { localeOf } from '../../lib/languages'
import { useJob } from '../../lib/jobs'
import { useLoad } from '../../lib/load'
import { Confirm } from '../confirm'
import { Link } from '../link'
import { Failure, Skeleton } from '../notice'

const tones: Record<string, string> = { succeeded: 'good', running: 'warn', failed: 'bad', cancelled: '' }

/** What was done with a knowledge base in the background, the latest first; and a way to have its vectors made. */
export function Jobs({ base, changed }: { base: CatalogDescribed; changed: () => void }) {
  const t = useText()
  const list = useLoad(['jobs of', base.id], (signal) => call<JobList>('GET', '/v1/jobs', undefined, signal))
  const jobs = (list.data?.jobs ?? []).filter((j) => j.knowledge_base === base.id)
  const running = jobs.find((j) => j.state === 'running')
  const told = useJob(running?.id, list.again)
  useEnd(running?.id, changed)
  const [error, setError] = useState<Error>()
  const embed = (all: boolean) =>
    call<JobsJob>('POST', `/v1/knowledge-bases/${encodeURIComponent(base.id)}/embed`, { all }).then(() => (setError(undefined), list.again()), setError)
  const cancel = (id: string) => call('POST', `/v1/jobs/${encodeURIComponent(id)}/cancel`).then(() => list.again(), setError)
  const bare = base.chunks - base.vectors
  const able = base.dimensions > 0 && !base.attach
  return (
    <section className="part" aria-label={t('kb.view.jobs')}>
      {able ? (
        <div className="card padded part">
          <p className="row between">
            <span><strong>{t('kb.embed')}</strong> <span className="quiet">{bare > 0 ? t('kb.embed.lacking', { count: bare }) : t('kb.embed.whole')}</span></span>
            <span className="row">
              {bare > 0 ? <button type="button" className="button" disabled={Boolean(running)} onClick={() => void embed(false)}>{t('kb.embed.missing')}</button> : null}
              {running ? null : <Confirm label={t('kb.embed.all')} about={t('kb.embed.all.about', { count: base.chunks })} act={() => embed(true)} />}
            </span>
          </p>
        </div>
      ) : null}
      {error ? <Failure error={error} /> : null}
      {list.error ? <Failure error={list.error} again={list.again} /> : null}
      {!list.data && !list.error ? <Skeleton rows={2} /> : null}
      <p className="quiet small">
        {list.data && jobs.length === 0 ? t('kb.jobs.none') : t('kb.jobs.about')}{' '}
        {base.attach || base.shared ? null : <Link to={`/mappings?kb=${encodeURIComponent(base.id)}`}>{t('kb.jobs.mappings')}</Link>}
      </p>
      <ul className="kb-jobs">{jobs.map((j) => <Job key={j.id} job={told?.id === j.id ? told : j} cancel={cancel} />)}</ul>
    </section>
  )
}

/** Tells when a job that ran no longer does. */
function useEnd(running: string | undefined, ended: () => void) {
  const ran = useRef(running)
  useEffect(() => {
    if (ran.current && !running) ended()
    ran.current = running
    // `ended` is new on every draw and does the same.
  }, [running])
}

function Job({ job, cancel }: { job: JobsJob; cancel: (id: string) => Promise<void> }) {
  const { t, language } = useLanguage()
  const when = (time: string) => new Date(time).toLocaleString(localeOf(language), { dateStyle: 'medium', timeStyle: 'medium' })
  const { done, total } = job.progress
  const name = nameOf(t, 'kb.job', job.kind)
  return (
    <li className="card padded part">
      <p className="row">
        <strong>{name}</strong>
        <span className={`tag ${tones[job.state] ?? ''}`}>{t(`kb.job.state.${job.state}` as Key)}</span>
        {total > 0 ? <span className="quiet small">{t('kb.job.progress', { done: done.toLocaleString(), total: total.toLocaleString() })}</span> : null}
        <span className="quiet small end">{when(job.started_at)}{job.finished_at ? ` – ${when(job.finished_at)}` : ''}</span>
        {job.state === 'running' ? <button type="button" className="button compact" onClick={() => void cancel(job.id)}>{t('app.cancel')}</button> : null}
      </p>
      {job.state === 'running' ? <progress aria-label={name} value={total > 0 ? done / total : undefined} /> : null}
      {(job.errors ?? []).length > 0 ? (
        <details open={job.errors!.length <= 3}>
          <summary>{t('kb.job.errors', { count: job.errors!.length })}</summary>
          <ul className="small">{job.errors!.map((e, i) => <li key={i}><span className="mono quiet">{e.code}</span> {e.detail}</li>)}</ul>
        </details>
      ) : null}
    </li>
  )
}
