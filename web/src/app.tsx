import { lazy, Suspense, useEffect, useRef } from 'react'
import { Bar } from './components/bar'
import { Skeleton } from './components/notice'
import { useText, type Key } from './lib/i18n'
import { navigate, usePath } from './lib/url'
import { SearchPage } from './pages/search'

export const pages: { path: string; name: Key; Page: React.ComponentType }[] = [
  { path: '/', name: 'nav.search', Page: SearchPage },
  { path: '/compare', name: 'nav.compare', Page: lazy(() => import('./pages/compare')) },
  { path: '/knowledge-bases', name: 'nav.bases', Page: lazy(() => import('./pages/bases')) },
  { path: '/mappings', name: 'nav.mappings', Page: lazy(() => import('./pages/mappings')) },
  { path: '/synonyms', name: 'nav.synonyms', Page: lazy(() => import('./pages/synonyms')) },
  { path: '/playground', name: 'nav.playground', Page: lazy(() => import('./pages/playground')) },
]

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
      <Bar path={path} />
      <main id="main" ref={main} tabIndex={-1}>
        <Suspense fallback={<div className="page"><Skeleton /></div>}>{page ? <page.Page key={path} /> : <NotFound />}</Suspense>
      </main>
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

/** A link within the application; with a modifier key it is an ordinary one. */
export function Link({ to, children, ...rest }: { to: string } & React.AnchorHTMLAttributes<HTMLAnchorElement>) {
  return (
    <a
      href={to}
      {...rest}
      onClick={(e) => {
        rest.onClick?.(e)
        if (e.defaultPrevented || e.metaKey || e.ctrlKey || e.shiftKey || e.button !== 0) return
        e.preventDefault()
        navigate(to)
      }}
    >
      {children}
    </a>
  )
}
