import { useEffect, useRef, useState } from 'react'
import type { EngineMigration, MappingStatus } from '../api/schema'
import { call } from '../lib/api'
import { number, percent } from '../lib/format'
import { nameOf, useText, type Key } from '../lib/i18n'
import { useJob } from '../lib/jobs'
import { useLoad } from '../lib/load'
import { Confirm } from './confirm'
import { Failure, Notice } from './notice'
import { Pipeline, stepsOf } from './pipeline'
import { Term } from './term'

const tones: Record<string, string> = { done: 'good', switched: 'good', running: 'warn', failed: 'bad' }

/** How the last migration of a knowledge base stands; turn changes when something was done to it. */
export const useStatus = (kb: string, turn: number) =>
  useLoad(['migration', kb, turn], (signal) => call<MappingStatus>('GET', `/v1/mappings/${encodeURIComponent(kb)}/status`, undefined, signal))

/** A migration under way, or the last one: how far it is and what may be done. */
export function MigrationPanel({ kb, turn, changed }: { kb: string; turn: number; changed: () => void }) {
  const t = useText()
  const path = `/v1/mappings/${encodeURIComponent(kb)}`
  const status = useStatus(kb, turn)
  const [error, setError] = useState<Error>()
  const migration = status.data?.migration
  const running = status.data?.state === 'running'
  const progress = useJob(running ? migration?.id : undefined, status.again)
  useEnd(running, changed)
  if (status.error) return <Failure error={status.error} again={status.again} />
  if (!status.data || !migration) return null
  const post = async (what: string, body: unknown = undefined) => {
    try {
      await call('POST', `${path}/${what}`, body)
      setError(undefined)
    } catch (e) {
      setError(e as Error)
    }
    changed()
  }
  return (
    <section className="part card padded" aria-label={t('map.status')}>
      <p className="row" role="status">
        <strong>{t('map.status')}</strong>
        <span className={`tag ${tones[status.data.state] ?? ''}`}>{t(`map.state.${status.data.state}` as Key)}</span>
        <span className="mono quiet">{t('map.indexes', { from: migration.from_index, to: migration.to_index ?? '…' })}</span>
      </p>
      <Pipeline steps={stepsOf(migration, running ? progress : undefined)} migration={migration} job={progress} />
      {migration.error ? (
        <Notice title={migration.error.detail} tone="error">
          <p>{t('map.wayout', { text: migration.error.way_out })}</p>
        </Notice>
      ) : null}
      <Outcome migration={migration} />
      {error ? <Failure error={error} /> : null}
      <Actions status={status.data} migration={migration} post={post} />
      {running ? <Throttle set={(n) => void post('throttle', { requests_per_second: n })} /> : null}
    </section>
  )
}

/** Tells once when something that ran no longer does, however that was found out. */
function useEnd(running: boolean, ended: () => void) {
  const ran = useRef(false)
  useEffect(() => {
    if (ran.current && !running) ended()
    ran.current = running
    // `ended` is new on every draw and does the same.
  }, [running])
}

function Outcome({ migration }: { migration: EngineMigration }) {
  const t = useText()
  const checks = migration.checks ?? []
  const gate = migration.gate
  if (checks.length === 0 && !gate) return null
  const passed = (ok: boolean) => <span className={`tag ${ok ? 'good' : 'bad'}`}>{t(ok ? 'map.passed' : 'map.refused')}</span>
  return (
    <ul className="checks">
      {checks.map((c) => (
        <li key={c.name}>{passed(c.passed)} <strong>{nameOf(t, 'map.check', c.name)}</strong> <span className="quiet">{c.detail}</span></li>
      ))}
      {gate ? (
        <li>
          {passed(gate.passed)} <strong><Term name="gate">{t('map.gate.result')}</Term></strong>{' '}
          <span className="quiet">
            {gate.detail} {t('compare.overlap', { k: gate.queries })} {percent(gate.overlap)}
            {gate.judged > 0 ? ` · nDCG ${number(gate.ndcg_before)} → ${number(gate.ndcg_after)}` : ''}
          </span>
        </li>
      ) : null}
    </ul>
  )
}

function Actions({ status, migration, post }: { status: MappingStatus; migration: EngineMigration; post: (what: string) => Promise<void> }) {
  const t = useText()
  const about: Record<string, string> = {
    cancel: t('map.confirm.cancel', { index: migration.from_index }),
    rollback: t('map.confirm.rollback', { index: migration.from_index }),
    cleanup: t('map.confirm.cleanup', { index: migration.from_index }),
  }
  const actions = (status.actions ?? []).filter((a) => ['cancel', 'resume', 'rollback', 'cleanup'].includes(a))
  if (actions.length === 0) return null
  return (
    <p className="row">
      {actions.map((a) =>
        about[a] ? (
          <Confirm key={a} label={t(`map.action.${a}` as Key)} about={about[a]} act={() => post(a)} tone={a === 'resume' ? '' : 'danger'} />
        ) : (
          <button key={a} type="button" className="button" onClick={() => void post(a)}>{t(`map.action.${a}` as Key)}</button>
        ),
      )}
    </p>
  )
}

function Throttle({ set }: { set: (n: number) => void }) {
  const t = useText()
  return (
    <form className="row" onSubmit={(e) => (e.preventDefault(), set(Number(new FormData(e.currentTarget).get('n'))))}>
      <label htmlFor="throttle" className="quiet small">{t('map.throttle')}</label>
      <input id="throttle" name="n" type="number" min="0" defaultValue="0" className="input short" />
      <button type="submit" className="button compact">{t('map.throttle.set')}</button>
    </form>
  )
}
