/** What is wrong with a text, and where: at a line from 1, or at a member of JSON as weights.text. */
export interface Problem {
  line?: number
  field?: string
  detail: string
}

/** What an editor shows. */
export interface EditorProps {
  /** What it is called by those who hear it. */
  name: string
  hint?: string
  value: string
  /** Left out, the text is there to be read. */
  change?: (text: string) => void
  /** What Ctrl or ⌘ with Enter does with the text, which may be newer than what was drawn last. */
  submit?: (text: string) => void
  language: 'json' | 'yaml' | 'synonyms'
  problems: Problem[]
  /** How deep JSON is shown at first; what is deeper is folded. */
  depth?: number
  /** A line to go to; a new object goes there again. */
  jump?: { line: number }
}
