import { useText, type Key } from '../lib/i18n'
import { usePath } from '../lib/url'
import { Link } from './link'

const places: [string, Key][] = [['/keys', 'nav.keys'], ['/settings', 'nav.settings'], ['/audit', 'nav.audit']]

/** What whoever operates the gateway looks at: who may, how it is set, what was done. */
export function OperatingTabs() {
  const t = useText()
  const path = usePath()
  return (
    <nav className="tabs" aria-label={t('play.views')}>
      {places.map(([to, name]) => <Link key={to} to={to} className="tab" aria-current={to === path ? 'page' : undefined}>{t(name)}</Link>)}
    </nav>
  )
}
