import type { ReactNode } from 'react'
import { useText } from '../lib/i18n'
import { leave } from '../lib/url'

/** What the versions of synonyms, rules and presets have in common. */
export interface Version {
  version?: number
  created_at?: string
  author?: string
  comment?: string
}

interface Props<V extends Version> {
  list: V[]
  current: number
  title?: ReactNode
  /** What is said of one besides. */
  about?: (v: V) => string
  rollback: (version: number) => void
  /** Shows what differs from one. */
  compare?: (version: number) => void
}

/** The history of something that is saved, each a way back; asks first where something is not saved. */
export function Versions<V extends Version>({ list, current, title, about, rollback, compare }: Props<V>) {
  const t = useText()
  if (list.length === 0) return null
  return (
    <section>
      <h2>{title ?? t('syn.history')}</h2>
      <ul className="versions">
        {list.map((v) => {
          const version = v.version ?? 0
          return (
            <li key={version}>
              <strong>{t('syn.version', { version })}</strong>
              <span className="quiet">{v.created_at ? new Date(v.created_at).toLocaleString() : ''}</span>
              {about ? <span className="quiet">{about(v)}</span> : null}
              {v.author ? <span className="quiet">{v.author}</span> : null}
              {v.comment ? <span>{v.comment}</span> : null}
              {compare ? <button type="button" className="linkish" aria-label={t('syn.diff.with', { version })} onClick={() => compare(version)}>{t('syn.diff.short')}</button> : null}
              {version === current ? <span className="tag good end">{t('syn.inuse')}</span> : (
                <button type="button" className="button compact end" onClick={() => leave(() => rollback(version))}>{t('syn.rollback', { version })}</button>
              )}
            </li>
          )
        })}
      </ul>
    </section>
  )
}
