import { memo } from 'react'
import type { Answer } from '../lib/answers'
import { percent } from '../lib/format'
import { useText } from '../lib/i18n'
import { least, type Comparisons } from '../pages/compare-state'

interface Props {
  questions: string[]
  comparisons: Comparisons
  at: number
  show: (i: number) => void
}

/** Many questions, those first on which the columns differ most. */
export function QuestionList({ questions, comparisons, at, show }: Props) {
  const t = useText()
  const { answers, paused, pause } = comparisons
  const rows = questions.map((question, i) => ({ question, i, ...measured(answers[i]) }))
  rows.sort((a, b) => (a.rbo ?? 2) - (b.rbo ?? 2) || a.i - b.i)
  const done = answers.filter((a) => a !== undefined).length
  return (
    <section className="question-list">
      <h2>{t('compare.list')}</h2>
      <div className="row">
        <progress value={done} max={questions.length} aria-label={t('compare.list')} />
        <p className="quiet small" role="status">{t('compare.list.progress', { done, all: questions.length })}</p>
        {done < questions.length ? (
          <button type="button" className="linkish small" onClick={() => pause(!paused)}>{t(paused ? 'compare.list.resume' : 'compare.list.pause')}</button>
        ) : null}
      </div>
      <div className="card scroll" tabIndex={0} role="region" aria-label={t('compare.list')}>
        <table className="grid-table">
          <thead>
            <tr>
              <th scope="col">{t('compare.list.question')}</th>
              <th scope="col" className="num">{t('compare.list.overlap')}</th>
              <th scope="col" className="num">{t('compare.list.rbo')}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((r) => <Row key={r.i} {...r} current={r.i === at} show={show} />)}
          </tbody>
        </table>
      </div>
    </section>
  )
}

interface RowProps extends ReturnType<typeof measured> {
  question: string
  i: number
  current: boolean
  show: (i: number) => void
}

/** Of a thousand rows a click changes two: the others are not drawn again. */
const Row = memo(function Row({ question, i, overlap, rbo, failed, current, show }: RowProps) {
  const t = useText()
  return (
    <tr className={current ? 'current' : undefined}>
      <td>
        <button type="button" className="linkish" aria-current={current} onClick={() => show(i)}>{question}</button>
        {failed ? <> <span className="tag bad">{t('compare.list.failed')}</span></> : null}
      </td>
      <td className="num">{overlap === null ? '–' : percent(overlap)}</td>
      <td className="num">{rbo === null ? '–' : rbo.toFixed(3)}</td>
    </tr>
  )
})

function measured(answer?: Answer) {
  const known = answer && !(answer instanceof Error) ? answer : null
  return { overlap: known ? least(known.overlap) : null, rbo: known ? least(known.rbo) : null, failed: answer instanceof Error }
}
