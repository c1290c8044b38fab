import { Suspense, useEffect, useMemo, useRef } from 'react'
import { ErrorBoundary } from 'react-error-boundary'
import { Bar } from './components/bar'
import { Keys } from './components/keys'
import { Link } from './components/link'
import { NeedsBases } from './components/needs-bases'
import { Skeleton } from './components/notice'
import { PageFailed } from './components/page-failed'
import { ChoicesProvider } from './lib/bases'
import { UploadTray } from './components/upload-tray'
import { guideAt, useLanguage, useText } from './lib/i18n'
import { loadAnew } from './lib/later'
import { Place, usePath, useQuery } from './lib/url'
import { pageAt, pages, type PageEntry } from './routes'

const heads = pages.filter((p) => !p.under)
/** Where one can go by a name alone. */
const places = pages.filter((p) => !p.path.includes(':'))

export function App() {
  const t = useText()
  const path = usePath()
  const query = useQuery()
  const main = useRef<HTMLElement>(null)
  const found = useMemo(() => pageAt(path), [path])
  const page = found?.page
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
      <Bar pages={heads} path={page?.under ?? page?.path ?? path} />
      <main id="main" ref={main} tabIndex={-1}>
        <ErrorBoundary FallbackComponent={PageFailed} resetKeys={[path, query]} onReset={loadAnew}>
          {found ? <Place value={found.names}><Shown page={found.page} path={path} /></Place> : <NotFound />}
        </ErrorBoundary>
      </main>
      <UploadTray />
      <Keys pages={places} />
    </>
  )
}

function Shown({ page, path }: { page: PageEntry; path: string }) {
  return (
    <ChoicesProvider path={page.path}>
      <NeedsBases page={page}>
        <Suspense fallback={<div className="page"><Skeleton /></div>}><page.Page key={path} /></Suspense>
      </NeedsBases>
    </ChoicesProvider>
  )
}

function NotFound() {
  const { t, language } = useLanguage()
  return (
    <div className="page blank">
      <h1>{t('app.notfound')}</h1>
      <p>
        <Link to="/">{t('app.notfound.go')}</Link> · <a href={guideAt(language)}>{t('app.guide')}</a>
      </p>
    </div>
  )
}
