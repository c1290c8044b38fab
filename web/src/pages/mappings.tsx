import { useState } from 'react'
import type { EngineKnowledgeBase, EngineMappingDiff, EngineMappingPlan, MappingHistory } from '../api/schema'
import { Confirm } from '../components/confirm'
import { Select } from '../components/field'
import { Bodies } from '../components/mappings/bodies'
import { ChangeForm } from '../components/mappings/change-form'
import { Diff } from '../components/mappings/diff'
import { History } from '../components/mappings/history'
import { pathOf } from '../components/mappings/path'
import { MigrationPanel, useStatus } from '../components/migration'
import { Failure, Skeleton } from '../components/notice'
import { Pipeline, planned } from '../components/pipeline'
import { Term } from '../components/term'
import { call } from '../lib/api'
import { hasMapping, useChoices } from '../lib/bases'
import { useText } from '../lib/i18n'
import { useLoad } from '../lib/load'
import { useParams } from '../lib/url'
import '../styles/mappings.css'

export default function MappingsPage() {
  const t = useText()
  const [params, setParams] = useParams()
  const choices = useChoices()
  const bases = (choices.data?.bases ?? []).filter(hasMapping)
  const base = bases.find((b) => b.id === params.get('kb')) ?? bases[0]
  return (
    <div className="page">
      <div className="page-head">
        <h1>{t('map.title')}</h1>
        <p>{t('map.about')}</p>
      </div>
      {choices.error ? <Failure error={choices.error} again={choices.again} /> : null}
      {base ? (
        <>
          <div className="choose">
            <Select label={t('map.base')} value={base.id} choose={(v) => setParams({ kb: v })}
              options={bases.map((b) => ({ value: b.id, label: `${b.name || b.id} · ${b.engine}` }))} />
          </div>
          <Mapping key={base.id} base={base} reload={choices.again} />
        </>
      ) : null}
    </div>
  )
}

/** A knowledge base's index: what runs, what differs, what may be changed. */
function Mapping({ base, reload }: { base: EngineKnowledgeBase; reload: () => void }) {
  const t = useText()
  const kb = base.id
  const diff = useLoad(['mapping diff', kb], (signal) => call<EngineMappingDiff>('POST', pathOf(kb, 'diff'), {}, signal))
  const history = useLoad(['mapping history', kb], (signal) => call<MappingHistory>('GET', pathOf(kb, 'history'), undefined, signal))
  const [plan, setPlan] = useState<EngineMappingPlan>()
  const [error, setError] = useState<Error>()
  const [turn, setTurn] = useState(0)
  const status = useStatus(kb, turn).data
  const changed = () => {
    setTurn((n) => n + 1)
    diff.again()
    history.again()
    reload() // its fields and its model may be others now
  }
  const apply = async () => {
    try {
      await call('POST', pathOf(kb, 'apply'), { plan: plan?.id })
      setPlan(undefined)
      setError(undefined)
    } catch (e) {
      setError(e as Error)
    }
    changed()
  }
  return (
    <div className="mapping">
      <MigrationPanel kb={kb} turn={turn} changed={changed} />
      <section className="part">
        <h2><Term name="mapping">{t('map.diff')}</Term></h2>
        {diff.error ? <Failure error={diff.error} again={diff.again} /> : null}
        {diff.loading && !diff.data ? <Skeleton rows={2} /> : null}
        {diff.data ? <Diff diff={diff.data} /> : null}
      </section>
      <ChangeForm base={base} waits={status?.active ? status.state : undefined} planned={(p) => (setPlan(p), setError(undefined))} failed={setError} />
      {error ? <Failure error={error} /> : null}
      {plan ? (
        <section className="part card padded" aria-label={t('map.plan.title', { id: plan.id })}>
          <h2>{t('map.plan.title', { id: plan.id })}</h2>
          <p className="quiet">{t('map.plan.dry')}</p>
          <Diff diff={plan.diff} />
          <h3 className="label">{t('map.steps')}</h3>
          <Pipeline steps={planned(plan.steps ?? [])} />
          {plan.diff.class === 'none' || plan.diff.class === 'conflict' ? null : (
            <p><Confirm tone="primary" label={t('map.apply')} act={apply}
              about={plan.diff.class === 'in_place' ? t('map.confirm.apply.place') : t('map.confirm.apply', { documents: plan.diff.estimate.documents })} /></p>
          )}
        </section>
      ) : null}
      <Bodies kb={kb} turn={turn} />
      <History history={history.data} />
    </div>
  )
}
