import { useState } from 'react'
import type { MappingBody } from '../../api/schema'
import { call } from '../../lib/api'
import { useText } from '../../lib/i18n'
import { useLoad } from '../../lib/load'
import { Code } from '../code'
import { Failure } from '../notice'
import { pathOf } from './path'

/** The whole mappings, loaded only when somebody looks. */
export function Bodies({ kb, turn }: { kb: string; turn: number }) {
  const t = useText()
  const [open, setOpen] = useState(false)
  const bodies = useLoad(open ? ['mapping bodies', kb, turn] : null, (signal) =>
    Promise.all(['live', 'desired'].map((what) => call<MappingBody>('GET', pathOf(kb, what), undefined, signal))))
  const [live, desired] = bodies.data ?? []
  return (
    <details className="part" onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>{t('map.bodies')}</summary>
      {bodies.error ? <Failure error={bodies.error} again={bodies.again} /> : null}
      {live && desired ? (
        <div className="bodies">
          <div><h3 className="label">{t('map.bodies.live')}</h3><Code label={t('map.bodies.live')} text={JSON.stringify(live.mapping, null, 2)} /></div>
          <div><h3 className="label">{t('map.bodies.desired')}</h3><Code label={t('map.bodies.desired')} text={JSON.stringify(desired.mapping, null, 2)} /></div>
        </div>
      ) : null}
    </details>
  )
}
