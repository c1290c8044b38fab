import { useState } from 'react'
import type { CatalogDescribed, EngineDrift, EngineDriftReport, EngineIDs } from '../../api/schema'
import { call } from '../../lib/api'
import { enginesOf } from '../../lib/bases'
import { bytes } from '../../lib/format'
import { useText, type Key } from '../../lib/i18n'
import { Confirm } from '../confirm'
import { Failure, Notice } from '../notice'

/** Whether what is stored is sound and the same on all engines, what is kept in memory of it, and how both are put right. */
export function Health({ base, changed }: { base: CatalogDescribed; changed: () => void }) {
  const t = useText()
  const root = `/v1/knowledge-bases/${encodeURIComponent(base.id)}`
  const [report, setReport] = useState<EngineDriftReport>()
  const [busy, setBusy] = useState(false)
  const [said, setSaid] = useState('')
  const [error, setError] = useState<Error>()
  const act = async (work: () => Promise<void>) => {
    setBusy(true)
    setSaid('')
    await work().then(() => setError(undefined), setError)
    setBusy(false)
    changed()
  }
  const check = (repair: boolean) => act(async () => setReport(await call<EngineDriftReport>('POST', `${root}/check`, { repair })))
  const forget = () => act(async () => (await call('POST', `${root}/invalidate`), setSaid(t('kb.caches.dropped'))))
  const cached = enginesOf(base).includes('postgres')
  return (
    <div className="part">
      <section className="card padded part" aria-label={t('kb.check')}>
        <h2>{t('kb.check')}</h2>
        <p className="quiet">{t('kb.check.about')}</p>
        <p className="row">
          <button type="button" className="button" disabled={busy} onClick={() => void check(false)}>{t(busy ? 'app.loading' : 'kb.check.now')}</button>
          {report && !soundOf(report) && !report.repaired ? <Confirm label={t('kb.check.repair')} about={t('kb.check.repair.about', { engine: report.reference })} act={() => check(true)} /> : null}
        </p>
        {error ? <Failure error={error} /> : null}
        {report ? <Report report={report} /> : null}
      </section>
      <section className="card padded part" aria-label={t('kb.caches')}>
        <h2>{t('kb.caches')}</h2>
        <p className="quiet">{t(cached ? 'kb.caches.about' : 'kb.caches.none')}</p>
        {cached ? <p><Confirm label={t('kb.caches.drop')} about={t('kb.caches.drop.about')} act={forget} /></p> : null}
        {said ? <Notice title={said} tone="good" /> : null}
      </section>
      <section className="card padded part" aria-label={t('kb.inside')}>
        <h2>{t('kb.inside')}</h2>
        <Details details={base.details ?? {}} />
      </section>
    </div>
  )
}

const differs = (e: EngineDrift) => e.missing.count + e.extra.count + e.stale.count > 0

function soundOf(r: EngineDriftReport): boolean {
  return !(r.engines ?? []).some(differs) && !(r.integrity ?? []).some((i) => i.damaged.count > 0 || i.index || i.unsealed > 0)
}

function Report({ report }: { report: EngineDriftReport }) {
  const t = useText()
  const sound = soundOf(report)
  return (
    <div role="status" className="part">
      <p><span className={`tag ${sound || report.repaired ? 'good' : 'bad'}`}>{t(report.repaired ? 'kb.check.repaired' : sound ? 'kb.check.sound' : 'kb.check.unsound')}</span> <span className="quiet small">{t('kb.check.chunks', { count: report.chunks.toLocaleString(), engine: report.reference })}</span></p>
      <ul className="part small">
        {(report.integrity ?? []).map((i) => (
          <li key={i.engine}>
            <strong>{i.engine}</strong> {t('kb.check.sealed', { count: i.chunks.toLocaleString() })}
            <Ids label="kb.check.damaged" ids={i.damaged} />
            {i.unsealed > 0 ? <span> · {t('kb.check.unsealed', { count: i.unsealed })}</span> : null}
            {i.restored ? <span> · {t('kb.check.restored', { count: i.restored })}</span> : null}
            {i.index ? <p>{i.index}</p> : null}
          </li>
        ))}
        {(report.engines ?? []).map((e) => (
          <li key={e.engine}>
            <strong>{e.engine}</strong> {differs(e) ? t('kb.check.chunks', { count: e.chunks.toLocaleString(), engine: e.engine }) : t('kb.check.same', { engine: report.reference })}
            <Ids label="kb.check.missing" ids={e.missing} />
            <Ids label="kb.check.extra" ids={e.extra} />
            <Ids label="kb.check.stale" ids={e.stale} />
          </li>
        ))}
      </ul>
    </div>
  )
}

function Ids({ label, ids }: { label: Key; ids: EngineIDs }) {
  const t = useText()
  if (ids.count === 0) return null
  return (
    <details>
      <summary>{t(label, { count: ids.count })}</summary>
      <p className="mono">{(ids.first ?? []).join(', ')}{ids.count > (ids.first ?? []).length ? ' …' : ''}</p>
    </details>
  )
}

/** What the engine tells of itself. */
function Details({ details }: { details: Record<string, unknown> }) {
  return (
    <dl className="facts">
      {Object.entries(details).map(([name, value]) => (
        <div key={name}>
          <dt>{name.replace(/_bytes$/, '').replaceAll('_', ' ')}</dt>
          <dd className="mono">{typeof value === 'number' && name.endsWith('_bytes') ? bytes(value) : typeof value === 'object' ? JSON.stringify(value) : String(value)}</dd>
        </div>
      ))}
    </dl>
  )
}
