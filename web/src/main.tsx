import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app'
import { chosen, LanguageProvider, textsIn } from './lib/i18n'
import { loads } from './lib/load'
import { applyTheme } from './lib/theme'
import './styles/base.css'
import './styles/search.css'

applyTheme()
const root = document.getElementById('root')
if (root) {
  void textsIn(chosen()).then((texts) => createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={loads}>
        <LanguageProvider texts={texts}>
          <App />
        </LanguageProvider>
      </QueryClientProvider>
    </StrictMode>,
  ), () => root.append('Hybridge: the texts of this page did not load; load it again. 页面文字未能载入，请刷新。'))
}
