import { Dialog } from '@ariakit/react'
import { useState } from 'react'
import { api } from '../lib/api'
import { documentAt, useDocumentsNamed } from '../lib/documents'
import { documentName } from '../lib/format'
import { guideAt, useLanguage } from '../lib/i18n'
import { useLoad } from '../lib/load'
import { applyTheme, type Theme } from '../lib/theme'
import { navigate } from '../lib/url'
import type { Entry } from './bar'
import { baseAt } from './base/tabs'
import { Picks, type Pick } from './picks'

/** Everything one can go to or do, by typing. */
export default function Palette({ pages, close, help }: { pages: Entry[]; close: () => void; help: () => void }) {
  const { t, language, setLanguage } = useLanguage()
  const [typed, setTyped] = useState('')
  const bases = useLoad(['palette bases'], async (signal) => (await api.bases(signal)).knowledge_bases ?? [])
  const named = useDocumentsNamed(typed, typed.trim() ? (bases.data ?? []).map((b) => b.id) : null)
  const sought = typed.trim().toLowerCase()
  const fits = (picks: Pick[]) => picks.filter((p) => `${p.text} ${p.note ?? ''}`.toLowerCase().includes(sought))
  const go = (url: string) => () => (close(), navigate(url))
  const themes: Theme[] = ['system', 'light', 'dark']
  const other = language === 'en' ? 'zh' : 'en'
  const groups = [
    { label: t('keys.pages'), picks: fits([
      ...pages.map((p) => ({ key: p.path, text: t(p.name), act: go(p.path) })),
      { key: 'guide', text: t('nav.guide'), act: () => location.assign(guideAt(language)) },
      { key: 'api', text: 'API', act: () => location.assign('/docs') },
    ]) },
    { label: t('nav.bases'), picks: fits((bases.data ?? []).map((b) => ({
      key: b.id, text: b.name || b.id, note: b.name && b.name !== b.id ? b.id : undefined, act: go(baseAt(b.id)),
    }))) },
    { label: t('keys.documents'), picks: (named.data ?? []).map((d) => ({
      key: `${d.knowledge_base}/${d.document_id}`, text: documentName(d), note: d.knowledge_base, act: go(documentAt(d.knowledge_base, d.document_id)),
    })) },
    { label: t('keys.actions'), picks: fits([
      { key: 'language', text: other === 'zh' ? '中文' : 'English', note: t('app.language'), act: () => (setLanguage(other), close()) },
      ...themes.map((theme) => ({ key: theme, text: t(`app.theme.${theme}`), note: t('app.theme'), act: () => (applyTheme(theme), close()) })),
      { key: 'keys', text: t('keys.title'), note: '?', act: help },
    ]) },
    { label: t('nav.search'), picks: sought ? [{ key: 'search', text: t('keys.search', { q: typed.trim() }), act: go(`/?q=${encodeURIComponent(typed.trim())}`) }] : [] },
  ]
  return (
    <Dialog open onClose={close} className="dialog palette" aria-label={t('keys.palette')} backdrop={<div className="backdrop" />}>
      <Picks label={t('keys.type')} typed={typed} type={setTyped} groups={groups} loading={bases.loading || named.loading} />
    </Dialog>
  )
}
