// Markdown as text to read: cells joined by dots, bullets, links by their words. It is
// for short pieces that may begin or end anywhere, so what has no other half stays.

// Private-use characters around what matched: they cannot be HTML, and a text
// that brings its own loses nothing but these two.
export const pre = '\uE000'
export const post = '\uE001'

/** Three strings of one length: the text, as rules see it (code blanked out), and 1 where it is marked. */
interface Draft {
  text: string
  seen: string
  on: string
}

/** What is kept of a match: a text to write, the number of a group, or a stretch of the match. */
type Part = string | number | [from: number, to: number]

interface Rule {
  find: RegExp
  keep: Part[] | ((match: string) => Part[])
  code?: true // later rules see nothing in what is kept
}

const line = '\u2028' // a line break that stays; others are only where an editor wrapped
const delimiters = String.raw`(?=[^\n]*\|)[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*`
const target = String.raw`\(\s*<?[^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)*>?(?:\s+(?:"[^"\n]*"|'[^'\n]*'))?\s*(?:\)|$)`

/** In this order: code first, then what lines are, then what stands within them. */
const rules: Rule[] = [
  { find: /^[ \t]*(`{3,}|~{3,})[^\n`]*\n(?:([^]*?)\n)??[ \t]*\1[`~]*[ \t]*$/dgm, keep: [line, 2, line], code: true },
  { find: /^[ \t]*(?:`{3,}|~{3,})[ \t]*[\w+#.-]+[ \t]*\n([^]*)/dgm, keep: [line, 1], code: true },
  { find: /^[ \t]*(?:`{3,}|~{3,})[^\n`]*$/dgm, keep: [line] },
  { find: /(?<!`)(`+)(?!`)[ ]?([^\n\u2028]*?[^`\n\u2028])[ ]?\1(?!`)/dg, keep: [2], code: true },
  { find: /\\([*_|#`[\]~>+-])/dg, keep: [1], code: true },
  { find: /^[ \t]*(?:>[ \t]?)+/dgm, keep: [] },
  { find: new RegExp(`^(?:[^\\n|]*\\|[^\\n]*\\n)?${delimiters}$(?:\\n[^\\n|]*\\|[^\\n]*)*`, 'dgm'), keep: rows },
  { find: /^(?:[ \t]*\|[^\n]*|[^\n]*[^|\s][ \t]+\|[ \t]*)$/dgm, keep: rows },
  { find: /^[ \t]*(?:(?:[-*_][ \t]*){3,}|={2,}[ \t]*)$/dgm, keep: [line] },
  { find: /^[ \t]*#{1,6}(?:[ \t]+([^\n]*?))?(?:[ \t]+#+)?[ \t]*$/dgm, keep: [line, 1, line] },
  { find: /^[ \t]*[-*+•][ \t]+\[ \][ \t]+/dgm, keep: [line, '☐ '] },
  { find: /^[ \t]*[-*+•][ \t]+\[[xX]\][ \t]+/dgm, keep: [line, '☑ '] },
  { find: /^[ \t]*[-*+•][ \t]+/dgm, keep: [line, '• '] },
  { find: /^[ \t]*(\d{1,3}[.)][ \t])[ \t]*/dgm, keep: [line, 1] },
  { find: /(?<![ \t])[ \t]*\n[ \t]*\n\s*/dg, keep: [line] },
  { find: /(?<=[\u2e80-\u9fff\uf900-\uffef])[ \t]*\n[ \t]*(?=[\u2e80-\u9fff\uf900-\uffef])/dg, keep: [] },
  { find: /(?<![ \t])[ \t]*\n[ \t]*|<br[ ]?\/?>/dg, keep: [' '] },
  { find: new RegExp(`!\\[([^[\\]\\n]*)\\]${target}`, 'dg'), keep: [1] },
  { find: new RegExp(`(?<![\\w\\])])\\[([^[\\]\\n]*)\\]${target}`, 'dg'), keep: [1] },
  { find: /<(https?:\/\/[^\s<>]+|mailto:[^\s<>]+)>/dg, keep: [1] },
  { find: /(?<![\w*])\*\*(?=\S)((?:[^*\u2028]|\*(?!\*))+?)(?<=\S)\*\*/dg, keep: [1] },
  { find: /(?<![\w*])\*(?=[^\s*])([^*\u2028]+?)(?<=[^\s*])\*(?![\w*])/dg, keep: [1] },
  { find: /(?<![\w_])__(?=\S)([^_\u2028]*[^\w\u2028][^_\u2028]*)(?<=\S)__(?![\w_])/dg, keep: [1] },
  { find: /(?<![\w_])_(?=[^\s_])([^_\u2028]+?)(?<=[^\s_])_(?![\w_])/dg, keep: [1] },
  { find: /~~(?=\S)([^~\u2028]+?)(?<=\S)~~/dg, keep: [1] },
  { find: /(?<=^|[^,]\s|[\u2e80-\u9fff\uf900-\uffef])\*\*(?=\S)|(?<=\S)\*\*(?=$|[\s\u2e80-\u9fff\uf900-\uffef.,;:!?])|^\*\*(?=\s)/dgm, keep: [] }, // its other half was cut off
  { find: /(?<!\s)\s*\u2028\s*/dg, keep: ['\n'] },
  { find: /^\s+|(?<!\s)\s+$/dg, keep: [] },
]

/** What lies between the marks stays between them, whatever is taken away around and within. */
export function readable(text: string): string {
  return marked(rules.reduce(rewrite, unmarked(text)))
}

/** Takes the marks out of the text and remembers what they were around. */
function unmarked(text: string): Draft {
  const d: Draft = { text: '', seen: '', on: '' }
  for (const piece of text.replace(/\r\n?/g, '\n').split(/(?=[\uE000\uE001])/)) {
    const own = piece.replace(/^[\uE000\uE001]/, '')
    const on = piece.startsWith(pre) ? '1' : '0'
    d.text += own
    d.on += on.repeat(own.length)
  }
  d.seen = d.text
  return d
}

function marked({ text, on }: Draft): string {
  let out = ''
  for (const { index, 0: stretch } of on.matchAll(/0+|1+/g)) {
    const own = text.slice(index, index + stretch.length)
    out += stretch.startsWith('1') ? pre + own + post : own
  }
  return out
}

/** Puts a rule to use wherever it finds something. */
function rewrite(d: Draft, { find, keep, code }: Rule): Draft {
  const out: Draft = { text: '', seen: '', on: '' }
  const copy = (from: number, to: number, hidden = false) => {
    const text = d.text.slice(from, to)
    out.text += hidden ? text.replaceAll('\n', line) : text
    out.seen += hidden ? text.replace(/[^\n\u2028]/g, 'x').replaceAll('\n', line) : d.seen.slice(from, to)
    out.on += d.on.slice(from, to)
  }
  let at = 0 // in d: what is in front has been dealt with
  for (const m of d.seen.matchAll(find)) {
    const [start, end] = m.indices?.[0] ?? [0, 0]
    copy(at, start)
    at = start
    for (const part of typeof keep === 'function' ? keep(m[0]) : keep) {
      if (typeof part === 'string') {
        out.text += part
        out.seen += part
        out.on += (d.on.slice(at - 1, at + 1) === '11' ? '1' : '0').repeat(part.length) // within a mark
      } else {
        const [from, to] = typeof part === 'number' ? m.indices?.[part] ?? [0, 0] : [start + part[0], start + part[1]]
        copy(from, to, code)
        at = to
      }
    }
    at = end
  }
  copy(at, d.text.length)
  return out
}

/** The rows of a table, each a line of its cells; the row of dashes is none. */
function rows(table: string): Part[] {
  const parts: Part[] = [line]
  const ruled = new RegExp(`^${delimiters}$`)
  for (const row of table.matchAll(/[^\n]+/g)) {
    if (ruled.test(row[0])) continue
    let first = true
    for (const cell of row[0].matchAll(/[^|\s](?:[^|]*[^|\s])?/g)) {
      const from = row.index + cell.index
      parts.push(...(first ? [] : [' · ']), [from, from + cell[0].length])
      first = false
    }
    parts.push(line)
  }
  return parts
}
