import { useState } from 'react'
import type { KeyList, KeysRecord, MadeKey } from '../api/schema'
import { Modal } from '../components/base-dialogs'
import { Confirm } from '../components/confirm'
import { MakeKey, Secret } from '../components/make-key'
import { Failure, Notice, Skeleton } from '../components/notice'
import { OperatingTabs } from '../components/operating-tabs'
import { call, key } from '../lib/api'
import { useLanguage, useText, type Translate } from '../lib/i18n'
import { localeOf } from '../lib/languages'
import { useLoad } from '../lib/load'
import '../styles/evaluate.css'
import '../styles/keys.css'
import '../styles/playground.css'

const path = (name: string) => `/v1/keys/${encodeURIComponent(name)}`

/** The stored keys of the tenant. */
export default function KeysPage() {
  const t = useText()
  const loaded = useLoad(['keys'], (signal) => call<KeyList>('GET', '/v1/keys', undefined, signal))
  const [making, setMaking] = useState(false)
  const [made, setMade] = useState<MadeKey>()
  const [error, setError] = useState<Error>()
  const list = loaded.data?.keys ?? []
  const done = (m: MadeKey) => {
    setMaking(false)
    setMade(m)
    // The gateway asks for a key from now on: the first one made is the one to go on with.
    if (list.length === 0 && !key.get()) key.set(m.key)
    loaded.again()
  }
  const act = (method: string, address: string) =>
    call<MadeKey | undefined>(method, address).then((m) => (m ? setMade(m) : undefined, setError(undefined), loaded.again()), setError)
  return (
    <div className="page">
      <div className="page-head">
        <h1>{t('apikeys.title')}</h1>
        <button type="button" className="button primary end" disabled={!loaded.data} onClick={() => setMaking(true)}>{t('apikeys.make')}</button>
        <p>{t('apikeys.about')}</p>
      </div>
      <OperatingTabs />
      {error ? <Failure error={error} /> : null}
      {loaded.error ? <Failure error={loaded.error} again={loaded.again} /> : null}
      {!loaded.data && !loaded.error ? <Skeleton rows={3} /> : null}
      {loaded.data && list.length === 0 ? <Notice title={t('apikeys.none')}><p>{t('apikeys.none.about')}</p></Notice> : null}
      {list.length > 0 ? <Table list={list} act={act} /> : null}
      <Modal title={t('apikeys.make')} open={making} close={() => setMaking(false)}>
        {making ? <MakeKey first={list.length === 0} done={done} close={() => setMaking(false)} /> : null}
      </Modal>
      <Modal title={t('apikeys.secret', { name: made?.record.name ?? '' })} open={made !== undefined} close={() => setMade(undefined)}>
        {made ? <Secret made={made} close={() => setMade(undefined)} /> : null}
      </Modal>
    </div>
  )
}

function Table({ list, act }: { list: KeysRecord[]; act: (method: string, address: string) => Promise<void> }) {
  const { t, language } = useLanguage()
  const when = (time: string | null | undefined) => (time ? new Date(time).toLocaleString(localeOf(language), { dateStyle: 'medium', timeStyle: 'short' }) : '—')
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={t('apikeys.title')}>
      <table className="grid-table key-table">
        <thead>
          <tr>{(['name', 'roles', 'bases', 'made', 'used', 'ends'] as const).map((c) => <th key={c} scope="col">{t(`apikeys.${c}`)}</th>)}<th><span className="visually-hidden">{t('apikeys.actions')}</span></th></tr>
        </thead>
        <tbody>
          {list.map((k) => {
            const state = stateOf(k, t)
            return (
              <tr key={k.name} className={state ? 'over' : undefined}>
                <th scope="row">{k.name}{k.filter ? <code className="filter" title={t('apikeys.filter')}>{JSON.stringify(k.filter)}</code> : null}</th>
                <td>{(k.roles ?? []).map((r) => <span key={r} className="tag">{t(`apikeys.role.${r}` as 'apikeys.role.search')}</span>)}</td>
                <td>{k.knowledge_bases === null ? t('apikeys.bases.all') : (k.knowledge_bases ?? []).join(', ') || t('apikeys.bases.no')}</td>
                <td>{when(k.created_at)}</td>
                <td>{when(k.last_used)}</td>
                <td>{state ? <span className="tag warn">{state}</span> : when(k.expires_at)}</td>
                <td>{k.revoked_at ? null : (
                  <span className="row">
                    <Confirm label={t('apikeys.rotate')} name={t('apikeys.rotate.name', { name: k.name })} about={t('apikeys.rotate.about')} act={() => act('POST', `${path(k.name)}/rotate`)} tone="compact" />
                    <Confirm label={t('apikeys.revoke')} name={t('apikeys.revoke.name', { name: k.name })} about={t('apikeys.revoke.about')} act={() => act('DELETE', path(k.name))} tone="danger compact" />
                  </span>
                )}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

/** Why a key opens nothing any more; '' while it does. */
function stateOf(k: KeysRecord, t: Translate): string {
  if (k.revoked_at) return t('apikeys.revoked')
  return k.expires_at && new Date(k.expires_at) < new Date() ? t('apikeys.expired') : ''
}
