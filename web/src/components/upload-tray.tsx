import { Suspense, useEffect, useState } from 'react'
import { seen, useKept } from '../lib/failures'
import { useText } from '../lib/i18n'
import { Failure } from './notice'
import { later } from '../lib/later'
import '../styles/tray.css'

// It is loaded with the first upload: most tabs have none.
const Uploads = later(() => import('./upload-list'))

/** What works, and what failed, in the corner of every page. Dialogs leave it in reach, by its id. */
export function UploadTray() {
  const [begun, setBegun] = useState(false)
  useEffect(() => {
    const begin = () => setBegun(true)
    addEventListener('hybridge:uploads', begin)
    return () => removeEventListener('hybridge:uploads', begin)
  }, [])
  return (
    <div id="tray">
      <Kept />
      {begun ? <Suspense fallback={null}><Uploads /></Suspense> : null}
    </div>
  )
}

function Kept() {
  const t = useText()
  return useKept().map((f, i) => (
    <section key={i} className="card kept" aria-label={t(f.about.key, f.about.values)}>
      <h2>{t(f.about.key, f.about.values)}</h2>
      <Failure error={f.error} />
      <button type="button" className="button compact" onClick={() => seen(f)}>{t('app.close')}</button>
    </section>
  ))
}
