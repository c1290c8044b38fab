import type { TextqueryQuery } from '../api/schema'
import { useText } from '../lib/i18n'

/** The words that the keyword leg looks for, each as tall as its weight, with its synonyms. */
export function QueryTerms({ query }: { query: TextqueryQuery }) {
  const t = useText()
  const terms = query.terms ?? []
  if (terms.length === 0) return <p className="quiet">{t('search.read.none')}</p>
  const most = Math.max(...terms.map((term) => term.weight), 1e-9)
  return (
    <ul className="terms" aria-label={t('search.read')}>
      {terms.map((term, i) => (
        <li key={`${term.text}-${i}`} title={t('search.read.term', { term: term.text, weight: term.weight.toFixed(2) })}>
          <span className="level" aria-hidden="true">
            <span style={{ height: `${(term.weight / most) * 100}%` }} />
          </span>
          <span className="word">{term.text}</span>
          <span className="weight">{term.weight.toFixed(2)}</span>
          {(term.synonyms ?? []).map((s, j) => (
            <span key={j} className="synonym">
              ≈ {(s.terms ?? []).join(' ')} <span className="weight">{(s.weight ?? 1).toFixed(2)}</span>
            </span>
          ))}
        </li>
      ))}
    </ul>
  )
}
