import { lazy } from 'react'
import type { Entry } from './components/bar'
import { SearchPage } from './pages/search'

/** The pages; all but the first are loaded when they are opened. */
export const pages: (Entry & { Page: React.ComponentType })[] = [
  { path: '/', name: 'nav.search', Page: SearchPage },
  { path: '/compare', name: 'nav.compare', Page: lazy(() => import('./pages/compare')) },
  { path: '/knowledge-bases', name: 'nav.bases', Page: lazy(() => import('./pages/bases')) },
  { path: '/mappings', name: 'nav.mappings', Page: lazy(() => import('./pages/mappings')) },
  { path: '/synonyms', name: 'nav.synonyms', Page: lazy(() => import('./pages/synonyms')) },
  { path: '/playground', name: 'nav.playground', Page: lazy(() => import('./pages/playground')) },
]
