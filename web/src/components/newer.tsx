import { useLanguage, useText } from '../lib/i18n'
import { ApiError, call } from '../lib/api'
import { localeOf } from '../lib/languages'
import { useLoad } from '../lib/load'
import { Failure, Notice, Skeleton } from './notice'
import type { Version } from './versions'

/** Whether an error says that another version is in use than the one that the page has. */
export const isOvertaken = (error: Error | undefined): error is ApiError => error instanceof ApiError && error.status === 409 && error.field === 'base_version'

interface Props {
  error: ApiError
  /** What was edited, as the gateway has it. */
  path: string
  load: () => void
  /** Saves what is on the page over the version that is in use by now; left out where nothing on it is unsaved. */
  over?: (base: number) => void
}

/** Somebody saved another version than the one on the page: whose it is, and the ways on. Nothing on the page is lost. */
export function Newer({ error, path, load, over }: Props) {
  const t = useText()
  const locale = localeOf(useLanguage().language)
  const newest = useLoad(['newest', path, error.detail], (signal) => call<Version>('GET', path, undefined, signal).catch((e: unknown) => {
    if (e instanceof ApiError && e.status === 404) return {} as Version // it was deleted
    throw e
  }))
  if (newest.error) return <Failure error={newest.error} again={newest.again} />
  if (!newest.data) return <Skeleton rows={1} />
  const { version = 0, author, created_at, comment } = newest.data
  if (version === 0) {
    return (
      <Notice title={t('conflict.gone')} tone="error">
        <p>{t('conflict.gone.about')}</p>
        {over ? <p className="row"><button type="button" className="button" onClick={() => over(0)}>{t('conflict.anew')}</button></p> : null}
      </Notice>
    )
  }
  const when = created_at ? new Date(created_at).toLocaleString(locale, { dateStyle: 'medium', timeStyle: 'short' }) : ''
  return (
    <Notice title={author ? t('conflict.by', { version, author, when }) : t('conflict.at', { version, when })} tone="error">
      {comment ? <p className="quiet">{comment}</p> : null}
      <p>{t(over ? 'conflict.about' : 'conflict.nothing')}</p>
      <p className="row">
        <button type="button" className="button" onClick={load}>{t('conflict.load', { version })}</button>
        {over ? <button type="button" className="button" onClick={() => over(version)}>{t('conflict.over')}</button> : null}
      </p>
    </Notice>
  )
}

/** What was on the page before a newer version was loaded, to be put back. */
export function Aside({ back }: { back: () => void }) {
  const t = useText()
  return (
    <Notice title={t('conflict.loaded')} tone="good">
      <p className="row"><button type="button" className="button" onClick={back}>{t('conflict.back')}</button></p>
    </Notice>
  )
}
