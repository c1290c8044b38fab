import type { ExperimentsReport, LiveExperiment } from '../../api/schema'
import { chanceOf } from '../../lib/format'
import { useText } from '../../lib/i18n'
import { Notice } from '../notice'
import { Course } from './course'
import { DifferenceTable } from './differences'
import { GuardTable } from './guard-table'
import { PreferenceBar } from './preference'
import { VariantTable } from './variant-table'

interface Props {
  experiment: LiveExperiment
  report: ExperimentsReport
}

const tones = { won: 'good', open: 'warning', stopped: 'warning', invalid: 'error' } as const

/** What is known so far, the verdict first. All of it may be looked at any time. */
export function Report({ experiment: e, report: r }: Props) {
  const t = useText()
  const units = (r.variants ?? []).reduce((sum, v) => sum + v.units, 0)
  const searches = (r.variants ?? []).reduce((sum, v) => sum + v.searches, 0)
  const title = t(`exp.verdict.${r.verdict.outcome}`, { winner: r.verdict.winner ?? '' })
  return (
    <>
      {r.verdict.outcome === 'open' ? (
        <div className="notice open" role="status"><div><strong>{title}</strong><p>{r.verdict.reason}</p></div></div>
      ) : (
        <Notice title={title} tone={tones[r.verdict.outcome]}><p>{r.verdict.reason}</p></Notice>
      )}
      <p className="quiet small">
        {t(`exp.report.${e.unit}`, { units: units.toLocaleString(), searches: searches.toLocaleString(), when: new Date(r.at).toLocaleTimeString() })}
        {r.sample_ratio && !r.sample_ratio.alarm && units > 0 ? ` ${t('exp.ratio.good', { p: chanceOf(r.sample_ratio.p) })}` : ''}
      </p>
      {r.preference ? <PreferenceBar preference={r.preference} /> : null}
      {r.differences?.length ? <DifferenceTable experiment={e} differences={r.differences} /> : null}
      {r.curves?.length ? <Course experiment={e} curves={r.curves} /> : null}
      <VariantTable experiment={e} variants={r.variants ?? []} />
      {r.guard_rails?.length ? <GuardTable rails={r.guard_rails} /> : null}
    </>
  )
}
