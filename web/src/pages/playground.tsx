import { Tab, TabList, TabPanel, TabProvider } from '@ariakit/react'
import { useEffect, useState } from 'react'
import type { SearchAnalyzeAnswer, SearchRequest, SearchStatement } from '../api/schema'
import { Code, Copy } from '../components/code'
import { Select } from '../components/field'
import { RequestView } from '../components/playground/request'
import { Failure, Skeleton } from '../components/notice'
import { presetOptions } from '../components/settings'
import { Term } from '../components/term'
import { api, asCurl } from '../lib/api'
import { useChoices } from '../lib/bases'
import { percent } from '../lib/format'
import { useText } from '../lib/i18n'
import { useLoad } from '../lib/load'
import { useParams } from '../lib/url'
import '../styles/playground.css'

export default function PlaygroundPage() {
  const t = useText()
  const [params, setParams] = useParams()
  const choices = useChoices()
  const q = params.get('q') ?? ''
  const bases = choices.data?.bases ?? []
  const kb = bases.find((b) => b.id === params.get('kb'))?.id ?? bases[0]?.id ?? ''
  const preset = params.get('preset') ?? ''
  const request: SearchRequest | null = q.trim() && kb
    ? ({ query: q, knowledge_bases: [kb], ...(preset ? { preset } : {}) } as SearchRequest)
    : null
  const analysed = useLoad(request && ['analysis', request], (signal) => api.analyze(request!, signal))
  return (
    <div className="page">
      <div className="page-head">
        <h1>{t('play.title')}</h1>
        <p>{t('play.about')}</p>
      </div>
      {choices.error ? <Failure error={choices.error} again={choices.again} /> : null}
      {choices.data ? (
        <Ask key={q} q={q} ask={(value) => setParams({ q: value })}>
          <Select label={t('play.base')} value={kb} choose={(v) => setParams({ kb: v })} options={bases.map((b) => ({ value: b.id, label: b.name || b.id }))} />
          <Select label={<Term name="preset">{t('search.preset')}</Term>} value={preset} choose={(v) => setParams({ preset: v })} options={presetOptions(choices.data, t)} />
        </Ask>
      ) : null}
      {!request && choices.data ? <div className="blank"><p>{t('play.start')}</p></div> : null}
      {analysed.error && request ? <Failure error={analysed.error} again={analysed.again} /> : null}
      {request && analysed.loading && !analysed.data ? <Skeleton rows={3} /> : null}
      {request && analysed.data && !analysed.error ? <Views answer={analysed.data} request={request} /> : null}
    </div>
  )
}

function Ask({ q, ask, children }: { q: string; ask: (q: string) => void; children: React.ReactNode }) {
  const t = useText()
  const [text, setText] = useState(q)
  return (
    <form className="ask" onSubmit={(e) => (e.preventDefault(), ask(text))}>
      <div className="field wide">
        <label htmlFor="play-q">{t('search.label')}</label>
        <input id="play-q" className="input" type="search" value={text} maxLength={8000} autoComplete="off" placeholder={t('search.placeholder')} onChange={(e) => setText(e.target.value)} />
      </div>
      {children}
      <button type="submit" className="button primary">{t('play.ask')}</button>
    </form>
  )
}

const tabs = ['query', 'statements', 'plan', 'request'] as const

function Views({ answer, request }: { answer: SearchAnalyzeAnswer; request: SearchRequest }) {
  const t = useText()
  const [params, setParams] = useParams()
  const tab = tabs.find((name) => name === params.get('tab')) ?? tabs[0]
  useEffect(() => {
    document.getElementById(tab)?.scrollIntoView({ block: 'nearest', inline: 'nearest' }) // newer browsers answer a promise, which is no cleanup
  }, [tab]) // narrow windows do not show all
  const statements = answer.statements ?? []
  const json = (value: unknown) => JSON.stringify(value, null, 2)
  return (
    <TabProvider selectedId={tab} setSelectedId={(id) => setParams({ tab: !id || id === tabs[0] ? null : id }, true)}>
      <TabList className="tabs" aria-label={t('play.views')}>
        <Tab id="query" className="tab">{t('play.tab.query')}</Tab>
        <Tab id="statements" className="tab">{t('play.tab.statements')}</Tab>
        <Tab id="plan" className="tab">{t('play.tab.plan')}</Tab>
        <Tab id="request" className="tab">{t('play.tab.request')}</Tab>
      </TabList>
      <TabPanel tabId="query" className="panel">
        <Tokens answer={answer} />
        <div className="row between"><h2>JSON</h2><Copy label={t('play.copy')} text={() => json(answer.query)} /></div>
        <Code label={t('play.tab.query')} text={json(answer.query)} />
      </TabPanel>
      <TabPanel tabId="statements" className="panel">
        <p className="quiet">{t('play.never')}</p>
        {statements.length === 0 ? <p className="quiet">{t('play.none')}</p> : null}
        {statements.map((s, i) => (
          <Sent key={i} statement={s} />
        ))}
      </TabPanel>
      <TabPanel tabId="plan" className="panel">
        <h2><Term name="plan">{t('play.tab.plan')}</Term></h2>
        <Code label={t('play.tab.plan')} text={json(answer.plan)} />
      </TabPanel>
      <TabPanel tabId="request" className="panel">
        {tab === 'request' ? <RequestView request={request} /> : null}
      </TabPanel>
    </TabProvider>
  )
}

function Tokens({ answer }: { answer: SearchAnalyzeAnswer }) {
  const t = useText()
  const synonyms = answer.synonyms ?? []
  return (
    <>
      <p><span className="quiet"><Term name="known">{t('play.known')}</Term></span> <strong>{percent(answer.known)}</strong></p>
      <div className="card scroll" tabIndex={0} role="region" aria-label={t('play.token')}>
        <table className="grid-table">
          <thead>
            <tr>
              <th scope="col">{t('play.token')}</th>
              <th scope="col" className="num">{t('play.weight')}</th>
              <th scope="col" className="num"><Term name="document_frequency">{t('play.df')}</Term></th>
              <th scope="col" className="num">{t('play.at')}</th>
            </tr>
          </thead>
          <tbody>
            {(answer.tokens ?? []).map((token, i) => (
              <tr key={i}>
                <th scope="row"><span className="ink">{token.text}</span> {token.stop ? <span className="tag">{t('play.stop')}</span> : null}</th>
                <td className="num">{token.weight.toFixed(4)}</td>
                <td className="num">{token.df}</td>
                <td className="num">{token.start}–{token.end}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {synonyms.length > 0 ? (
        <>
          <h2><Term name="synonyms">{t('play.synonyms')}</Term></h2>
          <ul className="chips">
            {synonyms.map((s, i) => (
              <li key={i} className="tag">
                {t('play.synonym', { source: (s.source ?? []).join(' '), target: (s.target ?? []).join(' ') })} {s.weight.toFixed(2)}
              </li>
            ))}
          </ul>
        </>
      ) : null}
    </>
  )
}

/** A request body as it reads best: NDJSON line by line, JSON indented. */
function bodyOf(s: SearchStatement): string {
  if (s.sql) return s.sql
  if (typeof s.body === 'string') return s.body
  return s.body === undefined ? '' : JSON.stringify(s.body, null, 2)
}

function Sent({ statement: s }: { statement: SearchStatement }) {
  const t = useText()
  const head = s.sql ? 'SQL' : `${s.method ?? ''} ${s.path ?? ''}`
  return (
    <section className="sent">
      <div className="row between">
        <h2 className="mono">{head} <span className="quiet">{s.knowledge_base}</span></h2>
        {s.sql ? <Copy label={t('play.copy')} text={() => s.sql ?? ''} /> : (
          <Copy label={t('play.curl')} text={() => asCurl(s.method ?? 'POST', `http://localhost:9200${s.path ?? ''}`, s.body)} />
        )}
      </div>
      <Code label={head} text={bodyOf(s)} />
    </section>
  )
}
