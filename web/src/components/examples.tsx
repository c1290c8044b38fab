import type { SearchRequest } from '../api/schema'
import { api } from '../lib/api'
import type { Choices } from '../lib/bases'
import { useText } from '../lib/i18n'
import { useLoad } from '../lib/load'

/** Questions that the documents of the demo answer. */
const ofDemo = ['如何调整关键词和向量的权重', 'how are scores fused', '"knowledge base" -tenant']
const isDemo = (id: string) => id === 'docs'

/** What the first chunks of a knowledge base are about, in their own words: those of a search without a question. */
async function subjectsOf(kb: string, signal: AbortSignal): Promise<string[]> {
  const { hits } = await api.search({ query: '', everything: true, knowledge_bases: [kb], top_k: 50 } as SearchRequest, signal)
  const named = (hits ?? []).map((c) => c.question || c.title || '').filter((text) => text !== '' && text.length <= 60)
  return [...new Set(named)].slice(0, 3)
}

/** Questions to begin with, of what there is to search. */
export function Examples({ choices, ask }: { choices: Choices; ask: (q: string) => void }) {
  const t = useText()
  const [first] = choices.bases
  const demo = choices.bases.some((b) => isDemo(b.id))
  const subjects = useLoad(first && !demo ? ['examples', first.id] : null, (signal) => subjectsOf(first!.id, signal))
  const offered = demo ? ofDemo : subjects.data ?? []
  if (offered.length === 0) return null
  return (
    <p className="row examples">
      <span className="quiet">{t('search.start.try')}</span>
      {offered.map((q) => <button key={q} type="button" className="chip" onClick={() => ask(q)}>{q}</button>)}
    </p>
  )
}
