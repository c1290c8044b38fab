import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app'
import { LanguageProvider } from './lib/i18n'
import { applyTheme } from './lib/theme'
import './styles/base.css'
import './styles/search.css'

applyTheme()
const root = document.getElementById('root')
if (root) {
  createRoot(root).render(
    <StrictMode>
      <LanguageProvider>
        <App />
      </LanguageProvider>
    </StrictMode>,
  )
}
