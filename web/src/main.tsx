import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app'
import { chosen, LanguageProvider, loadLanguage } from './lib/i18n'
import { loads } from './lib/load'
import { applyTheme } from './lib/theme'
import './styles/base.css'
import './styles/search.css'

applyTheme()
const root = document.getElementById('root')
if (root) {
  void loadLanguage(chosen()).then(() => createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={loads}>
        <LanguageProvider>
          <App />
        </LanguageProvider>
      </QueryClientProvider>
    </StrictMode>,
  ))
}
