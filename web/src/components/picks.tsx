import { Combobox, ComboboxGroup, ComboboxGroupLabel, ComboboxItem, ComboboxList, ComboboxProvider } from '@ariakit/react'
import { useText } from '../lib/i18n'
import { Icon } from './icons'

export interface Pick {
  key: string
  text: string
  note?: string
  act: () => void
}

interface Props {
  label: string
  typed: string
  type: (text: string) => void
  groups: { label: string; picks: Pick[] }[]
  loading?: boolean
}

/** A field, and below it what what is typed there leaves to pick; by arrows and Enter, or the mouse. */
export function Picks({ label, typed, type, groups, loading }: Props) {
  const t = useText()
  const filled = groups.filter((g) => g.picks.length > 0)
  return (
    <ComboboxProvider open value={typed} setValue={type} focusLoop>
      <div className="picks">
        <div className="picks-field">
          <Icon name="search" />
          <Combobox autoSelect="always" autoFocus aria-label={label} placeholder={label} />
        </div>
        <ComboboxList alwaysVisible aria-label={label} aria-busy={loading} className="picks-list">
          {filled.map((g) => (
            <ComboboxGroup key={g.label}>
              {g.label ? <ComboboxGroupLabel className="label">{g.label}</ComboboxGroupLabel> : null}
              {g.picks.map((p) => (
                <ComboboxItem key={p.key} value={p.text} setValueOnClick={false} hideOnClick={false} focusOnHover onClick={p.act}>
                  <span>{p.text}</span>
                  {p.note ? <span className="quiet small">{p.note}</span> : null}
                </ComboboxItem>
              ))}
            </ComboboxGroup>
          ))}
        </ComboboxList>
        {filled.length === 0 && !loading ? <p className="quiet" role="status">{t('keys.nothing')}</p> : null}
      </div>
    </ComboboxProvider>
  )
}
