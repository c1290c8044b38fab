import { useState } from 'react'
import type { CatalogDescribed } from '../../api/schema'
import { headers, key, problem } from '../../lib/api'
import { useText } from '../../lib/i18n'
import { Failure } from '../notice'

/** All chunks as a file of lines, as they are written: the browser saves them while they are read. */
export function Export({ base }: { base: CatalogDescribed }) {
  const t = useText()
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<Error>()
  const save = async (vectors: boolean) => {
    const name = `${base.id}${vectors ? '-vectors' : ''}.jsonl`
    const url = `/v1/knowledge-bases/${encodeURIComponent(base.id)}/chunks${vectors ? '?vectors=true' : ''}`
    setBusy(true)
    setError(undefined)
    await (key.get() ? saveWithKey(url, name) : saveAs(url, name)).catch(setError)
    setBusy(false)
  }
  return (
    <section className="card padded part" aria-label={t('kb.view.export')}>
      <h2>{t('kb.view.export')}</h2>
      <p className="quiet">{t('kb.export.about', { count: base.chunks.toLocaleString() })}</p>
      <p className="row">
        <button type="button" className="button" disabled={busy} onClick={() => void save(false)}>{t('kb.export.text')}</button>
        <button type="button" className="button" disabled={busy} onClick={() => void save(true)}>{t('kb.export.vectors')}</button>
      </p>
      {error ? <Failure error={error} /> : null}
      <p className="quiet small">{t('kb.export.cli')} <code className="mono">hybridge kb export {base.id} {base.id}.jsonl</code></p>
    </section>
  )
}

/** The browser loads it and writes it as it comes. */
async function saveAs(url: string, name: string) {
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
}

/** A key stands in a header, which a link has not: where the browser can, it writes into a file that one chooses, else it holds all. */
async function saveWithKey(url: string, name: string) {
  const pick = (window as { showSaveFilePicker?: (o: { suggestedName: string }) => Promise<{ createWritable: () => Promise<WritableStream> }> }).showSaveFilePicker
  const file = await pick?.({ suggestedName: name }).catch((e: Error) => (e.name === 'AbortError' ? null : undefined))
  if (file === null) return // one thought better of it
  const answer = await fetch(url, { headers: headers() })
  if (!answer.ok) throw problem(answer.status, await answer.text())
  if (file) {
    await answer.body!.pipeTo(await file.createWritable())
    return
  }
  const whole = URL.createObjectURL(await answer.blob())
  await saveAs(whole, name)
  setTimeout(() => URL.revokeObjectURL(whole), 1000)
}
