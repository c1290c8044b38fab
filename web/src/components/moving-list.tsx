import { Component, createRef, type ReactNode } from 'react'

interface Props {
  className: string
  start: number
  /** What the list is about: motion is shown only while that stays. */
  about: string
  /** Which answer it shows. */
  answer: string
  children: ReactNode
}

const timing = { duration: 200, easing: 'ease-out' }

type Places = Map<string, { item: HTMLElement; at: DOMRect }>

/**
 * An ordered list whose items, known by their data-key, are seen going to their new places when another answer to
 * the same question orders them anew (first, last, invert, play); those that come and go fade.
 */
export class MovingList extends Component<Props, object, Places | null> {
  private readonly list = createRef<HTMLOListElement>()
  private readonly gone = createRef<HTMLDivElement>()

  private places(): Places {
    const items = [...(this.list.current?.children ?? [])] as HTMLElement[]
    return new Map(items.map((item) => [item.dataset.key ?? '', { item, at: item.getBoundingClientRect() }]))
  }

  override getSnapshotBeforeUpdate(before: Props): Places | null {
    const moves = before.about === this.props.about && before.answer !== this.props.answer
    return moves && !matchMedia('(prefers-reduced-motion: reduce)').matches ? this.places() : null
  }

  override componentDidUpdate(_: Props, __: object, before: Places | null) {
    if (!before) return
    const now = this.places()
    for (const [key, { item, at }] of now) {
      const was = before.get(key)
      if (!was) item.animate([{ opacity: 0 }, { opacity: 1 }], timing)
      else if (was.at.top !== at.top) item.animate([{ transform: `translateY(${within(was.at.top - at.top)}px)` }, { transform: 'none' }], timing)
    }
    for (const [key, { item, at }] of before) if (!now.has(key)) this.fade(item, at)
  }

  /** Shows what is gone a little longer, where it was. */
  private fade(item: HTMLElement, at: DOMRect) {
    const place = this.gone.current
    if (!place || at.bottom < 0 || at.top > innerHeight) return
    const shade = item.cloneNode(true) as HTMLElement
    for (const named of shade.querySelectorAll('[id]')) named.removeAttribute('id')
    const origin = place.getBoundingClientRect()
    Object.assign(shade.style, { position: 'absolute', top: `${at.top - origin.top}px`, left: '0', width: `${at.width}px` })
    place.append(shade)
    const end = shade.animate([{ opacity: 1 }, { opacity: 0 }], timing)
    end.onfinish = end.oncancel = () => shade.remove()
  }

  override render() {
    const { className, start, children } = this.props
    return (
      <div className="moving">
        <div ref={this.gone} className="gone" aria-hidden="true" inert />
        <ol ref={this.list} className={className} start={start}>{children}</ol>
      </div>
    )
  }
}

/** No item comes from farther than one sees. */
const within = (way: number) => Math.max(-innerHeight, Math.min(innerHeight, way))
