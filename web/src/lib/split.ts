// Splits a text file into chunks, for upload as one document.

const wanted = 900 // characters of a chunk, about

export interface Chunk {
  id: string
  title: string
  content: string
  ordinal: number
}

interface Section {
  trail: string[]
  lines: string[]
}

/** Sections of a Markdown text, each with the headings above it; # in code is no heading. */
function sections(text: string, markdown: boolean): Section[] {
  const all: Section[] = [{ trail: [], lines: [] }]
  let code = false
  for (const line of text.split(/\r?\n/)) {
    if (/^\s*(```|~~~)/.test(line)) code = !code
    const heading = markdown && !code ? /^(#{1,6})\s+(.*?)\s*#*$/.exec(line) : null
    if (heading?.[1]) {
      const trail = (all.at(-1)?.trail ?? []).slice(0, heading[1].length - 1)
      all.push({ trail: [...trail, heading[2] ?? ''], lines: [] })
    } else all.at(-1)?.lines.push(line)
  }
  return all
}

/** Paragraphs put together up to the wanted length; an overlong one is cut after a sentence. */
function pieces(text: string): string[] {
  const out: string[] = []
  let held = ''
  for (const paragraph of text.split(/\n\s*\n/).map((p) => p.trim()).filter(Boolean)) {
    if (held && held.length + paragraph.length > wanted) {
      out.push(held)
      held = ''
    }
    held = held ? `${held}\n\n${paragraph}` : paragraph
    while (held.length > wanted * 1.6) {
      const end = Math.max(...[...held.slice(0, wanted).matchAll(/[.!?。！？；]\s*/g)].map((m) => m.index + m[0].length), 0)
      const cut = end > wanted / 3 ? end : wanted
      out.push(held.slice(0, cut).trim())
      held = held.slice(cut).trim()
    }
  }
  if (held) out.push(held)
  return out
}

export function split(name: string, text: string): Chunk[] {
  const chunks: Chunk[] = []
  for (const s of sections(text, /\.(md|markdown)$/i.test(name))) {
    for (const content of pieces(s.lines.join('\n'))) {
      const ordinal = chunks.length
      chunks.push({ id: `${name}#${ordinal + 1}`, title: s.trail.join(' > ') || name, content, ordinal })
    }
  }
  return chunks
}

/** The first line of a chunk that a file name stands for. */
export const lines = (name: string, text: string) =>
  split(name, text).map((c) => JSON.stringify({ ...c, document_id: name, document_name: name })).join('\n')
