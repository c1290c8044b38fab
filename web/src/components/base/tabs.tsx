import { useText } from '../../lib/i18n'
import { Link } from '../link'

export const views = ['documents', 'jobs', 'health', 'export'] as const
export type View = (typeof views)[number]

/** Where a knowledge base is shown. */
export const baseAt = (id: string, view: View = 'documents') =>
  `/knowledge-bases/${encodeURIComponent(id)}${view === 'documents' ? '' : `?view=${view}`}`

/** What there is to see of a knowledge base. */
export function Tabs({ id, at }: { id: string; at: View }) {
  const t = useText()
  return (
    <nav className="tabs" aria-label={t('play.views')}>
      {views.map((v) => (
        <Link key={v} to={baseAt(id, v)} className="tab" aria-current={v === at ? 'page' : undefined}>{t(`kb.view.${v}`)}</Link>
      ))}
    </nav>
  )
}
