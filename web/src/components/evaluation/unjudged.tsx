import type { RunsEvaluation, UnjudgedHits } from '../../api/schema'
import { call } from '../../lib/api'
import { useText } from '../../lib/i18n'
import { useLoad } from '../../lib/load'
import { Link } from '../link'
import { Failure } from '../notice'

const most = 1000

/** Hits that count as not relevant because nobody has judged them, and the way to judge them. */
export function Unjudged({ evaluation: e }: { evaluation: RunsEvaluation }) {
  const t = useText()
  const found = useLoad(['unjudged', e.id], (signal) => call<UnjudgedHits>('GET', `/v1/evaluations/${e.id}/unjudged?depth=10&limit=${most}`, undefined, signal))
  if (found.error) return <Failure error={found.error} again={found.again} />
  if (!found.data) return null
  const hits = found.data.unjudged
  if (hits.length === 0) return <p className="quiet">{t('eval.unjudged.none')}</p>
  const questions = new Set(hits.map((h) => h.query)).size
  return (
    <section className="card padded row between">
      <p>
        <strong>{t('eval.unjudged', { count: hits.length === most ? `${most}+` : hits.length, questions })}</strong>{' '}
        <span className="quiet">{t('eval.unjudged.about')}</span>
      </p>
      <Link to={`/judge/${e.judgments}?evaluation=${e.id}`} className="button">{t('eval.unjudged.judge')}</Link>
    </section>
  )
}
