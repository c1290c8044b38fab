import type { SearchAnalyzeAnswer, SearchAnswer, SearchHit, SearchRequest } from '../api/schema'
import { api } from '../lib/api'
import { chance, number } from '../lib/format'
import { useText, type Translate } from '../lib/i18n'
import { useLoad } from '../lib/load'
import { Modal } from './base-dialogs'
import { Series, type Ranked } from './charts/series'
import { Words } from './charts/words'
import { Failure, Skeleton } from './notice'

/** How many candidates are shown: the most that an answer has on one page. */
const depth = 100

/** The same question from its first hit on. It takes part in no experiment, as nobody clicks on its hits. */
function asWhole({ facets: _, facet_mode: __, did_you_mean: ___, offset: ____, ...request }: SearchRequest): SearchRequest {
  return { ...request, limit: depth, highlight: { fragments: 0 }, explain: true, experiments: false }
}

interface Both {
  cut: SearchAnswer // as it was asked for
  all: SearchAnswer // without thresholds, and longer
}

async function both(request: SearchRequest, signal: AbortSignal): Promise<Both> {
  const whole = asWhole(request)
  const [cut, all] = await Promise.all([
    api.search(whole, signal), api.search({ ...whole, top_k: depth, threshold: { score: 0, relevance: 0, answerable: 0 } }, signal),
  ])
  return { cut, all }
}

/** The numbers behind an answer as pictures: how scores fall and where they are cut, and what words weigh. */
export default function Numbers({ request, close }: { request: SearchRequest; close: () => void }) {
  const t = useText()
  const answers = useLoad(['uncut', request], (signal) => both(request, signal))
  const words = useLoad(['analyzed', request], (signal) => api.analyze(asWhole(request), signal))
  const error = answers.error ?? words.error
  return (
    <Modal title={t('numbers.title')} open close={close} wide>
      {error ? <Failure error={error} again={() => [answers, words].forEach((of) => of.again())} /> : null}
      {!error && !(answers.data && words.data) ? <Skeleton rows={2} /> : null}
      {answers.data ? <Curves {...answers.data} /> : null}
      {words.data ? <Weights said={words.data} /> : null}
      <p className="row end"><button type="button" className="button" onClick={close}>{t('app.close')}</button></p>
    </Modal>
  )
}

const keyOf = (h: SearchHit) => `${h.knowledge_base}/${h.id}`

function Curves({ cut, all }: Both) {
  const t = useText()
  const hits = all.hits ?? []
  if (hits.length === 0) return <p className="quiet">{t('numbers.none')}</p>
  const plan = cut.explain?.plan
  const least = typeof plan?.threshold === 'object' ? plan.threshold : {}
  const answered = new Set((cut.hits ?? []).map(keyOf))
  const kept = hits.map((h) => answered.has(keyOf(h)))
  const placesOf = (of: (i: number) => number | null): Ranked[] => hits.flatMap((h, i) => {
    const value = of(i)
    return value === null ? [] : [{ id: keyOf(h), rank: i + 1, value, kept: kept[i]! }]
  })
  const count = kept.filter(Boolean).length
  const refused = count === 0 && cut.answerable !== null && cut.answerable < (least.answerable ?? 0)
  const about = refused ? t('numbers.refused', { count: hits.length, answerable: chance(cut.answerable!), least: chance(least.answerable!) })
    : t('numbers.about', { kept: count, count: hits.length })
  const ends = plan && count >= plan.top_k && count < hits.length ? { rank: kept.lastIndexOf(true) + 1, name: 'top_k' } : undefined
  const table = (
    <>
      <thead>
        <tr><th scope="col" className="num">{t('hit.rank')}</th><th scope="col">{t('hit.id')}</th><th scope="col" className="num">{t('hit.score')}</th><th scope="col" className="num">{t('hit.relevance')}</th><th scope="col">{t('numbers.kept')}</th></tr>
      </thead>
      <tbody>
        {hits.map((h, i) => (
          <tr key={keyOf(h)}>
            <td className="num">{i + 1}</td><th scope="row" className="mono">{h.id}</th><td className="num">{h.score.toFixed(3)}</td><td className="num">{number(h.relevance, 3)}</td><td>{t(kept[i] ? 'numbers.in' : 'numbers.cut')}</td>
          </tr>
        ))}
      </tbody>
    </>
  )
  const relevance = placesOf((i) => hits[i]!.relevance)
  return (
    <>
      <p className="quiet small">{about}</p>
      <Series title={t('numbers.scores')} about={`${t('numbers.scores')}: ${about}`} axes={[t('hit.rank'), t('hit.score')]} places={placesOf((i) => hits[i]!.score)} table={table} last={ends}
        least={lineOf(least.score, t)} />
      {relevance.length > 0 ? (
        <Series title={t('numbers.relevance')} about={`${t('numbers.relevance')}: ${about}`} axes={[t('hit.rank'), t('hit.relevance')]} places={relevance} table={table} last={ends}
          least={lineOf(least.relevance, t)} />
      ) : null}
    </>
  )
}

const lineOf = (value: number | undefined, t: Translate) => (value ? { value, name: t('numbers.least', { value }) } : undefined)

function Weights({ said }: { said: SearchAnalyzeAnswer }) {
  const t = useText()
  const words = [...new Map((said.tokens ?? []).map((w) => [w.text, w])).values()]
  if (words.length === 0) return <p className="quiet">{t('search.read.none')}</p>
  return (
    <Words title={t('numbers.words')} about={t('numbers.words.about', { count: words.length })} axes={[t('numbers.chunks'), t('numbers.counts')]}
      words={words.map((w) => ({ text: w.text, chunks: w.df, weight: w.weight * w.idf }))} table={
        <>
          <thead><tr><th scope="col">{t('numbers.word')}</th><th scope="col" className="num">{t('numbers.chunks')}</th><th scope="col" className="num">{t('hit.weight')}</th><th scope="col" className="num">idf</th><th scope="col" className="num">{t('numbers.counts')}</th></tr></thead>
          <tbody>
            {words.map((w) => <tr key={w.text}><th scope="row">{w.text}{w.stop ? <span className="tag"> {t('numbers.stop')}</span> : null}</th><td className="num">{w.df.toLocaleString()}</td><td className="num">{w.weight.toFixed(3)}</td><td className="num">{w.idf.toFixed(3)}</td><td className="num">{(w.weight * w.idf).toFixed(3)}</td></tr>)}
          </tbody>
        </>
      } />
  )
}
