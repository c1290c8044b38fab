import { Suspense, useRef, useState } from 'react'
import { enginesOf, type Choices } from '../lib/bases'
import { documentName } from '../lib/format'
import { useLanguage, useText, type Translate } from '../lib/i18n'
import { languageName, languages } from '../lib/languages'
import { later } from '../lib/later'
import type { Params } from '../lib/url'
import { basesOf, pageSizes, partsOf, sizes, withBase, withCurrent, type SearchState } from '../pages/search-state'
import { Balance } from './balance'
import { Select } from './field'
import { Icon } from './icons'
import { PresetAbout } from './preset-about'
import type { SettingsProps } from './settings-props'
import { Term } from './term'

type Props = SettingsProps

const MoreSettings = later(() => import('./more-settings')) // when they are opened

/** What is searched, how, and what is left out; folded away on a small screen. */
export function Settings(props: Props) {
  const t = useText()
  const [open, setOpen] = useState(() => matchMedia('(min-width: 900px)').matches)
  const seen = useRef(new Map<string, string>()) // names of documents: a filter may outlive the answer that had them
  for (const d of props.answer?.documents ?? []) if (d.document_name) seen.current.set(d.document_id, documentName(d))
  return (
    <aside className="settings" aria-label={t('search.settings')}>
      <button type="button" className="button fold" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name="filter" />
        {t('search.settings')}
        <Icon name="chevron" />
      </button>
      {open ? (
        <div className="panels">
          <How {...props} />
          <Active {...props} names={seen.current} />
          <Documents {...props} />
          <Facets {...props} />
        </div>
      ) : null}
    </aside>
  )
}

function How({ state, choices, answer, change }: Props) {
  const { t, language } = useLanguage()
  const engines = [...new Set(choices.bases.flatMap(enginesOf))]
  const bases = basesOf(state, choices)
  return (
    <section>
      <h2 className="label">{t('search.settings.about')}</h2>
      {choices.bases.length > 1 ? (
        <fieldset>
          <legend>{t('search.bases')}</legend>
          {choices.bases.map((b) => (
            <label className="check" key={b.id}>
              <input
                type="checkbox"
                checked={bases.includes(b.id)}
                disabled={state.engine !== '' && !enginesOf(b).includes(state.engine)}
                onChange={(e) => change({ kb: withBase(b.id, e.target.checked, state, choices) })}
              />
              <span className="clip">{b.name || b.id}</span>
              <span className="quiet end clip">{enginesOf(b).join(' + ')}</span>
            </label>
          ))}
        </fieldset>
      ) : null}
      <Select label={<Term name="preset">{t('search.preset')}</Term>} value={state.preset} choose={(preset) => change({ preset, w: null })}
        options={presetOptions(choices, t)} hint={<PresetAbout preset={state.preset} choices={choices} />} />
      {engines.length > 1 ? (
        <Select label={<Term name="engine">{t('search.engine')}</Term>} value={state.engine} choose={(engine) => change({ engine, kb: [] })}
          options={[{ value: '', label: t('search.engine.any') }, ...engines.map((e) => ({ value: e, label: e }))]} />
      ) : null}
      <Balance state={state} choices={choices} answer={answer} change={change} />
      <Select label={<Term name="language">{t('search.language')}</Term>} value={state.language} choose={(language) => change({ language: language || null })}
        options={[
          { value: '', label: t('search.language.told') },
          ...withCurrent(languages, state.language || 'en').map((l) => ({ value: l, label: languageName(l, language) })),
        ]} />
      <div className="pair">
        <Select label={<Term name="top_k">{t('search.size')}</Term>} value={String(state.size)} choose={(n) => change({ size: n === '50' ? null : n })}
          options={withCurrent(sizes, state.size).map((n) => ({ value: String(n), label: t('search.size.hits', { count: n }) }))} />
        <Select label={t('search.per')} value={String(state.per)} choose={(n) => change({ per: n === '10' ? null : n })}
          options={withCurrent(pageSizes, state.per).map((n) => ({ value: String(n), label: String(n) }))} />
      </div>
      <More state={state} choices={choices} answer={answer} change={change} />
    </section>
  )
}

/** Whether any of the further settings is in force: then they are open. */
const isInForce = (s: SearchState, choices: Choices) =>
  s.diversity !== null || s.recent !== '' || s.popular !== '' || s.favoured !== null || s.reranker !== '' ||
  s.sections || s.rewritten || partsOf(s, choices).some((p) => s.boosts[p])

function More(props: Props) {
  const t = useText()
  const [open, setOpen] = useState(() => isInForce(props.state, props.choices))
  return (
    <details className="more" open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>{t('search.more')}</summary>
      {open ? <Suspense fallback={null}><MoreSettings {...props} /></Suspense> : null}
    </details>
  )
}

/** The presets to choose from, the default first and as the empty value. */
export function presetOptions(choices: Choices, t: Translate) {
  return [
    { value: '', label: t('search.preset.default', { preset: choices.standard }) },
    ...choices.presets.filter((p) => p !== choices.standard).map((p) => ({ value: p, label: p })),
  ]
}

/** The filters in force, each with a way out. */
function Active({ state, change, names }: Props & { names: Map<string, string> }) {
  const t = useText()
  const active: { key: string; name: string; remove: Params }[] = [
    ...state.documents.map((d) => ({ key: d, name: names.get(d) ?? d, remove: { doc: state.documents.filter((x) => x !== d) } })),
    ...state.filters.flatMap(([field, values]) =>
      values.map((v) => ({ key: `${field}: ${v}`, name: `${field}: ${v}`, remove: { [`f.${field}`]: values.filter((x) => x !== v) } })),
    ),
  ]
  if (active.length === 0) return null
  const all = Object.fromEntries([['doc', null], ...state.filters.map(([f]) => [`f.${f}`, null])]) as Params
  return (
    <section>
      <h2 className="label">{t('search.filters')}</h2>
      <div className="chips">
        {active.map((a) => (
          <button key={a.key} type="button" className="chip on" aria-label={t('search.filters.remove', { name: a.name })} onClick={() => change(a.remove)}>
            <span className="clip">{a.name}</span>
            <Icon name="close" />
          </button>
        ))}
      </div>
      <button type="button" className="linkish small" onClick={() => change(all)}>{t('search.filters.clear')}</button>
    </section>
  )
}

interface Count {
  value: string
  name: string
  count: number
}

/** The counts, and the chosen values that other filters leave nothing of. */
function withChosen(counts: Count[], chosen: string[]): Count[] {
  const counted = new Set(counts.map((c) => c.value))
  return [...counts, ...chosen.filter((v) => !counted.has(v)).map((v) => ({ value: v, name: v, count: 0 }))]
}

/** Values with their counts; choosing some filters by them. A chosen one always shows, in its place. */
function Counts({ counts, chosen, choose }: { counts: Count[]; chosen: string[]; choose: (values: string[]) => void }) {
  const t = useText()
  const [all, setAll] = useState(false)
  const most = Math.max(...counts.map((c) => c.count), 1)
  const shown = counts.filter((c, i) => i < (all ? 200 : 6) || chosen.includes(c.value))
  return (
    <>
      <div className="counts">
        {shown.map((c) => (
          <label className="check" key={c.value}>
            <input
              type="checkbox"
              checked={chosen.includes(c.value)}
              onChange={(e) => choose(e.target.checked ? [...chosen, c.value] : chosen.filter((v) => v !== c.value))}
            />
            <span className="clip" title={c.value}>{c.name}</span>
            <span className="meter" aria-hidden="true"><span style={{ width: `${(c.count / most) * 100}%` }} /></span>
            <span className="quiet end">{c.count}</span>
          </label>
        ))}
      </div>
      {shown.length < counts.length && !all ? (
        <button type="button" className="linkish small" onClick={() => setAll(true)}>{t('search.documents.all', { count: counts.length })}</button>
      ) : null}
    </>
  )
}

function Documents({ state, answer, change }: Props) {
  const t = useText()
  if (!answer) return null
  const counted = (answer.documents ?? []).map((d) => ({ value: d.document_id, name: documentName(d), count: d.count }))
  const counts = withChosen(counted, state.documents)
  if (counts.length === 0) return null
  return (
    <section>
      <h2 className="label">{t('search.documents')}</h2>
      <Counts counts={counts} chosen={state.documents} choose={(doc) => change({ doc })} />
    </section>
  )
}

/** Counts of metadata values. The fields on offer are those that the hits have. */
function Facets({ state, answer, change }: Props) {
  const t = useText()
  const seen = new Set((answer?.hits ?? []).flatMap((h) => Object.keys(h.metadata)))
  const offered = [...seen].filter((f) => !state.facets.includes(f) && f !== 'source_hash').slice(0, 8)
  if (offered.length + state.facets.length === 0) return null
  return (
    <section>
      {state.facets.map((field) => {
        const chosen = state.filters.find(([f]) => f === field)?.[1] ?? []
        const counted = (answer?.facets?.[field] ?? []).map((v) => ({ value: v.value, name: v.value, count: v.count }))
        const values = answer ? withChosen(counted, chosen) : []
        return (
          <div key={field} className="facet">
            <h2 className="label">
              {field}
              <button type="button" className="tool" aria-label={t('search.facet.remove', { field })}
                onClick={() => change({ facet: state.facets.filter((f) => f !== field), [`f.${field}`]: null })}>
                <Icon name="close" />
              </button>
            </h2>
            {answer && values.length === 0 ? <p className="quiet small">{t('search.facet.none')}</p> : null}
            <Counts counts={values} chosen={chosen} choose={(v) => change({ [`f.${field}`]: v })} />
          </div>
        )
      })}
      {offered.length > 0 ? (
        <>
          <h2 className="label"><Term name="facets">{t('search.facet.add')}</Term></h2>
          <div className="chips">
            {offered.map((field) => (
              <button key={field} type="button" className="chip" onClick={() => change({ facet: [...state.facets, field] })}>
                <Icon name="plus" />
                {field}
              </button>
            ))}
          </div>
        </>
      ) : null}
    </section>
  )
}
