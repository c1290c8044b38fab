import type { Setting, Settings } from '../api/schema'
import { Failure, Skeleton } from '../components/notice'
import { OperatingTabs } from '../components/operating-tabs'
import { call } from '../lib/api'
import { useText, type Key } from '../lib/i18n'
import { useLoad } from '../lib/load'
import { useParams } from '../lib/url'
import '../styles/evaluate.css'
import '../styles/mappings.css'
import '../styles/playground.css'
import '../styles/base-page.css'

/** The settings in force: their values, where each came from, what it does. */
export default function SettingsPage() {
  const t = useText()
  const [params, setParams] = useParams()
  const loaded = useLoad(['settings'], (signal) => call<Settings>('GET', '/v1/settings', undefined, signal))
  const find = params.get('find') ?? ''
  const set = params.get('only') === 'set'
  const all = loaded.data?.settings ?? []
  const shown = all.filter((s) => (!set || s.source !== 'default') && matches(s, find))
  return (
    <div className="page">
      <div className="page-head">
        <h1>{t('nav.settings')}</h1>
        {loaded.data ? <span className="tag">{loaded.data.version}</span> : null}
        <p>{t('set.about')}</p>
      </div>
      <OperatingTabs />
      <div className="part">
        <div className="row" role="search">
          <input type="search" className="input kb-find" value={find} aria-label={t('set.find')} placeholder={t('set.find')} onChange={(e) => setParams({ find: e.target.value }, true)} />
          <label className="check"><input type="checkbox" checked={set} onChange={(e) => setParams({ only: e.target.checked ? 'set' : null }, true)} />{t('set.only')}</label>
          <span className="quiet small end" role="status">{loaded.data ? t('set.count', { shown: shown.length, all: all.length }) : ''}</span>
        </div>
        {loaded.error ? <Failure error={loaded.error} again={loaded.again} /> : null}
        {!loaded.data && !loaded.error ? <Skeleton rows={4} /> : null}
        {loaded.data && shown.length === 0 ? <p className="blank">{t('set.none')}</p> : null}
        {shown.length > 0 ? <Table settings={shown} /> : null}
      </div>
    </div>
  )
}

/** Every word that is looked for is somewhere in what is told of the setting. */
function matches(s: Setting, find: string): boolean {
  const text = `${s.key} ${s.value} ${s.about} ${s.variable} ${s.flag ?? ''}`.toLowerCase()
  return find.toLowerCase().split(/\s+/).every((word) => text.includes(word))
}

function Table({ settings }: { settings: Setting[] }) {
  const t = useText()
  return (
    <div className="card scroll" tabIndex={0} role="region" aria-label={t('nav.settings')}>
      <table className="grid-table settings-table">
        <thead><tr>{(['name', 'value', 'source', 'does'] as const).map((c) => <th key={c} scope="col">{t(`set.${c}`)}</th>)}</tr></thead>
        <tbody>
          {settings.map((s) => (
            <tr key={s.key}>
              <th scope="row"><span className="mono setting-name">{s.key}</span></th>
              <td className="mono value">{s.value || <span className="quiet">–</span>}</td>
              <td className="set-by"><span className={`tag ${s.source === 'default' ? '' : 'good'}`}>{t(`set.from.${s.source}` as Key)}</span></td>
              <td>
                {s.about}
                <span className="quiet small kb-id">{t('set.accepts', { what: s.accept })}{s.default && s.source !== 'default' ? ` · ${t('set.default', { value: s.default })}` : ''}</span>
                <span className="quiet mono kb-id">{s.variable}{s.flag ? ` · --${s.flag}` : ''}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
