import type { ReactNode } from 'react'
import { useChoices, type Choices } from '../lib/bases'
import { guideAt, useLanguage, useText, type Translate } from '../lib/i18n'
import { merged, useParams, usePath } from '../lib/url'
import type { PageEntry } from '../routes'
import { Link } from './link'
import { Skeleton } from './notice'

/** What keeps a page from being shown, and why. */
interface Obstacle {
  title: string
  about?: string
}

/**
 * Shows a page when the knowledge bases that its address names are there and
 * are of its kind; otherwise what there is, so that no page ever takes one for another.
 */
export function NeedsBases({ page, children }: { page: PageEntry; children: ReactNode }) {
  const t = useText()
  const choices = useChoices()
  const [params] = useParams()
  if (!choices.data) return children
  const named = params.getAll(page.names ?? 'kb').filter(Boolean)
  const obstacle = obstacleOf(page, named, choices.data, t)
  if (!obstacle) return children
  return (
    <div className="page">
      <div className="page-head"><h1>{t(page.name)}</h1></div>
      {choices.loading ? <Skeleton rows={2} /> : (
        <div className="blank" role="status">
          <h2>{obstacle.title}</h2>
          {obstacle.about ? <p>{obstacle.about}</p> : null}
          <Offers page={page} choices={choices.data} />
          {named.length > 0 ? <button type="button" className="linkish" onClick={choices.again}>{t('base.again')}</button> : null}
        </div>
      )}
    </div>
  )
}

const suits = (page: PageEntry, choices: Choices) => choices.bases.filter(page.suits ?? (() => true))

function obstacleOf(page: PageEntry, named: string[], choices: Choices, t: Translate): Obstacle | null {
  const unknown = named.filter((id) => !choices.bases.some((b) => b.id === id))
  const suited = suits(page, choices)
  const unsuited = named.filter((id) => !suited.some((b) => b.id === id))
  const names = (ids: string[]) => ids.map((id) => `“${id}”`).join(', ')
  if (unknown.length > 0) return { title: t('base.unknown', { names: names(unknown) }), about: t('base.unknown.about') }
  if (!page.without) return null
  if (unsuited.length > 0) return { title: t('base.unsuited', { names: names(unsuited) }), about: suited.length > 0 ? t(page.without) : undefined }
  return suited.length > 0 ? null : { title: t(choices.bases.length > 0 ? 'base.none.suited' : 'base.none') }
}

/** Ways on: the same address with another knowledge base, or to where one is made. */
function Offers({ page, choices }: { page: PageEntry; choices: Choices }) {
  const { t, language } = useLanguage()
  const path = usePath()
  const [params] = useParams()
  const to = (id: string | null) => path + merged(`?${params}`, { [page.names ?? 'kb']: id })
  const suited = suits(page, choices)
  if (suited.length === 0 && page.without) {
    return (
      <>
        <p>{t(page.without)}</p>
        <p><Link to="/knowledge-bases?create=1" className="button primary">{t('search.nobase.go')}</Link></p>
        <p><a href={guideAt(language)}>{t('app.guide')}</a></p>
      </>
    )
  }
  return (
    <ul className="row center" aria-label={t('base.offers')}>
      {page.all ? <li><Link to={to(null)} className="button">{t(page.all)}</Link></li> : null}
      {suited.map((b) => <li key={b.id}><Link to={to(b.id)} className="button">{b.name || b.id}</Link></li>)}
    </ul>
  )
}
