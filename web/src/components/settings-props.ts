import type { SearchAnswer } from '../api/schema'
import type { Choices } from '../lib/bases'
import type { Params } from '../lib/url'
import type { SearchState } from '../pages/search-state'

/** What settings of a search are about, and what changes them. */
export interface SettingsProps {
  state: SearchState
  choices: Choices
  answer?: SearchAnswer
  change: (c: Params, replace?: boolean) => void
}
