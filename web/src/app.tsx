import { Suspense, useEffect, useRef } from 'react'
import { Bar } from './components/bar'
import { Link } from './components/link'
import { Skeleton } from './components/notice'
import { UploadTray } from './components/upload-tray'
import { useText } from './lib/i18n'
import { usePath } from './lib/url'
import { pages } from './routes'

export function App() {
  const t = useText()
  const path = usePath()
  const main = useRef<HTMLElement>(null)
  const page = pages.find((p) => p.path === path)
  const name = page ? t(page.name) : t('app.notfound')
  useEffect(() => {
    document.title = `${name} · Hybridge`
  }, [name])
  const first = useRef(true)
  useEffect(() => {
    if (!first.current) main.current?.focus({ preventScroll: false })
    first.current = false
  }, [path])
  return (
    <>
      <a className="skip" href="#main" onClick={(e) => (e.preventDefault(), main.current?.focus())}>
        {t('app.skip')}
      </a>
      <Bar pages={pages} path={path} />
      <main id="main" ref={main} tabIndex={-1}>
        <Suspense fallback={<div className="page"><Skeleton /></div>}>{page ? <page.Page key={path} /> : <NotFound />}</Suspense>
      </main>
      <UploadTray />
    </>
  )
}

function NotFound() {
  const t = useText()
  return (
    <div className="page blank">
      <h1>{t('app.notfound')}</h1>
      <p>
        <Link to="/">{t('app.notfound.go')}</Link>
      </p>
    </div>
  )
}
