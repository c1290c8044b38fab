import type { LibraryJudgmentList, LibraryQuerySet } from '../../api/schema'
import { useText } from '../../lib/i18n'
import type { Params } from '../../lib/url'
import { Select } from '../field'

interface Props {
  sets: LibraryQuerySet[]
  lists: LibraryJudgmentList[]
  chosen: { set?: LibraryQuerySet; list?: LibraryJudgmentList }
  change: (c: Params, replace?: boolean) => void
}

/** The query set and the judgment list that an address names; left out, the first with judgments. */
export function chosenIn(params: URLSearchParams, sets: LibraryQuerySet[], lists: LibraryJudgmentList[]): Props['chosen'] {
  const judged = lists.filter((l) => l.judgments > 0)
  const named = lists.find((l) => l.id === params.get('list'))
  const set = sets.find((s) => s.id === (params.get('set') ?? named?.query_set)) ?? sets.find((s) => judged.some((l) => l.query_set === s.id)) ?? sets[0]
  const of = lists.filter((l) => l.query_set === set?.id)
  return { set, list: of.find((l) => l === named) ?? of.find((l) => l.judgments > 0) ?? of[0] }
}

/** What is measured with: questions, and their judgments. */
export function ChooseList({ sets, lists, chosen: { set, list }, change }: Props) {
  const t = useText()
  const of = lists.filter((l) => l.query_set === set?.id)
  return (
    <>
      <Select label={t('eval.set')} value={set?.id ?? ''} choose={(id) => change({ set: id, list: null }, true)}
        options={sets.map((s) => ({ value: s.id, label: `${s.name || s.id} (${s.queries})` }))} />
      <Select label={t('eval.list')} value={list?.id ?? ''} choose={(id) => change({ set: set?.id ?? null, list: id }, true)}
        options={of.length > 0 ? of.map((l) => ({ value: l.id, label: `${l.name || l.id} (${l.judgments})` })) : [{ value: '', label: t('eval.list.none') }]} />
    </>
  )
}
