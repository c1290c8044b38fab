import type { FallbackProps } from 'react-error-boundary'
import { useText } from '../lib/i18n'
import { NotLoaded } from '../lib/later'
import { useLoad } from '../lib/load'
import { serving } from '../lib/serving'

/** What is shown in place of a page that did not load, or that failed while it was drawn. */
export function PageFailed({ error, resetErrorBoundary }: FallbackProps) {
  const t = useText()
  const served = useLoad(['served'], serving)
  const kind = error instanceof NotLoaded ? 'load' : 'script'
  const why = served.error ? t('error.unreachable') : served.data === 'another' ? t('failed.updated') : t(`failed.${kind}.about`)
  return (
    <div className="page blank" role="alert">
      <h1>{t(`failed.${kind}`)}</h1>
      {served.loading ? null : <p>{why}</p>}
      <p className="row center">
        {served.data === 'another' ? null : (
          <button type="button" className="button primary" onClick={resetErrorBoundary}>{t('app.retry')}</button>
        )}
        {served.data ? (
          <button type="button" className={served.data === 'another' ? 'button primary' : 'button'} onClick={() => location.reload()}>
            {t('app.reload')}
          </button>
        ) : null}
      </p>
      <details>
        <summary>{t('failed.details')}</summary>
        <p className="mono">{error instanceof Error ? error.message : String(error)}</p>
      </details>
    </div>
  )
}
