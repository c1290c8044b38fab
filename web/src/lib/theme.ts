export type Theme = 'system' | 'light' | 'dark'
const slot = 'hybridge.theme'

export function theme(): Theme {
  const kept = localStorage.getItem(slot)
  return kept === 'light' || kept === 'dark' ? kept : 'system'
}

export function applyTheme(chosen: Theme = theme()) {
  localStorage.setItem(slot, chosen)
  if (chosen === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = chosen
}
