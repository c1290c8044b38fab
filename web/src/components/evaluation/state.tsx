import type { RunsEvaluation } from '../../api/schema'
import { useText, type Key } from '../../lib/i18n'

const tones: Record<string, string> = { done: 'good', running: 'warn', failed: 'bad', interrupted: 'bad' }

/** How far work is, in a word. */
export function State({ of }: { of: RunsEvaluation['state'] }) {
  const t = useText()
  return <span className={`tag ${tones[of] ?? ''}`}>{t(`eval.state.${of}` as Key)}</span>
}

/** How far work is, as a bar. */
export function Working({ done, total, about }: { done: number; total: number; about: string }) {
  return (
    <div className="working" role="status">
      <progress aria-label={about} value={total > 0 ? done / total : undefined} />
      <p className="quiet small">{about}</p>
    </div>
  )
}
