import { useState } from 'react'
import type { PresetsDefinition, SearchAnswer, SearchHit } from '../api/schema'
import { api } from '../lib/api'
import { useChoices } from '../lib/bases'
import { documentName } from '../lib/format'
import { useText } from '../lib/i18n'
import { trialOf } from '../lib/presets'
import { Field } from './field'
import { Failure } from './notice'

interface Tried {
  draft: SearchAnswer
  current: SearchAnswer | null
}

/** A question by the draft, beside what is in use where that is another: nothing is saved. */
export function PresetTrial({ draft, current }: { draft: PresetsDefinition; current: string | null }) {
  const t = useText()
  const bases = useChoices().data?.bases.map((b) => b.id) ?? []
  const [tried, setTried] = useState<Tried>()
  const [error, setError] = useState<Error>()
  if (bases.length === 0) return null
  const go = async (query: string) => {
    try {
      const [d, c] = await Promise.all([
        api.search(trialOf(draft, query, bases)),
        current === null ? null : api.search({ query, knowledge_bases: bases, preset: current, limit: 10 } as Parameters<typeof api.search>[0]),
      ])
      setTried({ draft: d, current: c })
      setError(undefined)
    } catch (e) {
      setError(e as Error)
    }
  }
  return (
    <section className="preset-trial">
      <form className="row" onSubmit={(e) => (e.preventDefault(), void go(String(new FormData(e.currentTarget).get('q') ?? '')))}>
        <Field label={t('syn.try')}>{(id) => <input id={id} name="q" className="input" required autoComplete="off" />}</Field>
        <button type="submit" className="button">{t('syn.try.go')}</button>
      </form>
      {error ? <Failure error={error} /> : null}
      {tried ? (
        <div className="sides" aria-live="polite">
          {tried.current ? <Side title={t('syn.try.current')} hits={tried.current.hits ?? []} /> : null}
          <Side title={t('syn.try.draft')} hits={tried.draft.hits ?? []} before={tried.current?.hits ?? undefined} />
        </div>
      ) : null}
    </section>
  )
}

const same = (a: SearchHit, b: SearchHit) => a.id === b.id && a.knowledge_base === b.knowledge_base

/** The first hits; beside others, where each comes from. */
function Side({ title, hits, before }: { title: string; hits: SearchHit[]; before?: SearchHit[] }) {
  const t = useText()
  return (
    <div>
      <h3 className="label">{title}</h3>
      {hits.length === 0 ? <p className="quiet">{t('search.empty')}</p> : (
        <ol>
          {hits.map((hit, at) => {
            const was = before?.findIndex((other) => same(hit, other)) ?? at
            return (
              <li key={`${hit.knowledge_base}/${hit.id}`}>
                <span className="clip">{hit.title || documentName(hit)}</span>
                {was === at ? null : <span className="tag">{was < 0 ? t('presets.try.new') : t('presets.try.was', { rank: was + 1 })}</span>}
              </li>
            )
          })}
        </ol>
      )}
    </div>
  )
}
