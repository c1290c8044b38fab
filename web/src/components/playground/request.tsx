import { useEffect, useState } from 'react'
import type { SearchRequest } from '../../api/schema'
import { api, ApiError, call } from '../../lib/api'
import type { Problem } from '../../lib/editing'
import { useText } from '../../lib/i18n'
import { useLoad } from '../../lib/load'
import { useParams } from '../../lib/url'
import { Editor } from '../editor'
import { Select } from '../field'
import { Failure, Skeleton } from '../notice'
import { Answer, type Answered } from './answer'
import { bodyOf, pathOf, read, routes, type Route } from './requests'
import { Snippets } from './snippets'

/** A request to the gateway that is edited, sent under the key of who looks, and shown as code. */
export function RequestView({ request }: { request: SearchRequest }) {
  const [params] = useParams()
  const route = routes.find((r) => r === params.get('route')) ?? 'search'
  const found = useLoad(route === 'explain' ? ['first chunk', request] : null, (signal) => api.search({ ...request, limit: 1 } as SearchRequest, signal))
  if (route === 'explain' && !found.data && !found.error) return <Skeleton rows={2} />
  const begun = JSON.stringify(bodyOf(route, request, found.data?.hits?.[0]?.id ?? ''), null, 2)
  const kept = params.get('body')
  return <Request key={`${route} ${begun}`} route={route} begun={begun} kept={kept} />
}

const longest = 4000 // of a body in the address

/** What is wrong with a request: its JSON as it is written, then what the gateway says of a member. */
function problemsOf(text: string, error: Error | undefined, wrong: (error: string) => string): Problem[] {
  const now = read(text)
  if ('error' in now) return [{ line: now.line, detail: wrong(now.error) }]
  return error instanceof ApiError && error.field ? [{ field: error.field, detail: error.detail }] : []
}

function Request({ route, begun, kept }: { route: Route; begun: string; kept: string | null }) {
  const t = useText()
  const [, setParams] = useParams()
  const [text, setText] = useState(() => indented(kept) ?? begun)
  useEffect(() => {
    const said = indented(kept)
    if (said !== null) setText(said) // the address was changed, by the back button too
  }, [kept])
  const [answered, setAnswered] = useState<Answered>()
  const [error, setError] = useState<Error>()
  const [busy, setBusy] = useState(false)
  const [problems, setProblems] = useState<Problem[]>([])
  useEffect(() => setProblems(problemsOf(text, error, (e) => t('play.wrong', { error: e }))), [text, error, t])
  const now = read(text)
  const body = 'body' in now ? now.body : undefined
  const send = async (said: string) => {
    const asked = read(said)
    if (!('body' in asked)) return
    setBusy(true)
    const started = performance.now()
    try {
      const answer = await call<unknown>('POST', pathOf(route), asked.body)
      setAnswered({ text: JSON.stringify(answer, null, 2), status: 200, took: performance.now() - started })
      setError(undefined)
    } catch (e) {
      setAnswered(undefined)
      setError(e as Error)
    }
    setBusy(false)
  }
  const share = () => {
    const short = JSON.stringify(body)
    setParams({ body: text === begun || short.length > longest ? null : short })
  }
  const write = (changed: string) => {
    setText(changed)
    setError(undefined)
  }
  return (
    <div className="exchange">
      <div className="part">
        <div className="fields">
          <Select label={t('play.route')} value={route} choose={(r) => setParams({ route: r === 'search' ? null : r, body: null })}
            options={routes.map((r) => ({ value: r, label: `POST ${pathOf(r)}` }))} />
        </div>
        <Editor label={t('play.body')} name={t('play.body')} hint={t('play.body.hint')} language="json" value={text} change={write} submit={(said) => void send(said)} problems={problems} />
        <p className="row">
          <button type="button" className="button primary" disabled={busy || !body} onClick={() => void send(text)}>{t('play.send')}</button>
          {text === begun ? null : <button type="button" className="button" onClick={() => write(begun)}>{t('play.reset')}</button>}
          {body && text !== begun ? <button type="button" className="button" onClick={share}>{t('play.keep')}</button> : null}
        </p>
        {body ? <Snippets path={pathOf(route)} body={body} /> : <p className="quiet">{t('play.code.none')}</p>}
      </div>
      <div className="part">
        {error ? <Failure error={error} /> : null}
        {busy && !answered ? <Skeleton rows={3} /> : null}
        {answered ? <Answer answered={answered} busy={busy} /> : error || busy ? null : <p className="blank">{t('play.unsent')}</p>}
      </div>
    </div>
  )
}

function indented(text: string | null): string | null {
  const now = text === null ? null : read(text)
  return now && 'body' in now ? JSON.stringify(now.body, null, 2) : null
}
