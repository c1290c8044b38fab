import { useState } from 'react'
import type { JudgeAgreement, LibraryJudgmentList } from '../../api/schema'
import { call } from '../../lib/api'
import { number, percent } from '../../lib/format'
import { useText } from '../../lib/i18n'
import { useLoad } from '../../lib/load'
import { HeatMap } from '../charts/heat'
import { Select } from '../field'
import { Failure } from '../notice'

/** How far two lists agree where both judged the same text. */
export function ListAgreement({ list, others }: { list: LibraryJudgmentList; others: LibraryJudgmentList[] }) {
  const t = useText()
  const fitting = others.filter((o) => o.id !== list.id && o.query_set === list.query_set && (o.max_grade ?? 3) === (list.max_grade ?? 3))
  const [chosen, setChosen] = useState('')
  const other = fitting.find((o) => o.id === chosen) ?? fitting[0]
  const agreement = useLoad(other ? ['agreement', list.id, other.id, list.judgments, other.judgments] : null, (signal) =>
    call<JudgeAgreement>('GET', `/v1/judgments/${list.id}/agreement?with=${other!.id}`, undefined, signal))
  if (!other) return <p className="quiet small">{t('judge.agreement.alone')}</p>
  const a = agreement.data
  const [mine, theirs] = [list.name || list.id, other.name || other.id]
  const grades = Array.from({ length: (list.max_grade ?? 3) + 1 }, (_, i) => String(i))
  return (
    <div className="part">
      <div className="choose"><Select label={t('judge.agreement.with')} value={other.id} choose={setChosen} options={fitting.map((o) => ({ value: o.id, label: `${o.name || o.id} (${o.judgments})` }))} /></div>
      {agreement.error ? <Failure error={agreement.error} again={agreement.again} /> : null}
      {a && a.pairs === 0 ? <p className="quiet">{t('judge.agreement.none')}</p> : null}
      {a && a.pairs > 0 ? (
        <>
          <p>
            <strong>κ {number(a.kappa, 2)}</strong> {a.low !== null ? <span className="quiet">[{number(a.low, 2)}, {number(a.high, 2)}]</span> : null}{' '}
            {t('judge.agreement.said', { pairs: a.pairs, exact: percent(a.exact), bias: (a.bias > 0 ? '+' : '') + a.bias.toFixed(2), list: mine })}
          </p>
          <p className="quiet small">{t('judge.agreement.about')}</p>
          <HeatMap title={t('judge.agreement.table')} axes={[mine, theirs]} rows={grades} columns={grades} counts={a.confusion.map((row) => row ?? [])} />
        </>
      ) : null}
    </div>
  )
}
