import { createContext, useCallback, useContext, useEffect, useState, type ReactNode } from 'react'
import type first from '../i18n/en.json'
import type pages from '../i18n/pages.en.json'
import { localeOf } from './languages'

export type Key = keyof typeof first | keyof typeof pages
type Dictionary = Record<Key, string>

/** The texts of a language in two files: those of the first page, and those of what is loaded later. */
const files: Record<Language, (() => Promise<{ default: Partial<Dictionary> }>)[]> = {
  en: [() => import('../i18n/en.json'), () => import('../i18n/pages.en.json')],
  zh: [() => import('../i18n/zh.json'), () => import('../i18n/pages.zh.json')],
}
const loaded: Record<Language, Partial<Dictionary>> = { en: {}, zh: {} }
let all = false

/** The texts of a language: of the first page, and of all when laterTexts was called. */
export async function textsIn(language: Language): Promise<Partial<Dictionary>> {
  await Promise.all(files[language].slice(0, all ? 2 : 1).map(async (load) => Object.assign(loaded[language], (await load()).default)))
  return loaded[language]
}

/** Puts the other texts of the chosen language beside those of the first page. */
export async function laterTexts() {
  all = true
  await textsIn(chosen())
}

export type Language = 'en' | 'zh'
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

/** Gives the texts of the chosen language, which are loaded already, to all below it. */
export function LanguageProvider({ texts, children }: { texts: Partial<Dictionary>; children: ReactNode }) {
  const [{ language, said }, setShown] = useState(() => ({ language: chosen(), said: texts }))
  useEffect(() => {
    document.documentElement.lang = localeOf(language)
  }, [language])
  const t = useCallback<Translate>(
    // A code of the gateway may have no text: it then stands for itself.
    (key, values) => (said[key] ?? key).replace(/\{(\w+)\}/g, (_, name: string) => String(values?.[name] ?? '')),
    [said],
  )
  const choose = async (l: Language) => {
    localStorage.setItem(slot, l)
    // A gateway that was upgraded meanwhile has them by another name.
    await textsIn(l).then((said) => setShown({ language: l, said }), () => location.reload())
  }
  return <Context value={{ language, t, setLanguage: (l) => void choose(l) }}>{children}</Context>
}

export function useLanguage() {
  const value = useContext(Context)
  if (!value) throw new Error('LanguageProvider is missing')
  return value
}

/** The name of a code of the gateway; a code that is not known is its own name. One engine/code is of that engine. */
export const nameOf = (t: Translate, kind: string, code: string) => {
  const at = code.indexOf('/') + 1
  const key = `${kind}.${code.slice(at)}` as Key
  const said = t(key)
  return said === key ? code : code.slice(0, at).replace('/', ': ') + said
}

export const useText = () => useLanguage().t
