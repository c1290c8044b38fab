import { useState } from 'react'
import type { SynonymsVersion } from '../../api/schema'
import { call } from '../../lib/api'
import { useText } from '../../lib/i18n'
import { linesThatDiffer, type DiffLine } from '../../lib/line-diff'
import { useLoad } from '../../lib/load'
import { Select } from '../field'
import { Failure, Skeleton } from '../notice'
import type { DifferenceProps } from './shown'

const draftName = 'draft'

/** What differs between two versions, or between one and what is being written. */
export default function Difference({ path, versions, from, draft, close }: DifferenceProps) {
  const t = useText()
  const newest = versions[0]?.version ?? 0
  const [before, setBefore] = useState(String(from))
  const [after, setAfter] = useState(draft === undefined ? String(newest) : draftName)
  const known = after === draftName && draft === undefined ? String(newest) : after
  const texts = useLoad(['synonym texts', path, before, known], (signal) => Promise.all(
    [before, known].map((v) => (v === draftName ? undefined : call<SynonymsVersion>('GET', `${path}?version=${v}`, undefined, signal))),
  ))
  const options = versions.map((v) => ({ value: String(v.version), label: t('syn.version', { version: v.version }) }))
  const [b, a] = texts.data ?? []
  const lines = texts.data ? linesThatDiffer(b?.text ?? '', known === draftName ? draft ?? '' : a?.text ?? '') : undefined
  return (
    <section className="part difference" aria-label={t('syn.diff')}>
      <div className="row between">
        <h2>{t('syn.diff')}</h2>
        <button type="button" className="button compact" onClick={close}>{t('syn.diff.close')}</button>
      </div>
      <div className="fields">
        <Select label={t('syn.diff.from')} value={before} choose={setBefore} options={options} />
        <Select label={t('syn.diff.to')} value={known} choose={setAfter}
          options={[...(draft === undefined ? [] : [{ value: draftName, label: t('syn.try.draft') }]), ...options]} />
      </div>
      {texts.error ? <Failure error={texts.error} again={texts.again} /> : null}
      {!texts.data && !texts.error ? <Skeleton rows={1} /> : null}
      {lines === null ? <p className="quiet">{t('syn.diff.toomuch')}</p> : lines ? <Lines lines={lines} /> : null}
    </section>
  )
}

function Lines({ lines }: { lines: DiffLine[] }) {
  const t = useText()
  const count = (kind: string) => lines.filter((l) => l.kind === kind).length
  if (count('added') + count('removed') === 0) return <p className="quiet">{t('syn.diff.none')}</p>
  return (
    <>
      <p className="quiet small">{t('syn.diff.count', { added: count('added'), removed: count('removed') })}</p>
      <div className="card scroll" tabIndex={0} role="region" aria-label={t('syn.diff.lines')}>
        <table className="diff-lines">
          <tbody>
            {lines.map((l, i) => l.kind === 'gap' ? <tr key={i} className="gap"><td colSpan={4}>⋯</td></tr> : (
              <tr key={i} className={l.kind}>
                <td className="num">{l.before}</td>
                <td className="num">{l.after}</td>
                <td>
                  <span aria-hidden="true">{l.kind === 'added' ? '+' : l.kind === 'removed' ? '−' : ''}</span>
                  <span className="visually-hidden">{l.kind === 'same' ? '' : t(l.kind === 'added' ? 'syn.diff.added' : 'syn.diff.removed')}</span>
                </td>
                <td>{l.text}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  )
}
