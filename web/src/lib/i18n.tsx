import { createContext, useCallback, useContext, useEffect, useState, type ReactNode } from 'react'
import type en from '../i18n/en.json'

export type Key = keyof typeof en
type Dictionary = Record<Key, string>

export type Language = 'en' | 'zh'

/** Texts are loaded of the language that is shown, and of another one when it is chosen. */
const sources: Record<Language, () => Promise<{ default: Dictionary }>> = { en: () => import('../i18n/en.json'), zh: () => import('../i18n/zh.json') }
const dictionaries: Partial<Record<Language, Dictionary>> = {}

/** Has the texts of a language at hand. */
export async function loadLanguage(language: Language) {
  dictionaries[language] ??= (await sources[language]()).default
}
const slot = 'hybridge.language'

/** The language of the texts, the gateway's too. */
export function chosen(): Language {
  const kept = localStorage.getItem(slot)
  if (kept === 'en' || kept === 'zh') return kept
  return navigator.language.startsWith('zh') ? 'zh' : 'en'
}

/** The user guide in a language; the gateway serves it, not this application. */
export const guideAt = (language: Language) => `/guide/${language}/`

type Values = Record<string, string | number>
export type Translate = (key: Key, values?: Values) => string

const Context = createContext<{ language: Language; t: Translate; setLanguage: (l: Language) => void } | null>(null)

export function LanguageProvider({ children }: { children: ReactNode }) {
  const [language, setLanguage] = useState(chosen)
  useEffect(() => {
    document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en'
  }, [language])
  const t = useCallback<Translate>(
    (key, values) => dictionaries[language]![key].replace(/\{(\w+)\}/g, (_, name: string) => String(values?.[name] ?? '')),
    [language],
  )
  const choose = (l: Language) => void loadLanguage(l).then(() => {
    localStorage.setItem(slot, l)
    setLanguage(l)
  }, () => undefined) // the texts did not arrive: those that are there stay
  return <Context value={{ language, t, setLanguage: choose }}>{children}</Context>
}

export function useLanguage() {
  const value = useContext(Context)
  if (!value) throw new Error('LanguageProvider is missing')
  return value
}

/** The name of a code of the gateway; a code that is not known is its own name. One engine/code is of that engine. */
export const nameOf = (t: Translate, kind: string, code: string) => {
  const at = code.indexOf('/') + 1
  const key = `${kind}.${code.slice(at)}`
  return key in Object.values(dictionaries)[0]! ? code.slice(0, at).replace('/', ': ') + t(key as Key) : code
}

export const useText = () => useLanguage().t
