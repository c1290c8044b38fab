import { parse } from 'regexparam'
import type { ComponentType } from 'react'
import type { EngineKnowledgeBase } from './api/schema'
import type { Entry } from './components/bar'
import { hasMapping } from './lib/bases'
import type { Key } from './lib/i18n'
import { later } from './lib/later'
import { SearchPage } from './pages/search'

/**
 * A page, and what its address may name: path is a pattern, as /judge/:list, whose
 * parts usePlace gives. A page under another one is not in the head, where that one is marked.
 */
export interface PageEntry extends Entry {
  under?: string
  Page: ComponentType
  /** The parameter that names knowledge bases, kb unless said. */
  names?: string
  /** Which knowledge bases it is about, all unless said. */
  suits?: (b: EngineKnowledgeBase) => boolean
  /** What to do when there is none of these; left out, the page does without. */
  without?: Key
  /** What its address means when it names none; left out, the first there is. */
  all?: Key
}

/** The pages; all but the first are loaded when they are opened. */
export const pages: PageEntry[] = [
  { path: '/', name: 'nav.search', Page: SearchPage, all: 'base.all' },
  { path: '/compare', name: 'nav.compare', Page: later(() => import('./pages/compare')), without: 'compare.nobase.about', all: 'base.all' },
  { path: '/evaluate', name: 'nav.evaluate', Page: later(() => import('./pages/evaluate')), without: 'eval.nobase.about', all: 'base.all' },
  { path: '/evaluate/:evaluation', name: 'nav.evaluate', under: '/evaluate', Page: later(() => import('./pages/evaluation')) },
  { path: '/judge/:list', name: 'nav.judge', under: '/evaluate', Page: later(() => import('./pages/judge')) },
  { path: '/tune/:tuning', name: 'nav.tune', under: '/evaluate', Page: later(() => import('./pages/tuning')) },
  { path: '/analytics', name: 'eval.view.analytics', under: '/evaluate', Page: later(() => import('./pages/analytics')), all: 'base.all' },
  { path: '/experiments', name: 'eval.view.experiments', under: '/evaluate', Page: later(() => import('./pages/experiments')) },
  { path: '/experiments/:experiment', name: 'eval.view.experiments', under: '/evaluate', Page: later(() => import('./pages/experiment')) },
  { path: '/knowledge-bases', name: 'nav.bases', Page: later(() => import('./pages/bases')), names: 'documents', all: 'base.all' },
  { path: '/knowledge-bases/:kb', name: 'nav.bases', under: '/knowledge-bases', Page: later(() => import('./pages/base')) },
  { path: '/documents/:kb/:document', name: 'doc.name', under: '/knowledge-bases', Page: later(() => import('./pages/document')) },
  { path: '/mappings', name: 'nav.mappings', Page: later(() => import('./pages/mappings')), suits: hasMapping, without: 'map.nobase.about' },
  { path: '/synonyms', name: 'nav.synonyms', Page: later(() => import('./pages/synonyms')), all: 'base.all' },
  { path: '/rules', name: 'nav.rules', Page: later(() => import('./pages/rules')), without: 'rules.nobase.about' },
  { path: '/presets', name: 'nav.presets', Page: later(() => import('./pages/presets')) },
  { path: '/keys', name: 'nav.keys', Page: later(() => import('./pages/keys')) },
  { path: '/settings', name: 'nav.settings', under: '/keys', Page: later(() => import('./pages/settings')) },
  { path: '/audit', name: 'nav.audit', under: '/keys', names: 'base', Page: later(() => import('./pages/audit')), all: 'base.all' },
  { path: '/playground', name: 'nav.playground', Page: later(() => import('./pages/playground')), without: 'play.nobase.about' },
]

const patterns = pages.map((page) => ({ page, ...parse(page.path) }))

/** The page of a path, and what the path names; null: there is none. */
export function pageAt(path: string): { page: PageEntry; names: Record<string, string> } | null {
  for (const { page, keys, pattern } of patterns) {
    const found = pattern.exec(path)
    if (found) return { page, names: Object.fromEntries(keys.map((key, i) => [key, decode(found[i + 1] ?? '')])) }
  }
  return null
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part // no valid escape: the name as it stands
  }
}
