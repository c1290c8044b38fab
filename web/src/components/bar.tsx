import { Suspense, useEffect, useRef, useState } from 'react'
import { guideAt, useLanguage, type Key, type Language } from '../lib/i18n'
import { localeOf } from '../lib/languages'
import { paletteKey } from '../lib/keys'
import mark from '../mark.svg'
import { later } from '../lib/later'
import { applyTheme, theme, type Theme } from '../lib/theme'
import { Icon } from './icons'
import { Link } from './link'

/** Loaded when it is asked for, as most gateways ask for no key. */
const KeyDialog = later(() => import('./key-dialog'))

/** A page as the head names it. */
export type Entry = { path: string; name: Key }

/** The head of every page: where one is, language, theme, key. */
export function Bar({ pages, path }: { pages: Entry[]; path: string }) {
  const { t, language, setLanguage } = useLanguage()
  const [chosen, setChosen] = useState(theme)
  const [asking, setAsking] = useState(false)
  useEffect(() => {
    const ask = () => setAsking(true)
    addEventListener('hybridge:unauthenticated', ask)
    return () => removeEventListener('hybridge:unauthenticated', ask)
  }, [])
  const nav = useRef<HTMLElement>(null)
  useEffect(() => {
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [path])
  const themes: Theme[] = ['system', 'light', 'dark']
  const next = themes[(themes.indexOf(chosen) + 1) % themes.length] ?? 'system'
  const other: Language = language === 'en' ? 'zh' : 'en'
  return (
    <header className="bar">
      <Link to="/" className="brand">
        <img src={mark} width="22" height="22" alt="" />
        Hybridge
      </Link>
      <nav ref={nav} aria-label={t('nav.main')}>
        {pages.map((p) => (
          <Link key={p.path} to={p.path} aria-current={p.path === path ? 'page' : undefined}>
            {t(p.name)}
          </Link>
        ))}
        <a href="/docs">API</a>
        <a href={guideAt(language)}>{t('nav.guide')}</a>
      </nav>
      <div className="tools">
        <button type="button" className="tool jump" aria-label={t('keys.palette')} title={t('keys.palette')} onClick={() => dispatchEvent(new Event('hybridge:palette'))}>
          <Icon name="search" />
          <kbd>{paletteKey}</kbd>
        </button>
        <button type="button" className="tool" lang={localeOf(other)} onClick={() => setLanguage(other)}>
          {other === 'zh' ? '中文' : 'English'}
        </button>
        <button
          type="button"
          className="tool"
          aria-label={`${t('app.theme')}: ${t(`app.theme.${chosen}`)}`}
          title={`${t('app.theme')}: ${t(`app.theme.${chosen}`)}`}
          onClick={() => (applyTheme(next), setChosen(next))}
        >
          <Icon name={chosen === 'system' ? 'system' : chosen === 'light' ? 'sun' : 'moon'} />
        </button>
        <button type="button" className="tool" aria-label={t('app.key')} title={t('app.key')} onClick={() => setAsking(true)}>
          <Icon name="key" />
        </button>
      </div>
      {asking ? <Suspense fallback={null}><KeyDialog close={() => setAsking(false)} /></Suspense> : null}
    </header>
  )
}
