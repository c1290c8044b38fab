import type { EngineMigration, EngineStepTime, JobsJob } from '../api/schema'
import terms from '../i18n/terms.json'
import { count, duration } from '../lib/duration'
import { nameOf, useLanguage, type Key } from '../lib/i18n'
import { Term } from './term'
import type { TermName } from './term-card'

type State = 'pending' | 'running' | 'done' | 'failed'

interface Step {
  step: string
  state: State
  took?: EngineStepTime
}

const codeOf = (step: string) => step.slice(step.indexOf('/') + 1)
const isTerm = (name: string): name is TermName => name in terms

/** How a step is stopped or undone: until the switch nothing that is searched has changed. */
const undo: Record<string, Key> = { put: 'map.undo.put', switch: 'map.undo.switch', finish: 'map.undo.never', revert: 'map.undo.revert', return: 'map.undo.return' }

/** The steps of a direction, and how far each is. */
export function stepsOf(migration: EngineMigration, job?: JobsJob): Step[] {
  const timeline = (migration.timeline ?? []).filter((s) => s.direction === migration.direction)
  const began = [...new Set([...timeline.map((s) => s.step), migration.step].filter(Boolean))]
  const steps = migration.direction === 'apply' ? migration.plan.steps ?? [] : began
  const now = steps.indexOf(migration.state === 'running' ? job?.progress.step || migration.step : migration.step)
  const over = migration.state !== 'running' && migration.state !== 'failed'
  return steps.map((step, i) => ({
    step,
    state: over || i < now ? 'done' : i > now ? 'pending' : migration.state === 'failed' ? 'failed' : 'running',
    took: timeline.findLast((s) => s.step === step),
  }))
}

/** What a plan would do, step by step. */
export const planned = (steps: string[]): Step[] => steps.map((step) => ({ step, state: 'pending' }))

interface Props {
  steps: Step[]
  migration?: EngineMigration
  job?: JobsJob
}

/** Steps one after the other: what each does, how it is undone, how long it took, and how far the one under way is. */
export function Pipeline({ steps, migration, job }: Props) {
  const { t, language } = useLanguage()
  return (
    <ol className="steps pipeline">
      {steps.map((s) => {
        const code = codeOf(s.step)
        const name = nameOf(t, 'map.step', s.step)
        const term = `step.${code}`
        return (
          <li key={s.step} className={s.state} aria-current={s.state === 'running' ? 'step' : undefined}>
            <p className="row">
              <strong>{isTerm(term) ? <Term name={term}>{name}</Term> : name}</strong>
              {migration ? <span className={`tag ${tones[s.state]}`}>{t(`map.at.${s.state}`)}</span> : null}
              {s.state === 'done' && s.took && s.took.seconds > 0 ? <span className="quiet small">{duration(s.took.seconds, language)}</span> : null}
            </p>
            {s.state === 'running' && migration ? <Progress migration={migration} job={job} /> : null}
            {s.state === 'failed' && migration?.error ? <p className="small">{migration.error.detail}</p> : null}
            {s.state === 'done' ? null : (
              <p className="quiet small">
                {isTerm(term) ? terms[term][language].text : null} {t(undo[code] ?? 'map.undo.before')}
              </p>
            )}
          </li>
        )
      })}
    </ol>
  )
}

const tones: Record<State, string> = { pending: '', running: 'warn', done: 'good', failed: 'bad' }

/** How far the step under way is: documents where it counts any. */
function Progress({ migration, job }: { migration: EngineMigration; job?: JobsJob }) {
  const { t, language } = useLanguage()
  const p = job ? { ...migration.progress, ...job.progress } : migration.progress
  const counts = p.total > 0 && ['copy', 'index', 'replay'].includes(codeOf(job?.progress.step || migration.step))
  return (
    <div className="migration-progress">
      <progress aria-label={t('map.progress')} value={counts ? p.done / p.total : undefined} />
      <p className="row quiet small">
        {counts ? <span>{t('map.progress.of', { done: count(p.done, language), total: count(p.total, language) })}</span> : null}
        {counts && p.rate > 0 ? <span>{t('map.progress.rate', { rate: count(Math.round(p.rate), language) })}</span> : null}
        {counts && p.remaining_seconds > 0 ? <span>{t('map.progress.left', { time: duration(p.remaining_seconds, language) })}</span> : null}
        {migration.progress.replayed > 0 ? <span>{t('map.progress.replayed', { count: count(migration.progress.replayed, language) })}</span> : null}
      </p>
    </div>
  )
}
