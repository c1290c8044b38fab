import { useState } from 'react'
import type { RunsTuning } from '../api/schema'
import { Confirm } from '../components/confirm'
import { SavePreset } from '../components/evaluation/save-preset'
import { State, Working } from '../components/evaluation/state'
import { TuningResult } from '../components/evaluation/tuning-result'
import { Link } from '../components/link'
import { Failure, Notice, Skeleton } from '../components/notice'
import { call } from '../lib/api'
import { nameOf, useText } from '../lib/i18n'
import { useJob } from '../lib/jobs'
import { useLoad } from '../lib/load'
import { idFrom } from '../lib/queries'
import { navigate, usePlace } from '../lib/url'
import '../styles/evaluate.css'
import '../styles/mappings.css'
import '../styles/playground.css'

/** One tuning: how far it is, what it found, and the preset that comes of it. */
export default function TuningPage() {
  const t = useText()
  const { tuning: id = '' } = usePlace()
  const path = `/v1/tunings/${encodeURIComponent(id)}`
  const loaded = useLoad(['tuning', id], (signal) => call<RunsTuning>('GET', path, undefined, signal))
  const [error, setError] = useState<Error>()
  const u = loaded.data
  const job = useJob(u?.state === 'running' ? id : undefined, loaded.again)
  const act = (what: Promise<unknown>, then: () => void = loaded.again) => what.then(then, setError)
  const progress = job?.progress
  const said = progress?.step ? nameOf(t, 'tune.step', progress.step) : t('tune.working')
  return (
    <div className="page">
      <p className="quiet small"><Link to="/evaluate?view=tunings">{t('eval.view.tunings')}</Link></p>
      {loaded.error ? <Failure error={loaded.error} again={loaded.again} /> : null}
      {!u && !loaded.error ? <Skeleton rows={3} /> : null}
      {u ? (
        <>
          <div className="page-head">
            <h1>{u.name || t('tune.of', { preset: u.preset ?? '', metric: u.metric ?? '' })}</h1>
            <State of={u.state} />
            <span className="row end">
              {u.state === 'running' ? <button type="button" className="button" onClick={() => void act(call('POST', `${path}/cancel`))}>{t('app.cancel')}</button> : (
                <Confirm label={t('bases.delete')} tone="danger" about={t('tune.delete.about')} act={() => act(call('DELETE', path), () => navigate('/evaluate?view=tunings'))} />
              )}
            </span>
            <p>{t('eval.of', { set: u.query_set, list: u.judgments, when: new Date(u.created_at).toLocaleString() })} · {u.knowledge_base}</p>
          </div>
          {error ? <Failure error={error} /> : null}
          {u.error ? <Notice title={u.error} tone="error" /> : null}
          {u.state === 'running' ? (
            <Working done={progress?.done ?? 0} total={progress?.total ?? 0} about={progress && progress.total > 0 ? `${said}: ${progress.done} / ${progress.total}` : said} />
          ) : null}
          {u.result ? <TuningResult result={u.result} /> : null}
          {u.definition ? <SavePreset definition={u.definition} comment={`tuning ${u.id}`} suggested={idFrom(`${u.query_set}-${u.preset ?? ''}`)} /> : null}
        </>
      ) : null}
    </div>
  )
}
