import { useState } from 'react'
import { Confirm } from '../components/confirm'
import { EventsOff } from '../components/evaluation/events-off'
import { shortly, StateOf } from '../components/experiments/list'
import { Needs } from '../components/experiments/needs'
import { Promote } from '../components/experiments/promote'
import { Report } from '../components/experiments/report'
import { Stop } from '../components/experiments/stop'
import { Link } from '../components/link'
import { Failure, Notice, Skeleton } from '../components/notice'
import { ApiError, call } from '../lib/api'
import { pathOf, useExperiment, useReport } from '../lib/experiments'
import { useText } from '../lib/i18n'
import { navigate, usePlace } from '../lib/url'
import '../styles/evaluate.css'
import '../styles/experiments.css'
import '../styles/mappings.css'
import '../styles/playground.css'

/** One experiment: what is known of it, and its end. */
export default function ExperimentPage() {
  const t = useText()
  const { experiment: id = '' } = usePlace()
  const loaded = useExperiment(id)
  const e = loaded.data?.id === id ? loaded.data : undefined
  const report = useReport(e)
  const [error, setError] = useState<Error>()
  const act = (what: Promise<unknown>, then: () => void = loaded.again) => what.then(then, setError)
  const off = report.error instanceof ApiError && report.error.code === 'unsupported'
  const open = e?.state === 'running' || e?.state === 'scheduled'
  return (
    <div className="page">
      <p className="quiet small"><Link to="/experiments">{t('exp.title')}</Link></p>
      {loaded.error ? <Failure error={loaded.error} again={loaded.again} /> : null}
      {!e && !loaded.error ? <Skeleton rows={3} /> : null}
      {e ? (
        <>
          <div className="page-head">
            <h1>{e.name || e.id}</h1>
            <StateOf experiment={e} />
            <span className="row end">
              {open ? <Stop stop={(reason) => act(call('POST', `${pathOf(id)}/stop`, reason ? { reason } : {}))} /> : (
                <Confirm label={t('bases.delete')} tone="danger" about={t('exp.delete.about')} act={() => act(call('DELETE', pathOf(id)), () => navigate('/experiments'))} />
              )}
            </span>
            <p>
              {t(`exp.mode.${e.mode}`)} · {t('exp.by', { unit: t(`exp.unit.${e.unit}`), share: `${+(e.traffic * 100).toFixed(2)} %` })} · {shortly(e.start)} – {shortly(e.stopped?.at ?? e.end)}
              {e.knowledge_bases?.length ? ` · ${e.knowledge_bases.join(', ')}` : ''}{e.by ? ` · ${e.by}` : ''}
            </p>
          </div>
          {error ? <Failure error={error} /> : null}
          {e.stopped ? <Notice title={t(e.stopped.by ? 'exp.stopped.by' : 'exp.stopped', { by: e.stopped.by ?? '' })}>{e.stopped.reason ? <p>{e.stopped.reason}</p> : null}</Notice> : null}
          {off ? <EventsOff title={t('exp.off')} /> : null}
          {report.error && !off ? <Failure error={report.error} again={report.again} /> : null}
          {!report.data && !report.error ? <Skeleton rows={3} /> : null}
          <div className="outcome">
            {report.data?.experiment === id ? <Report experiment={e} report={report.data} /> : null}
            {report.data?.experiment === id && report.data.verdict.outcome === 'won' ? <Promote experiment={e} winner={report.data.verdict.winner ?? ''} /> : null}
            <Needs />
          </div>
        </>
      ) : null}
    </div>
  )
}
