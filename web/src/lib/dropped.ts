/** A file and the name of its document: in a folder that was dropped it has a path. */
export interface Found {
  file: File
  name: string
}

export interface Drop {
  files: Found[]
  passed: number // in folders: hidden, or of other kinds
}

/** Reads a drop; of folders only files with one of the endings are taken. Entries must be asked for before the event ends, so this is called within it. */
export function dropped(data: DataTransfer, endings: string[]): Promise<Drop> {
  const takes = (name: string) => endings.some((ending) => name.toLowerCase().endsWith(ending))
  const entries = [...data.items].map((item) => item.webkitGetAsEntry())
  const plain = [...data.files]
  return read(entries, plain, takes)
}

async function read(entries: (FileSystemEntry | null)[], plain: File[], takes: (name: string) => boolean): Promise<Drop> {
  const folders = entries.filter((e) => e?.isDirectory)
  const names = new Set(folders.map((e) => e?.name))
  const drop: Drop = { files: plain.filter((f) => !names.has(f.name)).map((file) => ({ file, name: file.name })), passed: 0 }
  for (const folder of folders) await walk(folder as FileSystemDirectoryEntry, takes, drop)
  return drop
}

async function walk(folder: FileSystemDirectoryEntry, takes: (name: string) => boolean, into: Drop) {
  const reader = folder.createReader()
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (some.length === 0) return
    for (const entry of some) {
      const hidden = entry.name.startsWith('.')
      if (entry.isDirectory && !hidden) await walk(entry as FileSystemDirectoryEntry, takes, into)
      else if (hidden || !takes(entry.name)) into.passed++
      else into.files.push({ file: await fileOf(entry as FileSystemFileEntry), name: entry.fullPath.slice(1) })
    }
  }
}

const fileOf = (entry: FileSystemFileEntry) => new Promise<File>((resolve, reject) => entry.file(resolve, reject))
