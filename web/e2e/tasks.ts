// The ten tasks, with how many clicks and typed fields each takes from the first page on. docs/tasks.md has the same table.
export const tasks = {
  find: { clicks: 2, fields: 1 },
  missing: { clicks: 4, fields: 1 },
  compare: { clicks: 3, fields: 1 },
  judge: { clicks: 4, fields: 1 },
  prove: { clicks: 5, fields: 0 },
  mapping: { clicks: 3, fields: 0 },
  synonym: { clicks: 3, fields: 2 },
  load: { clicks: 6, fields: 1 },
  key: { clicks: 6, fields: 1 },
  notfound: { clicks: 5, fields: 2 },
} satisfies Record<string, { clicks: number; fields: number }>

export type TaskName = keyof typeof tasks
