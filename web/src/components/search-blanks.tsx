import type { SearchAnswer } from '../api/schema'
import type { Choices } from '../lib/bases'
import { useText } from '../lib/i18n'
import { Examples } from './examples'
import { Link } from './link'

export function NoBase() {
  const t = useText()
  return (
    <div className="blank">
      <h2>{t('base.none')}</h2>
      <p>{t('search.nobase.about')}</p>
      <p><Link to="/knowledge-bases?create=1" className="button primary">{t('search.nobase.go')}</Link></p>
    </div>
  )
}

export function Start({ choices, ask }: { choices: Choices; ask: (q: string) => void }) {
  const t = useText()
  return (
    <div className="blank">
      <h2>{t('search.start')}</h2>
      <p>{t('search.start.about')}</p>
      <Examples choices={choices} ask={ask} />
    </div>
  )
}

export function NoneChosen({ all }: { all: () => void }) {
  const t = useText()
  return (
    <div className="blank">
      <h2>{t('search.bases.none')}</h2>
      <p>{t('search.bases.none.about')}</p>
      <p>
        <button type="button" className="button" onClick={all}>{t('search.bases.all')}</button>
      </p>
    </div>
  )
}

/** An address can ask for a page that this answer does not have. */
export function Beyond({ page, pages, last }: { page: number; pages: number; last: () => void }) {
  const t = useText()
  return (
    <div className="blank">
      <h2>{t('search.beyond', { page })}</h2>
      <p>{t('search.beyond.about', { pages })}</p>
      <p>
        <button type="button" className="button" onClick={last}>{t('search.beyond.go', { pages })}</button>
      </p>
    </div>
  )
}

/** There are hits, and none of them answers the question. */
export function NothingRelevant({ nearest }: { nearest: () => void }) {
  const t = useText()
  return (
    <div className="blank">
      <h2>{t('search.irrelevant')}</h2>
      <p>{t('search.irrelevant.about')}</p>
      <p>
        <button type="button" className="button" onClick={nearest}>{t('search.irrelevant.show')}</button>
      </p>
    </div>
  )
}

export function Empty({ answer, filtered }: { answer: SearchAnswer; filtered: boolean }) {
  const t = useText()
  return (
    <div className="blank">
      <h2>{t('search.empty')}</h2>
      {answer.empty_reason ? <p>{t('search.empty.reason', { reason: answer.empty_reason })}</p> : null}
      <ul>
        {filtered ? <li>{t('search.empty.filters')}</li> : null}
        <li>{t('search.empty.words')}</li>
        {answer.preset === 'balanced' ? null : <li>{t('search.empty.preset')}</li>}
      </ul>
    </div>
  )
}
