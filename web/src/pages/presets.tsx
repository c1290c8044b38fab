import type { PresetsDetail, PresetVersion } from '../api/schema'
import { Code } from '../components/code'
import { Failure, Skeleton } from '../components/notice'
import { Link } from '../components/link'
import { PresetEditor } from '../components/preset-editor'
import { call } from '../lib/api'
import { useChoices, type Choices } from '../lib/bases'
import { useText } from '../lib/i18n'
import { useLoad } from '../lib/load'
import { textOf } from '../lib/preset-text'
import { useParams } from '../lib/url'
import '../styles/presets.css'

/** All presets, and one of them: name is in the address, or of for a new one that begins as that one. */
export default function PresetsPage() {
  const t = useText()
  const [params] = useParams()
  const choices = useChoices()
  const name = params.get('name')
  return (
    <div className="page">
      <div className="page-head">
        <h1>{t('presets.title')}</h1>
        <p>{t('presets.about')}</p>
      </div>
      {choices.error ? <Failure error={choices.error} again={choices.again} /> : null}
      {choices.data ? (
        <div className="preset-page">
          <List choices={choices.data} chosen={name} />
          <One key={`${name} ${params.get('of')}`} choices={choices.data} name={name} of={params.get('of')} changed={choices.again} />
        </div>
      ) : choices.error ? null : <Skeleton rows={5} />}
    </div>
  )
}

const sources = ['saved', 'file', 'builtin'] as const

function List({ choices, chosen }: { choices: Choices; chosen: string | null }) {
  const t = useText()
  return (
    <nav className="preset-list" aria-label={t('presets.list')}>
      <Link to="/presets?of=" className="button">{t('presets.new')}</Link>
      {sources.map((source) => {
        const those = choices.details.filter((d) => d.source === source)
        return those.length === 0 ? null : (
          <section key={source}>
            <h2 className="label">{t(`presets.source.${source}`)}</h2>
            <ul>
              {those.map((d) => (
                <li key={d.name}>
                  <Link to={`/presets?name=${encodeURIComponent(d.name)}`} aria-current={d.name === chosen ? 'true' : undefined}>{d.name}</Link>
                  {d.name === choices.standard ? <span className="tag">{t('presets.default')}</span> : null}
                  {d.unused ? <span className="tag warn">{t('presets.unused')}</span> : null}
                </li>
              ))}
            </ul>
          </section>
        )
      })}
    </nav>
  )
}

interface OneProps {
  choices: Choices
  name: string | null
  of: string | null
  changed: () => void
}

function One({ choices, name, of, changed }: OneProps) {
  const t = useText()
  const asked = name ?? (of || null)
  const loaded = useLoad(asked === null ? null : ['preset', asked], (signal) => call<PresetVersion>('GET', `/v1/presets/${encodeURIComponent(asked!)}`, undefined, signal))
  if (name === null && of === null) return <p className="blank">{t('presets.choose')}</p>
  if (loaded.error) return <Failure error={loaded.error} again={loaded.again} />
  if (asked !== null && loaded.data?.name !== asked) return <Skeleton rows={4} />
  const detail = choices.details.find((d) => d.name === asked)
  const from = loaded.data
  if (name !== null && from && from.source !== 'saved') return <Fixed detail={detail} version={from} />
  const begun = from?.definition ?? { base: asked ?? choices.standard }
  const bases = choices.details.filter((d) => d.source === 'builtin').map((d) => d.name)
  const done = () => (changed(), loaded.again())
  return (
    <PresetEditor name={name} version={name === null ? 0 : from?.version ?? 0} unused={from?.unused} begun={begun} bases={bases} done={done} />
  )
}

/** One that the program or its configuration has: it is changed by a copy, or in the file. */
function Fixed({ detail, version }: { detail?: PresetsDetail; version: PresetVersion }) {
  const t = useText()
  return (
    <section className="part preset">
      <h2>{version.name}</h2>
      <p className="quiet">{t(version.source === 'file' ? 'presets.file.about' : 'presets.builtin.about')}</p>
      {detail?.description ? <p>{detail.description}</p> : null}
      {version.definition ? <Code text={textOf(version.definition)} label={version.name} /> : null}
      <p className="row">
        <Link to={`/presets?of=${encodeURIComponent(version.name)}`} className="button primary">{t('presets.copy')}</Link>
        <Link to={`/?preset=${encodeURIComponent(version.name)}`} className="button">{t('presets.search')}</Link>
      </p>
    </section>
  )
}
