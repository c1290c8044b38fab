import { useEffect } from 'react'
import type { EngineKnowledgeBase } from '../api/schema'
import { api } from './api'
import { useLoad } from './load'

/** The knowledge bases and presets that the key may use. */
export function useChoices() {
  const loaded = useLoad('choices', async (signal) => {
    const [bases, presets] = await Promise.all([api.bases(signal), api.presets(signal)])
    return { bases: bases.knowledge_bases ?? [], engines: bases.engines ?? [], presets: presets.presets ?? [], standard: presets.default }
  })
  const { again } = loaded
  useEffect(() => {
    addEventListener('hybridge:key', again)
    return () => removeEventListener('hybridge:key', again)
  }, [again])
  return loaded
}

/** The engines that hold a knowledge base, the one that answers by default first. */
export const enginesOf = (b: EngineKnowledgeBase) => (b.engines?.length ? b.engines : [b.engine])

export type Choices = NonNullable<ReturnType<typeof useChoices>['data']>
