// Line icons on a grid of 16, drawn for this application.
const paths = {
  search: 'M7 12a5 5 0 1 0 0-10 5 5 0 0 0 0 10ZM10.7 10.7 14 14',
  key: 'M5.5 13a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM7.7 7.8 13 2.5M11 4.5l2 2',
  sun: 'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1',
  moon: 'M13.5 9.8A6 6 0 0 1 6.2 2.5a6 6 0 1 0 7.3 7.3Z',
  system: 'M2 3h12v8H2zM6 14h4M8 11v3',
  chevron: 'M4 6l4 4 4-4',
  up: 'M4 10l4-4 4 4',
  left: 'M10 3 5 8l5 5',
  right: 'M6 3l5 5-5 5',
  close: 'M4 4l8 8M12 4l-8 8',
  warning: 'M8 2 1.5 13.5h13L8 2ZM8 6.5v3.2M8 11.7v.1',
  copy: 'M6 5h7v9H6zM10 5V2H3v9h3',
  file: 'M4 1.5h5L12.5 5v9.5H4zM9 1.5V5h3.5',
  plus: 'M8 3v10M3 8h10',
  trash: 'M2.5 4h11M6 4V2.5h4V4M4 4l.7 9.5h6.6L12 4',
  upload: 'M8 11V2.5M4.5 6 8 2.5 11.5 6M2.5 13.5h11',
  download: 'M8 2.5V11M4.5 7.5 8 11l3.5-3.5M2.5 13.5h11',
  filter: 'M2 3h12L9.5 8.5V13l-3-1.5v-3z',
  again: 'M13 8a5 5 0 1 1-1.6-3.7M13 2v3h-3',
  check: 'M3 8.5 6.5 12 13 4.5',
}

export function Icon({ name }: { name: keyof typeof paths }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  )
}
