import { useState } from 'react'
import type { MadeKey, NewKey } from '../api/schema'
import { call } from '../lib/api'
import { useChoices } from '../lib/bases'
import { useText } from '../lib/i18n'
import { Code, Copy } from './code'
import { Field, Select } from './field'
import { Failure, Notice } from './notice'

const roles = ['search', 'write', 'manage', 'operate'] as const

/** Days that a key may live; '' is for good. */
const lives = ['', '7', '30', '90', '365']

/** Makes a key; the first one locks the gateway, so it must be able to make others. */
export function MakeKey({ first, done, close }: { first: boolean; done: (m: MadeKey) => void; close: () => void }) {
  const t = useText()
  const bases = useChoices().data?.bases ?? []
  const [life, setLife] = useState(first ? '' : '90')
  const [error, setError] = useState<Error>()
  const [busy, setBusy] = useState(false)
  const make = async (form: FormData) => {
    setBusy(true)
    const those = form.getAll('kb').map(String)
    const body: NewKey = {
      name: String(form.get('name')).trim(),
      roles: form.getAll('role').map(String),
      ...(those.length > 0 ? { knowledge_bases: those } : {}),
      ...(life ? { expires_at: new Date(Date.now() + Number(life) * 86_400_000).toISOString() } : {}),
    }
    await call<MadeKey>('POST', '/v1/keys', body).then(done, setError)
    setBusy(false)
  }
  return (
    <form className="make-key" onSubmit={(e) => (e.preventDefault(), void make(new FormData(e.currentTarget)))}>
      {first ? <Notice title={t('apikeys.first')}><p>{t('apikeys.first.about')}</p></Notice> : null}
      {error ? <Failure error={error} /> : null}
      <Field label={t('apikeys.name')}>{(id) => <input id={id} name="name" className="input" required maxLength={64} autoComplete="off" autoFocus />}</Field>
      <fieldset>
        <legend>{t('apikeys.roles')}</legend>
        {roles.map((role) => (
          <label key={role} className="check">
            <input type="checkbox" name="role" value={role} defaultChecked={first || role === 'search'} />
            <span>{t(`apikeys.role.${role}`)} <span className="quiet">{t(`apikeys.role.${role}.about`)}</span></span>
          </label>
        ))}
      </fieldset>
      {bases.length > 0 && !first ? (
        <fieldset>
          <legend>{t('apikeys.bases.limit')}</legend>
          {bases.map((b) => (
            <label key={b.id} className="check">
              <input type="checkbox" name="kb" value={b.id} />
              <span className="clip">{b.name || b.id}</span>
            </label>
          ))}
        </fieldset>
      ) : null}
      <Select label={t('apikeys.life')} value={life} choose={setLife}
        options={lives.map((days) => ({ value: days, label: days ? t('apikeys.life.days', { days }) : t('apikeys.life.ever') }))} />
      <p className="row end">
        <button type="button" className="button" onClick={close}>{t('app.cancel')}</button>
        <button type="submit" className="button primary" disabled={busy}>{t('apikeys.make')}</button>
      </p>
    </form>
  )
}

/** The key itself, which is shown this once. */
export function Secret({ made, close }: { made: MadeKey; close: () => void }) {
  const t = useText()
  return (
    <>
      <p>{t('apikeys.secret.about')}</p>
      <Code text={made.key} label={t('apikeys.secret', { name: made.record.name })} />
      <p className="row end">
        <Copy text={() => made.key} label={t('app.copy')} />
        <button type="button" className="button primary" onClick={close}>{t('app.close')}</button>
      </p>
    </>
  )
}
