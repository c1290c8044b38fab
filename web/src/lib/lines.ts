/** Some whole lines of a file, by its bytes. */
export interface Run {
  from: number
  to: number
  line: number // of the first, from 1
  lines: number
}

const mostLines = 64
const mostBytes = 1 << 20

/** Cuts a file between its lines. It is read once, piece by piece, however large. */
export async function runsOf(file: Blob): Promise<Run[]> {
  const runs: Run[] = []
  let run: Run = { from: 0, to: 0, line: 1, lines: 0 }
  const take = (to: number) => {
    run = { ...run, to, lines: run.lines + 1 }
    if (run.lines < mostLines && to - run.from < mostBytes) return
    runs.push(run)
    run = { from: to, to, line: run.line + run.lines, lines: 0 }
  }
  let at = 0
  const reader = file.stream().getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    for (let i = value.indexOf(10); i >= 0; i = value.indexOf(10, i + 1)) take(at + i + 1)
    at += value.length
  }
  if (at > run.to) take(at) // a last line without an end
  if (run.lines > 0) runs.push(run)
  return runs
}
