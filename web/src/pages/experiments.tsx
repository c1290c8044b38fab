import { Tabs } from '../components/evaluation/tabs'
import { Design } from '../components/experiments/design'
import { Experiments } from '../components/experiments/list'
import { Needs } from '../components/experiments/needs'
import { Failure, Skeleton } from '../components/notice'
import { useChoices } from '../lib/bases'
import { useExperiments } from '../lib/experiments'
import { useText } from '../lib/i18n'
import { useParams } from '../lib/url'
import '../styles/evaluate.css'
import '../styles/experiments.css'
import '../styles/mappings.css'
import '../styles/playground.css'

/** Users decide which way to search is better: the experiments that there are, and a new one. */
export default function ExperimentsPage() {
  const t = useText()
  const [params, change] = useParams()
  const choices = useChoices()
  const all = useExperiments()
  const experiments = all.data?.experiments ?? []
  const designing = params.get('view') === 'new'
  return (
    <div className="page">
      <div className="page-head">
        <h1>{t('exp.title')}</h1>
        {designing || experiments.length === 0 ? null : (
          <button type="button" className="button primary end" onClick={() => change({ view: 'new' })}>{t('exp.new')}</button>
        )}
        <p>{t('exp.about')}</p>
      </div>
      <Tabs at="experiments" />
      {all.error ? <Failure error={all.error} again={all.again} /> : null}
      {choices.error ? <Failure error={choices.error} again={choices.again} /> : null}
      {(!all.data && !all.error) || (!choices.data && !choices.error) ? <Skeleton rows={3} /> : null}
      {all.data && choices.data ? (
        <div className="outcome">
          {designing ? <Design choices={choices.data} params={params} change={change} /> : null}
          {experiments.length > 0 ? <Experiments experiments={experiments} /> : null}
          {experiments.length === 0 && !designing ? (
            <div className="blank">
              <h2>{t('exp.none')}</h2>
              <p>{t('exp.none.about')}</p>
              <button type="button" className="button primary" onClick={() => change({ view: 'new' })}>{t('exp.new')}</button>
            </div>
          ) : null}
          <Needs />
        </div>
      ) : null}
    </div>
  )
}
