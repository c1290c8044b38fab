import { useState } from 'react'
import type { LibraryQuery } from '../../api/schema'
import { ApiError, call } from '../../lib/api'
import type { Choices } from '../../lib/bases'
import { useText } from '../../lib/i18n'
import { addQueries, BadLine, idFrom, queriesOf } from '../../lib/queries'
import { Modal } from '../base-dialogs'
import { Field } from '../field'
import { Failure, Notice } from '../notice'

interface Props {
  choices: Choices
  /** The set that gets more questions; left out, a new one is made. */
  set?: { id: string; name?: string }
  close: () => void
  done: (id: string) => void
}

/** Makes a query set, or adds to one: of pasted lines, or of a file. */
export function QuestionsDialog({ choices, set, close, done }: Props) {
  const t = useText()
  const [name, setName] = useState('')
  const [bases, setBases] = useState(choices.bases.length === 1 ? [choices.bases[0]!.id] : [])
  const [text, setText] = useState('')
  const [file, setFile] = useState('')
  const [error, setError] = useState<Error>()
  const [busy, setBusy] = useState(false)
  const read = parsed(text, file)
  const ready = Boolean(set || (name.trim() && bases.length > 0)) && Array.isArray(read) && read.length > 0 && !busy
  const save = async () => {
    if (!ready) return
    setBusy(true)
    setError(undefined)
    try {
      const id = set?.id ?? idFrom(name)
      if (!set) {
        await call('PUT', `/v1/query-sets/${id}`, { name: name.trim(), knowledge_bases: bases, base_version: 0 }).catch((e: unknown) => {
          if (e instanceof ApiError && e.status === 409) throw new Error(t('eval.set.there', { name: id }))
          throw e
        })
      }
      const refused = await addQueries(id, read)
      if (refused > 0) throw new Error(t('eval.set.refused', { count: refused }))
      done(id)
    } catch (e) {
      setError(e as Error)
      setBusy(false)
    }
  }
  return (
    <Modal title={set ? t('eval.set.more', { name: set.name || set.id }) : t('eval.set.new')} open close={close} wide>
      {error ? <Failure error={error} /> : null}
      <form onSubmit={(e) => (e.preventDefault(), void save())}>
        {set ? null : (
          <>
            <Field label={t('eval.set.name')}>
              {(id) => <input id={id} className="input" value={name} maxLength={200} autoComplete="off" autoFocus onChange={(e) => setName(e.target.value)} />}
            </Field>
            <fieldset className="field">
              <legend>{t('eval.set.bases')}</legend>
              <div className="row">
                {choices.bases.map((b) => (
                  <label key={b.id} className="check">
                    <input type="checkbox" checked={bases.includes(b.id)}
                      onChange={(e) => setBases(e.target.checked ? [...bases, b.id] : bases.filter((id) => id !== b.id))} />
                    {b.name || b.id}
                  </label>
                ))}
              </div>
            </fieldset>
          </>
        )}
        <Field label={t('eval.set.questions')} hint={t('eval.set.questions.hint')}>
          {(id, hint) => (
            <textarea id={id} className="input" rows={9} value={text} aria-describedby={hint} placeholder={t('compare.placeholder')}
              onChange={(e) => (setText(e.target.value), setFile(''))} />
          )}
        </Field>
        <label className="field">
          <span>{t('eval.set.file')}</span>
          <input type="file" accept=".txt,.csv,.jsonl,.ndjson" onChange={(e) => {
            const chosen = e.target.files?.[0]
            if (chosen) void chosen.text().then((said) => (setText(said), setFile(chosen.name)))
          }} />
        </label>
        {read instanceof BadLine ? <Notice title={t('eval.set.bad', { line: read.line })} tone="error" /> : null}
        <p className="row end">
          {Array.isArray(read) && read.length > 0 ? <span className="quiet small" role="status">{t('eval.set.count', { count: read.length })}</span> : null}
          <button type="button" className="button" onClick={close}>{t('app.cancel')}</button>
          <button type="submit" className="button primary" disabled={!ready}>{t(set ? 'eval.set.add' : 'eval.set.make')}</button>
        </p>
      </form>
    </Modal>
  )
}

function parsed(text: string, file: string): LibraryQuery[] | BadLine {
  try {
    return queriesOf(text, file)
  } catch (e) {
    return e as BadLine
  }
}
