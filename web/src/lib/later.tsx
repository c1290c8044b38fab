import { lazy, type ComponentType } from 'react'

/** A file of the application that did not arrive. */
export class NotLoaded extends Error {}

const failed = new Set<() => void>()

/** A page whose file is loaded when it is first shown. */
export function later(load: () => Promise<{ default: ComponentType }>): ComponentType {
  const begin = () => lazy(() => load().catch((cause: unknown) => {
    failed.add(() => (Page = begin()))
    throw new NotLoaded(cause instanceof Error ? cause.message : String(cause))
  }))
  let Page: ComponentType = begin()
  return () => <Page />
}

/** Has what failed to load begin anew; React keeps a failure for good. */
export function loadAnew() {
  for (const begin of failed) begin()
  failed.clear()
}
