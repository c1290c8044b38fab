import type { CatalogDescribed, SearchAnswer, SearchRequest } from '../../api/schema'
import { api } from '../../lib/api'
import { enginesOf } from '../../lib/bases'
import { bytes } from '../../lib/format'
import { useLanguage, type Key } from '../../lib/i18n'
import { languageName, localeOf } from '../../lib/languages'
import { useLoad } from '../../lib/load'

/** The languages that the chunks of a knowledge base are in, the commonest first, as far as they tell. */
function useLanguages(id: string, turn: number) {
  return useLoad<SearchAnswer>(['languages of', id, turn], (signal) => {
    const request = { query: '', everything: true, knowledge_bases: [id], facets: ['language'], top_k: 1, experiments: false, highlight: { fragments: 0 } }
    return api.search(request as SearchRequest, signal)
  })
}

export function stateOf(b: CatalogDescribed, away: boolean): [Key, string] {
  if (away) return ['bases.state.away', 'bad']
  if (b.attach) return ['bases.state.attached', '']
  if (b.chunks === 0) return ['bases.state.empty', '']
  if (b.dimensions === 0) return b.keyword_only ? ['bases.state.words', 'good'] : ['bases.state.before', 'warn']
  return b.vectors < b.chunks ? ['bases.state.partial', 'warn'] : ['bases.state.ready', 'good']
}

/** What a knowledge base is and holds. */
export function Head({ base: b, turn }: { base: CatalogDescribed; turn: number }) {
  const { t, language } = useLanguage()
  const found = useLanguages(b.id, turn).data?.facets?.language ?? []
  const spoken = found.slice(0, 4).map((f) => languageName(String(f.value), language)).join(', ')
  const vectors = b.dimensions === 0 ? t('bases.state.words') : `${b.embedding_model || '–'} · ${b.dimensions}`
  const facts: [Key, string][] = [
    ['bases.documents', b.documents.toLocaleString()],
    ['bases.chunks', b.chunks.toLocaleString()],
    ['bases.vectors', b.vectors.toLocaleString()],
    ['bases.size', bytes(b.bytes)],
  ]
  return (
    <>
      <dl className="figures card padded kb-figures">
        {facts.map(([label, value]) => <div key={label}><dt>{t(label)}</dt><dd>{value}</dd></div>)}
      </dl>
      <dl className="facts kb-facts">
        <div><dt>{t('bases.engine')}</dt><dd>{enginesOf(b).join(' + ')}</dd></div>
        <div><dt>{t('bases.model')}</dt><dd>{vectors}</dd></div>
        {spoken ? <div><dt>{t('kb.languages')}</dt><dd>{spoken}{found.length > 4 ? ' …' : ''}</dd></div> : null}
        <div><dt>{t('bases.analyzer')}</dt><dd>{b.analyzer}</dd></div>
        {b.created_at ? <div><dt>{t('kb.made')}</dt><dd>{new Date(b.created_at).toLocaleString(localeOf(language), { dateStyle: 'medium', timeStyle: 'short' })}</dd></div> : null}
      </dl>
    </>
  )
}
