import { useState } from 'react'
import type { CompareComparison } from '../api/schema'
import type { Answer } from '../lib/answers'
import { csv, download } from '../lib/format'
import { useText } from '../lib/i18n'
import { corpus, count, forget, keepInGateway, qrels, queries, restore, useJudgments, type Book, type Kept } from '../lib/judgments'
import { Confirm } from './confirm'
import { Icon } from './icons'
import { Failure, Notice } from './notice'

/** The labels of columns, those that are the same with their number. */
function named(labels: string[]): string[] {
  return labels.map((label, i) => (labels.indexOf(label) === labels.lastIndexOf(label) ? label : `${i + 1} ${label}`))
}

/** Every hit of every column as a line. */
function asCSV(comparisons: CompareComparison[], judgments: Book): string {
  const head = ['query', 'column', 'rank', 'knowledge_base', 'id', 'document', 'title', 'score', 'moved_from_left', 'unique', 'judgement']
  const rows = comparisons.flatMap((c) => {
    const moves = new Map((c.moves ?? []).map((m) => [m.id, m]))
    const labels = named((c.columns ?? []).map((side) => side.label))
    return (c.columns ?? []).flatMap((side, column) =>
      (side.response?.hits ?? []).map((hit, i) => {
        const left = moves.get(hit.id)?.ranks?.[column - 1]
        return [
          c.query, labels[column], i + 1, hit.knowledge_base, hit.id, hit.document_name || hit.document_id, hit.title, hit.score,
          left ? left - i - 1 : undefined, moves.get(hit.id)?.unique, judgments[c.query]?.[hit.id],
        ]
      }),
    )
  })
  return [head, ...rows].map((row) => row.map(csv).join(',')).join('\r\n') + '\r\n'
}

/** What can be saved: the comparisons, and the judgements. */
export function ComparisonExports({ answers, bases }: { answers: (Answer | undefined)[]; bases: string[] }) {
  const t = useText()
  const judgments = useJudgments()
  const done = answers.filter((a): a is CompareComparison => a !== undefined && !(a instanceof Error))
  return (
    <div className="exports">
      {done.length > 0 ? (
        <div className="row">
          <span className="label">{t('compare.export')}</span>
          <button type="button" className="button compact" onClick={() => download('comparison.csv', '\uFEFF' + asCSV(done, judgments), 'text/csv')}>
            <Icon name="download" />{t('compare.export.csv')}
          </button>
          <button type="button" className="button compact" onClick={() => download('comparison.json', JSON.stringify(done, null, 2), 'application/json')}>
            <Icon name="download" />{t('compare.export.json')}
          </button>
        </div>
      ) : null}
      <Judged judgments={judgments} bases={bases} />
    </div>
  )
}

function Judged({ judgments, bases }: { judgments: Book; bases: string[] }) {
  const t = useText()
  const [forgotten, setForgotten] = useState<Book>()
  const [kept, setKept] = useState<Kept | Error>()
  const judged = count(judgments)
  const clear = async () => setForgotten(forget())
  const undo = (book: Book) => {
    restore(book)
    setForgotten(undefined)
  }
  return (
    <>
      {judged > 0 ? (
        <div className="row">
          <span className="label">{t('compare.judged', { count: judged })}</span>
          <button type="button" className="button compact" onClick={() => download('qrels.tsv', qrels(judgments), 'text/tab-separated-values')}>
            <Icon name="download" />{t('compare.judged.qrels')}
          </button>
          <button type="button" className="button compact" onClick={() => download('queries.jsonl', queries(judgments), 'application/jsonl')}>
            <Icon name="download" />{t('compare.judged.queries')}
          </button>
          <button type="button" className="button compact" onClick={() => void corpus(bases).then((text) => download('corpus.jsonl', text, 'application/jsonl'))}>
            <Icon name="download" />{t('compare.judged.corpus')}
          </button>
          <button type="button" className="button compact" onClick={() => void keepInGateway(judgments, bases).then(setKept, setKept)}>
            <Icon name="upload" />{t('compare.judged.keep')}
          </button>
          <Confirm label={t('compare.judged.clear')} about={t('compare.judged.clear.about', { count: judged })} act={clear} tone="danger" />
          <p className="quiet small about">{t('compare.judged.about')}</p>
        </div>
      ) : null}
      {kept instanceof Error ? <Failure error={kept} /> : null}
      {kept && !(kept instanceof Error) ? (
        <Notice title={t('compare.judged.kept', { count: kept.stored, set: kept.set })} tone={kept.refused > 0 ? 'warning' : 'good'}>
          {kept.refused > 0 ? <p>{t('compare.judged.refused', { count: kept.refused })}</p> : null}
          <code>hybridge evaluations run --query-set {kept.set} --judgments {kept.set}</code>
        </Notice>
      ) : null}
      {forgotten ? (
        <div className="row" role="status">
          <span className="label">{t('compare.judged.forgotten', { count: count(forgotten) })}</span>
          <button type="button" className="button compact" autoFocus onClick={() => undo(forgotten)}>{t('compare.judged.undo')}</button>
        </div>
      ) : null}
    </>
  )
}
