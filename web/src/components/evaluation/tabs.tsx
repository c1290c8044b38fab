import { useText } from '../../lib/i18n'
import { Link } from '../link'

export const views = ['evaluations', 'questions', 'tunings'] as const
export type View = (typeof views)[number] | 'analytics'

/** The parts of Evaluate, of which what users search for is a page of its own. */
export function Tabs({ at }: { at: View }) {
  const t = useText()
  return (
    <nav className="tabs" aria-label={t('play.views')}>
      {[...views, 'analytics' as const].map((v) => (
        <Link key={v} to={v === 'analytics' ? '/analytics' : `/evaluate?view=${v}`} className="tab" aria-current={v === at ? 'page' : undefined}>
          {t(`eval.view.${v}`)}
        </Link>
      ))}
    </nav>
  )
}
