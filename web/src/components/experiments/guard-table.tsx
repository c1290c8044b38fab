import type { ExperimentsRail } from '../../api/schema'
import { changeOf, valueOf } from '../../lib/experiments'
import { useText, type Key } from '../../lib/i18n'

/** What must not become worse, and how far it is from that. */
export function GuardTable({ rails }: { rails: ExperimentsRail[] }) {
  const t = useText()
  return (
    <section className="part">
      <h2>{t('exp.guards')}</h2>
      <div className="card scroll" tabIndex={0} role="region" aria-label={t('exp.guards')}>
        <table className="grid-table">
          <thead>
            <tr>
              <th scope="col">{t('exp.metric')}</th><th scope="col">{t('exp.variant.name')}</th><th scope="col" className="num">{t('exp.guard.value')}</th>
              <th scope="col" className="num">{t('exp.guard.bound')}</th><th scope="col" className="num" title={t('exp.guard.shown.about')}>{t('exp.guard.shown')}</th><th scope="col">{t('bases.state')}</th>
            </tr>
          </thead>
          <tbody>
            {rails.map((g, i) => {
              const said = (v: number) => (g.against ? changeOf : valueOf)(g.metric, v)
              return (
                <tr key={i}>
                  <th scope="row">{t(`exp.metric.${g.metric}` as Key)}</th>
                  <td>{g.variant || t('exp.lists')}{g.against ? <span className="quiet"> {t('exp.guard.over', { against: g.against })}</span> : null}</td>
                  <td className="num">{said(g.value)}</td><td className="num">{said(g.limit)}</td>
                  <td className="num">{g.shown === null ? '–' : said(g.shown)}</td>
                  <td><span className={`tag ${g.crossed ? 'bad' : 'good'}`}>{t(g.crossed ? 'exp.guard.crossed' : 'exp.guard.held')}</span></td>
                </tr>
              )
            })}
          </tbody>
        </table>
      </div>
    </section>
  )
}
