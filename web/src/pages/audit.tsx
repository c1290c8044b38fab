import type { AuditRecord, AuditRecords } from '../api/schema'
import { Field, Select } from '../components/field'
import { Link } from '../components/link'
import { Failure, Notice, Skeleton } from '../components/notice'
import { OperatingTabs } from '../components/operating-tabs'
import { baseAt } from '../components/base/tabs'
import { ApiError, call } from '../lib/api'
import { useChoices } from '../lib/bases'
import { useLanguage, useText, type Key } from '../lib/i18n'
import { localeOf } from '../lib/languages'
import { usePaged } from '../lib/load'
import { useParams } from '../lib/url'
import '../styles/evaluate.css'
import '../styles/mappings.css'
import '../styles/playground.css'
import '../styles/base-page.css'

const tones: Record<string, string> = { done: 'good', refused: 'bad', failed: 'warn' }

/** A time of the form's, in the browser's time zone, as the gateway takes it. */
const utc = (local: string | null) => (local && !Number.isNaN(Date.parse(local)) ? new Date(local).toISOString() : '')

/** Who did what, when, and how it ended. */
export default function AuditPage() {
  const t = useText()
  const [params] = useParams()
  const asked = {
    key: params.get('key') ?? '', action: params.get('action') ?? '', knowledge_base: params.get('base') ?? '',
    outcome: params.get('outcome') ?? '', from: utc(params.get('from')), until: utc(params.get('until')),
    changes: params.has('reads') ? '' : 'true',
  }
  const query = new URLSearchParams(Object.entries(asked).filter(([, value]) => value)).toString()
  const log = usePaged<AuditRecord>(['audit', query], async (after, signal) => {
    const got = await call<AuditRecords>('GET', `/v1/audit?limit=100&${query}${after ? `&after=${after}` : ''}`, undefined, signal)
    return { items: got.records ?? [], next: got.next }
  })
  const off = log.error instanceof ApiError && log.error.code === 'unsupported'
  return (
    <div className="page">
      <div className="page-head">
        <h1>{t('nav.audit')}</h1>
        <p>{t('aud.about')}</p>
      </div>
      <OperatingTabs />
      <div className="part">
        {off ? <Notice title={t('aud.off')}><p>{t('aud.off.about')} <code className="mono">audit: {'{'}path: audit.jsonl{'}'}</code></p></Notice> : <Filters />}
        {log.error && !off ? <Failure error={log.error} again={log.again} /> : null}
        {!log.items && !log.error ? <Skeleton rows={4} /> : null}
        {log.items?.length === 0 ? <p className="blank">{t(log.more ? 'aud.none.yet' : 'aud.none')}{asked.changes ? ` ${t('aud.none.reads')}` : ''}</p> : null}
        {log.items && log.items.length > 0 ? <Table records={log.items} /> : null}
        {log.more ? <p className="row center"><button type="button" className="button" disabled={log.loading} onClick={log.more}>{t('aud.older')}</button></p> : null}
      </div>
    </div>
  )
}

function Filters() {
  const t = useText()
  const [params, setParams] = useParams()
  const choices = useChoices()
  const text = (name: string, label: Key, type = 'search') => (
    <Field label={t(label)}>
      {(id) => <input id={id} name={name} type={type} className="input" maxLength={200} defaultValue={params.get(name) ?? ''} />}
    </Field>
  )
  const ask = (form: HTMLFormElement) => {
    const data = new FormData(form)
    setParams(Object.fromEntries(['key', 'action', 'from', 'until'].map((name) => [name, String(data.get(name) ?? '').trim()])), true)
  }
  const bases = (choices.data?.bases ?? []).map((b) => ({ value: b.id, label: b.name || b.id }))
  return (
    <form className="from-to" role="search" onSubmit={(e) => (e.preventDefault(), ask(e.currentTarget))}>
      {text('key', 'aud.key')}
      {text('action', 'aud.action')}
      <Select label={t('nav.bases')} value={params.get('base') ?? ''} options={[{ value: '', label: t('aud.every') }, ...bases]} choose={(base) => setParams({ base }, true)} />
      <Select label={t('aud.outcome')} value={params.get('outcome') ?? ''} choose={(outcome) => setParams({ outcome }, true)}
        options={[{ value: '', label: t('aud.every') }, ...(['done', 'refused', 'failed'] as const).map((value) => ({ value, label: t(`aud.${value}`) }))]} />
      {text('from', 'aud.from', 'datetime-local')}
      {text('until', 'aud.until', 'datetime-local')}
      <label className="check"><input type="checkbox" checked={params.has('reads')} onChange={(e) => setParams({ reads: e.target.checked ? '1' : null }, true)} />{t('aud.reads')}</label>
      <button type="submit" className="button">{t('aud.filter')}</button>
    </form>
  )
}

function Table({ records }: { records: AuditRecord[] }) {
  const { t, language } = useLanguage()
  const when = (time: string) => new Date(time).toLocaleString(localeOf(language), { dateStyle: 'medium', timeStyle: 'medium' })
  return (
    <div className="card scroll" tabIndex={0} role="region" aria-label={t('nav.audit')}>
      <table className="grid-table">
        <thead><tr>{(['when', 'key', 'action', 'base', 'outcome', 'remote'] as const).map((c) => <th key={c} scope="col">{t(`aud.${c}`)}</th>)}</tr></thead>
        <tbody>
          {records.map((r, i) => (
            <tr key={`${r.request_id} ${i}`}>
              <td className="set-by">{when(r.time)}</td>
              <td>{r.key || <span className="quiet">{t('aud.nokey')}</span>}</td>
              <td className="mono" title={r.path}>{r.method} {r.route}</td>
              <td>{r.knowledge_base ? <Link to={baseAt(r.knowledge_base)}>{r.knowledge_base}</Link> : '–'}</td>
              <td className="set-by"><span className={`tag ${tones[r.outcome] ?? ''}`}>{t(`aud.${r.outcome}` as Key)}</span> <span className="quiet mono">{r.status}</span></td>
              <td className="mono quiet">{r.remote}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
