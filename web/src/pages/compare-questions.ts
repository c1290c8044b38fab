import { useCallback, useEffect, useMemo, useState } from 'react'
import { questionSets } from '../lib/question-sets'
import type { Params } from '../lib/url'

/** The questions of a text, one a line. */
export const linesOf = (text: string) => [...new Set(text.split('\n').map((q) => q.trim()).filter(Boolean))]

/** What an address can say itself: to be read and shared, and far below the 16 kB of a request's head. */
const fits = (text: string) => text.length <= 1500 && encodeURIComponent(text).length <= 8000

export interface Asked {
  questions: string[]
  kept: boolean // by this browser, the address has an id
  missing: boolean // the address has an id of questions that are not here
  tooMany: boolean // to be kept
  ask: (text: string) => void
}

/** The questions that an address means: its q has them, or its set is the id of those that are kept. */
export function useQuestions(params: URLSearchParams, change: (c: Params, replace?: boolean) => void): Asked {
  const written = params.get('q') ?? ''
  const id = written ? '' : (params.get('set') ?? '')
  const [set, setSet] = useState<{ id: string; questions?: string[] }>({ id: '' })
  const [tooMany, setTooMany] = useState(false)
  const keep = useCallback(async (questions: string[], more: Params, replace: boolean) => {
    try {
      const id = await questionSets.keep(questions)
      setSet({ id, questions })
      change({ ...more, q: null, set: id }, replace)
    } catch {
      setTooMany(true)
    }
  }, [change])

  useEffect(() => {
    if (!id || set.id === id) return
    let current = true
    const found = (questions?: string[]) => current && setSet({ id, questions })
    questionSets.read(id).then(found, () => found())
    return () => {
      current = false
    }
  }, [id, set.id])

  // An address from before sets, or one written by hand.
  useEffect(() => {
    if (!fits(written)) void keep(linesOf(written), {}, true)
  }, [written, keep])

  const ask = (text: string) => {
    const questions = linesOf(text)
    const short = questions.join('\n')
    setTooMany(false)
    if (fits(short)) change({ q: short, set: null, at: null })
    else void keep(questions, { at: null }, false)
  }
  const here = set.id === id ? set.questions : undefined
  const questions = useMemo(() => (id ? (here ?? []) : linesOf(written)), [id, here, written])
  return {
    questions,
    kept: here !== undefined,
    missing: id !== '' && set.id === id && !here,
    tooMany,
    ask,
  }
}
