import { asCurl } from '../../lib/api'
import { useText } from '../../lib/i18n'
import { asGo, asPython } from '../../lib/snippets'
import { useParams } from '../../lib/url'
import { Code, Copy } from '../code'

const languages = ['curl', 'python', 'go'] as const
const names = { curl: 'curl', python: 'Python', go: 'Go' }

/** A request as a shell, Python and Go send it; which of them is in the address. */
export function Snippets({ path, body }: { path: string; body: Record<string, unknown> }) {
  const t = useText()
  const [params, setParams] = useParams()
  const language = languages.find((l) => l === params.get('code')) ?? 'curl'
  const code = {
    curl: () => asCurl('POST', location.origin + path, body),
    python: () => asPython(location.origin, path, body),
    go: () => asGo(location.origin, path, body),
  }[language]
  return (
    <section className="part" aria-label={t('play.code')}>
      <div className="row between">
        <div className="chips" role="group" aria-label={t('play.code')}>
          {languages.map((l) => (
            <button key={l} type="button" className={`chip${l === language ? ' on' : ''}`} aria-pressed={l === language}
              onClick={() => setParams({ code: l === 'curl' ? null : l }, true)}>{names[l]}</button>
          ))}
        </div>
        <Copy label={language === 'curl' ? t('play.curl') : t('play.copy.as', { language: names[language] })} text={code} />
      </div>
      <Code label={names[language]} text={code()} />
    </section>
  )
}
