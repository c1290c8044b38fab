import { useState } from 'react'
import { useText } from '../../lib/i18n'
import { useLoad } from '../../lib/load'
import { binned, errorOf, predictedIn } from '../../lib/reliability'
import { Reliability } from '../charts/reliability'
import { Failure, Skeleton } from '../notice'

/** Whether hits that are said to be relevant with 80 % are so in 80 of 100 cases. Its rows are read when it is asked for. */
export function RelevanceCheck({ evaluation, system }: { evaluation: string; system: string }) {
  const t = useText()
  const [open, setOpen] = useState(false)
  const pairs = useLoad(open ? ['reliability', evaluation, system] : null, (signal) => predictedIn(evaluation, system, signal))
  return (
    <details className="part" onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>{t('rel.title')}</summary>
      {pairs.error ? <Failure error={pairs.error} again={pairs.again} /> : null}
      {open && !pairs.data && !pairs.error ? <Skeleton rows={1} /> : null}
      {pairs.data ? <Told pairs={pairs.data} system={system} /> : null}
    </details>
  )
}

function Told({ pairs, system }: { pairs: { said: number; relevant: boolean }[]; system: string }) {
  const t = useText()
  if (pairs.length === 0) return <p className="quiet">{t('rel.none')}</p>
  const bins = binned(pairs)
  const per = (v: number) => `${(v * 100).toFixed(0)} %`
  const about = t('rel.about', { system, count: pairs.length, error: errorOf(bins).toFixed(3) })
  return (
    <section className="card padded">
      <Reliability title={t('rel.picture')} about={`${t('rel.picture')}: ${about}`} axes={[t('rel.said'), t('rel.seen')]} bins={bins} table={
        <>
          <thead>
            <tr><th scope="col">{t('rel.said')}</th><th scope="col" className="num">{t('rel.hits')}</th><th scope="col" className="num">{t('rel.mean')}</th><th scope="col" className="num">{t('rel.seen')}</th></tr>
          </thead>
          <tbody>
            {bins.map((b) => (
              <tr key={b.low}>
                <th scope="row">{per(b.low)} – {per(b.high)}</th><td className="num">{b.count}</td><td className="num">{per(b.predicted)}</td>
                <td className="num">{per(b.seen)} <span className="quiet">[{per(b.from)}, {per(b.to)}]</span></td>
              </tr>
            ))}
          </tbody>
        </>
      } />
      <p className="quiet small said">{about} {t('rel.judged')}</p>
    </section>
  )
}
