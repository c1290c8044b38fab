import type { SynonymsVersion } from '../../api/schema'

/** What of a set is compared. */
export interface DifferenceProps {
  path: string
  versions: SynonymsVersion[] // the newest first
  from: number
  draft?: string // undefined: nothing is changed
  close: () => void
}
