import { Evaluations } from '../components/evaluation/evaluations'
import { SetsOfQuestions } from '../components/evaluation/query-sets'
import { StartEvaluation } from '../components/evaluation/start-evaluation'
import { StartTuning } from '../components/evaluation/start-tuning'
import { Tabs, views } from '../components/evaluation/tabs'
import { Tunings } from '../components/evaluation/tunings'
import { Link } from '../components/link'
import { Failure, Skeleton } from '../components/notice'
import { useChoices } from '../lib/bases'
import { useEvaluations, useJudgmentLists, useQuerySets, useTunings } from '../lib/evaluations'
import { useText } from '../lib/i18n'
import { useParams } from '../lib/url'
import '../styles/evaluate.css'
import '../styles/mappings.css'
import '../styles/playground.css'

/** Which way to search is better: the questions, who judged them, and what was measured with that. */
export default function EvaluatePage() {
  const t = useText()
  const [params, change] = useParams()
  const choices = useChoices()
  const sets = useQuerySets()
  const lists = useJudgmentLists()
  const error = choices.error ?? sets.error ?? lists.error
  const again = () => [choices, sets, lists].forEach((of) => of.again())
  const named = views.find((v) => v === params.get('view'))
  const view = named ?? (sets.data?.query_sets.length === 0 ? 'questions' : 'evaluations')
  return (
    <div className="page">
      <div className="page-head">
        <h1>{t('eval.title')}</h1>
        <p>{t('eval.about')}</p>
      </div>
      <Tabs at={view} />
      {error ? <Failure error={error} again={again} /> : null}
      {!error && !(choices.data && sets.data && lists.data) ? <Skeleton rows={3} /> : null}
      {!error && choices.data && sets.data && lists.data ? (
        <View view={view} choices={choices.data} sets={sets.data.query_sets} lists={lists.data.judgment_lists}
          params={params} change={change} changed={() => (sets.again(), lists.again())} />
      ) : null}
    </div>
  )
}

type ViewProps = Parameters<typeof StartEvaluation>[0] & { view: (typeof views)[number]; changed: () => void }

function View({ view, changed, ...rest }: ViewProps) {
  const t = useText()
  if (view === 'questions') return <SetsOfQuestions choices={rest.choices} sets={rest.sets} lists={rest.lists} changed={changed} />
  if (rest.sets.length === 0) {
    return (
      <div className="blank">
        <h2>{t('eval.sets.none')}</h2>
        <p>{t('eval.sets.none.about')}</p>
        <Link to="/evaluate?view=questions" className="button primary">{t('eval.view.questions')}</Link>
      </div>
    )
  }
  return view === 'tunings' ? <TuningsView {...rest} /> : <EvaluationsView {...rest} />
}

function EvaluationsView(props: Omit<ViewProps, 'view' | 'changed'>) {
  const t = useText()
  const all = useEvaluations()
  const evaluations = all.data?.evaluations ?? []
  return (
    <div className="part">
      <StartEvaluation {...props} />
      {all.error ? <Failure error={all.error} again={all.again} /> : null}
      {!all.data && !all.error ? <Skeleton rows={2} /> : null}
      {evaluations.length > 0 ? <Evaluations evaluations={evaluations} sets={props.sets} /> : null}
      {all.data && evaluations.length === 0 ? <p className="quiet">{t('eval.none')}</p> : null}
    </div>
  )
}

function TuningsView(props: Omit<ViewProps, 'view' | 'changed'>) {
  const t = useText()
  const all = useTunings()
  const tunings = all.data?.tunings ?? []
  return (
    <div className="part">
      <StartTuning {...props} />
      {all.error ? <Failure error={all.error} again={all.again} /> : null}
      {!all.data && !all.error ? <Skeleton rows={2} /> : null}
      {tunings.length > 0 ? <Tunings tunings={tunings} sets={props.sets} /> : null}
      {all.data && tunings.length === 0 ? <p className="quiet">{t('tune.none')}</p> : null}
    </div>
  )
}
