import type { ReactNode } from 'react'
import { ApiError } from '../lib/api'
import { useText } from '../lib/i18n'
import { Icon } from './icons'

/** Something the reader should know, without stopping them. */
export function Notice({ title, children, tone = 'warning' }: { title: ReactNode; children?: ReactNode; tone?: 'warning' | 'error' | 'good' }) {
  return (
    <div className={`notice ${tone}`} role={tone === 'error' ? 'alert' : 'status'}>
      <Icon name={tone === 'good' ? 'check' : 'warning'} />
      <div>
        <strong>{title}</strong>
        {children}
      </div>
    </div>
  )
}

/** An error of the gateway and what can be done about it. */
export function Failure({ error, again }: { error: Error; again?: () => void }) {
  const t = useText()
  const known = error instanceof ApiError ? error : null
  const detail = known?.code === 'unreachable' ? t('error.unreachable') : known?.status === 401 ? t('error.unauthenticated') : error.message
  return (
    <Notice title={t('error.title')} tone="error">
      <p>{detail}</p>
      {known?.field ? <p className="quiet">{t('error.field', { field: known.field })}</p> : null}
      <p className="row">
        {known?.status === 401 ? (
          <button type="button" className="button" onClick={() => dispatchEvent(new Event('hybridge:unauthenticated'))}>
            {t('error.enterkey')}
          </button>
        ) : null}
        {again ? (
          <button type="button" className="button" onClick={again}>
            {t('app.retry')}
          </button>
        ) : null}
      </p>
    </Notice>
  )
}

/** The shape of a list that is on its way. */
export function Skeleton({ rows = 4 }: { rows?: number }) {
  const t = useText()
  return (
    <div className="skeleton" role="status" aria-label={t('app.loading')}>
      {Array.from({ length: rows }, (_, i) => (
        <div key={i} />
      ))}
    </div>
  )
}
