import { memo, useState } from 'react'
import type { CompareComparison, CompareMove, CompareSide, SearchHit } from '../api/schema'
import { ms } from '../lib/format'
import { useText, type Key } from '../lib/i18n'
import { judge, useJudgments, type Grade } from '../lib/judgments'
import { Marked } from '../lib/marked'
import { ndcg } from '../lib/metrics'
import { Name, Relevance } from './hit'
import { legName, ScoreBar } from './legs'
import { Notice } from './notice'

const row = 128 // pixels of a hit; the lines between columns count on it
const gap = 28

/** The columns side by side. Lines and arrows tell of a column and its left neighbour. */
export function Board({ comparison, query }: { comparison: CompareComparison; query: string }) {
  const t = useText()
  const [lit, setLit] = useState('')
  const columns = comparison.columns ?? []
  const moves = new Map((comparison.moves ?? []).map((m) => [m.id, m]))
  return (
    <>
      <Legend />
      <div className="board scroll" tabIndex={0} role="region" aria-label={t('compare.columns')} onMouseLeave={() => setLit('')}>
        <div className="sides" style={{ '--columns': columns.length, '--gap': `${gap}px` } as React.CSSProperties}>
          {columns.map((side, i) => (
            <section key={i} className="side" aria-label={`${i + 1}. ${side.label}`}>
              {i > 0 ? <Lines from={columns[i - 1]} to={side} moves={moves} column={i} lit={lit} /> : null}
              <Top side={side} n={i + 1} query={query} />
              {(side.response?.hits ?? []).length === 0 && !side.error ? <p className="quiet small">{t('compare.empty')}</p> : null}
              <ol>
                {(side.response?.hits ?? []).map((hit, rank) => (
                  <Card key={`${hit.knowledge_base}/${hit.id}`} hit={hit} best={side.response.hits?.[0]?.score} rank={rank + 1} move={moves.get(hit.id)}
                    column={i} left={i > 0 && Boolean(columns[i - 1]?.response)} query={query} lit={lit === hit.id} light={setLit} />
                ))}
              </ol>
            </section>
          ))}
        </div>
      </div>
    </>
  )
}

function Legend() {
  const t = useText()
  const moves: [string, string, Key][] = [['up', '▲', 'compare.legend.up'], ['down', '▼', 'compare.legend.down'], ['', '=', 'compare.legend.same'], ['new', '+', 'compare.legend.new']]
  return (
    <p className="story small">
      <span>{t('compare.legend')}</span>
      {moves.map(([way, sign, said]) => (
        <span key={said}><span className={`move ${way}`}>{sign}</span> {t(said)}</span>
      ))}
      <span><span className="tag warn">{t('compare.unique')}</span> {t('compare.legend.unique')}</span>
    </p>
  )
}

function Top({ side, n, query }: { side: CompareSide; n: number; query: string }) {
  const t = useText()
  const degraded = side.response?.degraded ?? []
  return (
    <header>
      <h2><span className="number">{n}</span> <span>{side.label}</span></h2>
      {side.response ? <p className="quiet small">{side.response.engine} · {t('compare.timing', { ms: ms(side.response.took_ms) })} <Measured side={side} query={query} /></p> : null}
      {side.error ? <Notice title={t('compare.failed', { reason: side.error.detail })} tone="error" /> : null}
      {degraded.map((d, i) => (
        <p key={i} className="degraded small">{t('search.degraded.item', { leg: legName(d.leg, t), reason: d.reason })}</p>
      ))}
    </header>
  )
}

const measured = 10 // first hits

/** How good the order of a column is by the judgements of this browser, as soon as something is good. */
function Measured({ side, query }: { side: CompareSide; query: string }) {
  const t = useText()
  const grades = useJudgments()[query] ?? {}
  const value = ndcg((side.response.hits ?? []).map((h) => h.id), grades, measured)
  if (value === null) return null
  return <span className="tag measured" title={t('compare.ndcg.about', { k: measured })}>{t('compare.ndcg', { k: measured, value: value.toFixed(3) })}</span>
}

interface CardProps {
  hit: SearchHit
  best?: number // the best score of the column
  rank: number
  move?: CompareMove
  column: number
  left: boolean // there is a column to compare with
  query: string
  lit: boolean
  light: (id: string) => void
}

const Card = memo(function Card({ hit, best, rank, move, column, left, query, lit, light }: CardProps) {
  const name = hit.question || hit.title || hit.document_name || hit.id
  return (
    <li className={`compared${lit ? ' lit' : ''}${move?.unique ? ' unique' : ''}`} style={{ height: row - 8 }}
      onMouseEnter={() => light(hit.id)} onFocus={() => light(hit.id)}>
      <h3><span className="rank quiet">{rank}</span> <span className="clip" title={name}><Name hit={hit} otherwise={hit.id} /></span> <Relevance value={hit.relevance} short /></h3>
      <p className="excerpt"><Marked text={hit.highlights?.[0] ?? hit.content.slice(0, 120)} /></p>
      <ScoreBar score={hit.score} legs={hit.legs ?? []} best={best} />
      <div className="foot">
        <Moved move={move} column={column} left={left} />
        <Grades query={query} chunk={hit.id} name={name} />
      </div>
    </li>
  )
})

/** Where the chunk is, seen from the column to the left. */
function Moved({ move, column, left }: { move?: CompareMove; column: number; left: boolean }) {
  const t = useText()
  if (!move) return null
  if (move.unique) return <span className="tag warn clip" title={t('compare.unique')}>{t('compare.unique')}</span>
  const to = move.ranks?.[column]
  if (!left || !to) return null
  const from = move.ranks?.[column - 1]
  if (!from) {
    const said = t('compare.new', { column })
    return <span className="move new" title={said}><span aria-hidden="true">+</span><span className="visually-hidden">{said}</span></span>
  }
  const won = from - to
  const key: Key = won > 0 ? 'compare.up' : won < 0 ? 'compare.down' : 'compare.same'
  const said = t(key, { n: Math.abs(won), column })
  return (
    <span className={`move ${won > 0 ? 'up' : won < 0 ? 'down' : ''}`} title={said}>
      <span aria-hidden="true">{won > 0 ? `▲${won}` : won < 0 ? `▼${-won}` : '='}</span>
      <span className="visually-hidden">{said}</span>
    </span>
  )
}

const grades: [Grade, Key][] = [[2, 'compare.good'], [1, 'compare.fair'], [0, 'compare.bad']]

/** A judgement belongs to the question and the chunk, so it shows in every column. */
function Grades({ query, chunk, name }: { query: string; chunk: string; name: string }) {
  const t = useText()
  const given = useJudgments()[query]?.[chunk]
  return (
    <span className="grades" role="group" aria-label={t('compare.judge.of', { name })}>
      {grades.map(([grade, label]) => (
        <button key={grade} type="button" className={`grade g${grade}`} aria-pressed={given === grade} onClick={() => judge(query, chunk, grade)}>
          {t(label)}
        </button>
      ))}
    </span>
  )
}

interface LinesProps {
  from?: CompareSide
  to: CompareSide
  moves: Map<string, CompareMove>
  column: number
  lit: string
}

/** Lines from a column to the next, through the gap between them. */
function Lines({ from, to, moves, column, lit }: LinesProps) {
  const length = Math.max(from?.response?.hits?.length ?? 0, to.response?.hits?.length ?? 0)
  const paths = [...moves.values()].flatMap((m) => {
    const a = m.ranks?.[column - 1]
    const b = m.ranks?.[column]
    if (!a || !b) return []
    const [y1, y2] = [(a - 0.5) * row - 4, (b - 0.5) * row - 4]
    return [{ id: m.id, d: `M0 ${y1}C${gap / 2} ${y1} ${gap / 2} ${y2} ${gap} ${y2}`, way: b < a ? 'up' : b > a ? 'down' : '' }]
  })
  return (
    <svg className="lines" width={gap} height={length * row} viewBox={`0 0 ${gap} ${length * row}`} aria-hidden="true">
      {paths.map((p) => (
        <path key={p.id} d={p.d} className={`${p.way}${lit === p.id ? ' lit' : ''}`} />
      ))}
    </svg>
  )
}
