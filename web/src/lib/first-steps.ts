// The first steps on a gateway without texts as a machine: they begin where there is nothing to search, and stay
// until the first question was answered and its reader goes on, or until they are dismissed.

export interface Steps {
  begun: boolean
  asked: boolean // a question has found something since
  dismissed: boolean
}

export type Event =
  | { name: 'counted'; chunks: number } // there are so many texts
  | { name: 'found' }
  | { name: 'done' | 'dismissed' }

export const notBegun = (dismissed: boolean): Steps => ({ begun: false, asked: false, dismissed })

export function after(s: Steps, e: Event): Steps {
  switch (e.name) {
    case 'counted': return e.chunks === 0 && !s.begun ? { ...s, begun: true } : s // once begun, texts that come in are a step of it
    case 'found': return s.begun && !s.asked ? { ...s, asked: true } : s
    case 'done': return { ...s, begun: false }
    case 'dismissed': return { ...s, dismissed: true }
  }
}

export const areShown = (s: Steps) => s.begun && !s.dismissed
