import { useText } from '../lib/i18n'
import { boosts, diversities, halfLives, partsOf, single, withCurrent } from '../pages/search-state'
import { Select } from './field'
import type { SettingsProps } from './settings-props'
import { Term } from './term'

const isDate = (v: unknown) => typeof v === 'string' && /^\d{4}-\d{2}(-\d{2})?/.test(v)

/** What chunks may be told apart by: a short text, or yes and no. */
const isKind = (v: unknown) => typeof v === 'boolean' || (typeof v === 'string' && v !== '' && v.length <= 40 && !isDate(v))

/** The number in the middle of those that the hits have: half of them count less than half. */
function middle(known: [string, unknown][], field: string) {
  const all = known.filter(([f, v]) => f === field && typeof v === 'number' && v > 0).map(([, v]) => v as number).sort((a, b) => a - b)
  return all[Math.floor(all.length / 2)] ?? 1
}

/** What changes the order beside words and vectors, and what comes along. */
export default function MoreSettings({ state, choices, answer, change }: SettingsProps) {
  const t = useText()
  const known = (answer?.hits ?? []).flatMap((h) => Object.entries(h.metadata))
  const dated = new Set(known.filter(([, v]) => isDate(v)).map(([field]) => field))
  if (state.recent) dated.add(state.recent)
  const numbers = new Set(known.filter(([, v]) => typeof v === 'number' && v > 0).map(([field]) => field))
  if (state.popular) numbers.add(state.popular)
  const values = new Set(known.filter(([, v]) => isKind(v)).map(([field, v]) => `${field}=${v}`).slice(0, 200))
  const favoured = state.favoured?.join('=') ?? ''
  if (favoured) values.add(favoured)
  const joint = !single.includes(state.preset)
  const offered = partsOf(state, choices)
  const lives = withCurrent(halfLives, state.halfLife).map((l) => ({ value: l, label: t('search.more.half', { days: Number.parseInt(l, 10) }) }))
  return (
    <div className="panel">
      <Select label={<Term name="diversity">{t('search.more.diversity')}</Term>} value={state.diversity === null ? '' : String(state.diversity)} choose={(diversity) => change({ diversity: diversity || null })}
        options={[
          { value: '', label: t('search.more.own') },
          ...diversities.concat(state.diversity === null || diversities.includes(state.diversity) ? [] : [state.diversity])
            .map((d) => ({ value: String(d), label: d === 0 ? t('search.more.diversity.none') : t('search.more.diversity.by', { n: d }) })),
        ]} />
      {offered.map((p) => (
        <Select key={p} label={<Term name="parts">{t('search.more.boost', { part: t(`search.part.${p}`) })}</Term>} value={String(state.boosts[p] ?? '')}
          choose={(by) => change({ [`b.${p}`]: by || null })}
          options={[{ value: '', label: t('search.more.boost.own') }, ...withCurrent(boosts, state.boosts[p] ?? 1).map((n) => ({ value: String(n), label: `×${n}` }))]} />
      ))}
      {dated.size > 0 && joint ? (
        <div className="pair">
          <Select label={<Term name="signal">{t('search.more.recent')}</Term>} value={state.recent} choose={(recent) => change({ recent: recent || null, ...(recent ? {} : { half: null }) })}
            options={[{ value: '', label: t('search.more.own') }, ...[...dated].map((f) => ({ value: f, label: f }))]} />
          {state.recent ? (
            <Select label={t('search.more.half.label')} value={state.halfLife} choose={(half) => change({ half: half === '365d' ? null : half })} options={lives} />
          ) : null}
        </div>
      ) : null}
      {numbers.size > 0 && joint ? (
        <Select label={t('search.more.popular')} value={state.popular}
          choose={(popular) => change({ popular: popular || null, pivot: popular ? String(middle(known, popular)) : null })}
          options={[{ value: '', label: t('search.more.own') }, ...[...numbers].map((f) => ({ value: f, label: f }))]} />
      ) : null}
      {values.size > 0 && joint ? (
        <Select label={t('search.more.favoured')} value={favoured} choose={(v) => change({ favoured: v || null })}
          options={[{ value: '', label: t('search.more.own') }, ...[...values].sort().map((v) => ({ value: v, label: v.replace('=', ': ') }))]} />
      ) : null}
      {choices.rerankers.length > 0 ? (
        <Select label={<Term name="rerank">{t('search.more.rerank')}</Term>} value={state.reranker} choose={(rerank) => change({ rerank: rerank || null })}
          options={[{ value: '', label: t('search.more.own') }, ...choices.rerankers.map((r) => ({ value: r, label: r }))]} />
      ) : null}
      <label className="check">
        <input type="checkbox" checked={state.sections} onChange={(e) => change({ sections: e.target.checked ? '1' : null })} />
        {t('search.more.sections')}
      </label>
      {choices.rewrites ? (
        <label className="check">
          <input type="checkbox" checked={state.rewritten} onChange={(e) => change({ rewrite: e.target.checked ? '1' : null })} />
          {t('search.more.rewrite')}
        </label>
      ) : null}
    </div>
  )
}

