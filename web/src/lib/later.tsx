import { lazy, type ComponentType } from 'react'
import { laterTexts } from './i18n'

/** A file of the application that did not arrive. */
export class NotLoaded extends Error {}

const failed = new Set<() => void>()

/** A page, or a part of one, whose file is loaded with its texts when it is first shown. */
export function later<Props extends object = object>(load: () => Promise<{ default: ComponentType<Props> }>): ComponentType<Props> {
  const begin = () => lazy(() => Promise.all([load(), laterTexts()]).then(([part]) => part, (cause: unknown) => {
    failed.add(() => (Part = begin()))
    throw new NotLoaded(cause instanceof Error ? cause.message : String(cause))
  })) as ComponentType<Props>
  let Part = begin()
  return (props) => <Part {...props} />
}

/** Has what failed to load begin anew; React keeps a failure for good. */
export function loadAnew() {
  for (const begin of failed) begin()
  failed.clear()
}
