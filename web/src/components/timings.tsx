import type { SearchAnswer } from '../api/schema'
import { ms, percent } from '../lib/format'
import { useText, type Translate } from '../lib/i18n'
import { legName } from './legs'
import { Icon } from './icons'
import { Term } from './term'
import type { TermName } from './term-card'

interface Step {
  look: string
  term?: TermName
  name: string
  took: number
  parts?: [name: string, took: number][]
}

/** The steps of a search in their order. Legs run side by side: together they take as long as the slowest. */
function stepsOf({ timings_ms: timings }: SearchAnswer, t: Translate): Step[] {
  const legs = Object.entries(timings.legs).map(([leg, took]): [string, number] => [legName(leg, t), took])
  return [
    { look: 'analyze', name: t('search.timing.analyze'), took: timings.analyze },
    { look: 'embed', term: 'embedding', name: t('search.timing.embed'), took: timings.embed },
    { look: 'legs', name: t('search.timing.legs'), took: Math.max(0, ...legs.map(([, took]) => took)), parts: legs },
    { look: 'fuse', term: 'fusion', name: t('search.timing.fuse'), took: timings.fuse },
    { look: 'highlight', name: t('search.timing.highlight'), took: timings.highlight },
  ]
}

/** Where the time of an answer went: a bar as long as all of it; the numbers when it is opened. */
export function Timings({ answer }: { answer: SearchAnswer }) {
  const t = useText()
  const steps = stepsOf(answer, t)
  const sum = steps.reduce((s, step) => s + step.took, 0)
  const whole = Math.max(answer.took_ms, sum)
  const said = (step: Step) => t('search.timing.step', { step: step.name, ms: ms(step.took) })
  return (
    <details className="timings">
      <summary>
        <span>{t('search.took', { ms: ms(answer.took_ms) })}</span>
        <span className="timebar" role="img" aria-label={`${t('search.timings')}: ${steps.map(said).join(', ')}`}>
          {steps.filter((step) => step.took > 0).map((step) => (
            <span key={step.look} className={step.look} title={said(step)} style={{ flexGrow: step.took / whole }} />
          ))}
        </span>
        <Icon name="chevron" />
      </summary>
      <table>
        <caption className="visually-hidden">{t('search.timings')}</caption>
        <tbody>
          {steps.flatMap((step) => [
            <Row key={step.look} look={step.look} term={step.term} name={step.name} took={step.took} whole={whole} />,
            ...(step.parts ?? []).map(([name, took]) => <Row key={`${step.look}/${name}`} look="part" name={name} took={took} />),
          ])}
          <Row look="rest" name={t('search.timing.rest')} took={Math.max(0, answer.took_ms - sum)} whole={whole} />
        </tbody>
      </table>
    </details>
  )
}

/** Only what is a part of the whole has a share of it. */
function Row({ look, term, name, took, whole }: { look: string; term?: TermName; name: string; took: number; whole?: number }) {
  const t = useText()
  return (
    <tr className={look === 'part' ? 'part' : undefined}>
      <th scope="row"><span className={`dot ${look}`} />{term ? <Term name={term}>{name}</Term> : name}</th>
      <td>{t('search.ms', { ms: ms(took) })}</td>
      <td>{whole ? percent(took / whole) : ''}</td>
    </tr>
  )
}
