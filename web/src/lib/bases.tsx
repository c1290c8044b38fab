import { createContext, useContext, useEffect, type ReactNode } from 'react'
import type { CatalogChoice, EngineKnowledgeBase, PresetsDetail } from '../api/schema'
import { api } from './api'
import { useLoad, type Loaded } from './load'

export interface Choices {
  bases: EngineKnowledgeBase[]
  engines: CatalogChoice[] // that a knowledge base may be made on
  presets: string[]
  standard: string
  details: PresetsDetail[] // what each preset is and is for
  rerankers: string[]
  rewrites: boolean // a language model may write further phrasings
}

async function load(signal: AbortSignal): Promise<Choices> {
  const [bases, presets] = await Promise.all([api.bases(signal), api.presets(signal)])
  return { bases: bases.knowledge_bases ?? [], engines: bases.engines ?? [], presets: presets.presets ?? [], details: presets.details ?? [], standard: presets.default, rerankers: presets.rerankers ?? [], rewrites: presets.rewrites ?? false }
}

const Context = createContext<Loaded<Choices> | null>(null)

/** Loads what there is to choose from, anew for each page and each key. */
export function ChoicesProvider({ path, children }: { path: string; children: ReactNode }) {
  const loaded = useLoad(['choices', path], load)
  const { again } = loaded
  useEffect(() => {
    addEventListener('hybridge:key', again)
    return () => removeEventListener('hybridge:key', again)
  }, [again])
  return <Context value={loaded}>{children}</Context>
}

/** The knowledge bases and presets that the key may use. */
export function useChoices() {
  const value = useContext(Context)
  if (!value) throw new Error('ChoicesProvider is missing')
  return value
}

/** The engines that hold a knowledge base, the one that answers by default first. */
export const enginesOf = (b: EngineKnowledgeBase) => (b.engines?.length ? b.engines : [b.engine])

/** Whether the shape of a knowledge base can be changed: of one whose storage is our own and its own. */
export const hasMapping = (b: EngineKnowledgeBase) => !b.attach && !b.shared
