import { useText } from '../../lib/i18n'
import { Link } from '../link'

export const views = ['evaluations', 'questions', 'tunings'] as const
/** Those with a page of their own. */
const pages = ['analytics', 'experiments'] as const
export type View = (typeof views)[number] | (typeof pages)[number]

/** The parts of Evaluate, of which some are pages of their own. */
export function Tabs({ at }: { at: View }) {
  const t = useText()
  return (
    <nav className="tabs" aria-label={t('play.views')}>
      {[...views, ...pages].map((v) => (
        <Link key={v} to={pages.some((p) => p === v) ? `/${v}` : `/evaluate?view=${v}`} className="tab" aria-current={v === at ? 'page' : undefined}>
          {t(`eval.view.${v}`)}
        </Link>
      ))}
    </nav>
  )
}
