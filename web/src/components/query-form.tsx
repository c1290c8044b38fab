import { Combobox, ComboboxItem, ComboboxList, ComboboxProvider, useComboboxStore, useStoreState } from '@ariakit/react'
import { useEffect, useRef, useState, type ReactNode } from 'react'
import type { SearchSuggestRequest, SearchSuggestion } from '../api/schema'
import { api } from '../lib/api'
import { useText } from '../lib/i18n'
import { useLoad } from '../lib/load'
import { Icon } from './icons'

const typingSlot = 'hybridge.typing'

interface QueryFormProps {
  q: string
  /** Where suggestions come from; null where there is nothing to ask. */
  among: Omit<SearchSuggestRequest, 'query'> | null
  ask: (q: string, replace: boolean) => void
  /** Further switches under the field. */
  children?: ReactNode
}

/** Enter searches, and so does a suggestion; searching while typing is for those who want it. */
export function QueryForm({ q, among, ask, children }: QueryFormProps) {
  const t = useText()
  const [text, setText] = useState(q)
  const [typed, setTyped] = useState('') // what suggestions are for; '' where none are wanted
  const [typing, setTyping] = useState(() => localStorage.getItem(typingSlot) === 'on')
  const timer = useRef(0)
  const input = useRef<HTMLInputElement>(null)
  const suggestions = useSuggestions(typed, among)
  const store = useComboboxStore({ setOpen: (open) => { if (!open) setTyped('') } })
  const chosen = useStoreState(store, 'activeId')
  useEffect(() => {
    if (!matchMedia('(pointer: coarse)').matches) input.current?.focus({ preventScroll: true })
    return () => clearTimeout(timer.current)
  }, [])
  useEffect(() => store.setOpen(suggestions.length > 0), [store, suggestions])
  const submit = (wanted: string) => {
    clearTimeout(timer.current)
    setText(wanted)
    setTyped('')
    ask(wanted, false)
  }
  return (
    <form
      className="query"
      role="search"
      onSubmit={(e) => {
        e.preventDefault()
        submit(text)
      }}
    >
      <ComboboxProvider store={store}>
        <div className="box" onBlur={(e) => { if (!e.currentTarget.contains(e.relatedTarget)) store.setOpen(false) }}>
          <Icon name="search" />
          <Combobox
            ref={input}
            type="search"
            name="q"
            value={text}
            maxLength={8000}
            autoComplete="list"
            showOnClick={false}
            showOnChange={false}
            showOnKeyPress={false}
            setValueOnChange={false}
            enterKeyHint="search"
            aria-label={t('search.label')}
            placeholder={t('search.placeholder')}
            onChange={(e) => {
              const wanted = e.target.value
              const composing = (e.nativeEvent as InputEvent).isComposing
              setText(wanted)
              setTyped(composing || typing ? '' : wanted)
              clearTimeout(timer.current)
              if (typing && !composing) timer.current = window.setTimeout(() => ask(wanted, true), 250)
            }}
            onCompositionEnd={(e) => { if (!typing) setTyped(e.currentTarget.value) }}
            onKeyDown={(e) => {
              if (e.key === 'Escape' && suggestions.length > 0) {
                e.preventDefault() // which would empty the field too
                store.setOpen(false)
              }
              if (e.key === 'Enter' && !chosen && !e.nativeEvent.isComposing) { // an open list would keep it from the form
                e.preventDefault()
                submit(text)
              }
            }}
          />
          <button type="submit" className="button primary">{t('search.go')}</button>
          <ComboboxList className="suggestions" aria-label={t('search.suggestions')}>
            {suggestions.map((s) => (
              <ComboboxItem key={`${s.kind} ${s.text}`} value={s.text} setValueOnClick={false} focusOnHover onClick={() => submit(s.text)}>
                <Icon name={s.kind === 'term' ? 'search' : 'file'} />
                <span>{s.text}</span>
                {s.kind === 'term' ? null : <span className="quiet small">{t(`search.suggestions.${s.kind}`)}</span>}
              </ComboboxItem>
            ))}
          </ComboboxList>
        </div>
      </ComboboxProvider>
      <div className="switches">
        <label className="check small">
          <input
            type="checkbox"
            checked={typing}
            onChange={(e) => {
              setTyping(e.target.checked)
              localStorage.setItem(typingSlot, e.target.checked ? 'on' : 'off')
            }}
          />
          {t('search.typing')}
        </label>
        {children}
      </div>
    </form>
  )
}

const nothing: SearchSuggestion[] = []

/** What may go on there. A failure shows nothing: suggestions are no reason to disturb. */
function useSuggestions(typed: string, among: QueryFormProps['among']): SearchSuggestion[] {
  const request = among && typed.trim() ? { ...among, query: typed } : null
  const fits = request && new TextEncoder().encode(typed).length <= longest
  const answer = useLoad(fits ? ['suggestions', request] : null, (signal) => api.suggest(request!, signal), { delay: 90 })
  return (fits && answer.data?.suggestions) || nothing
}

/** Bytes of a question that the gateway goes on with. */
const longest = 256
