// How colours look beside each other, for everybody.
type Three = [number, number, number]

/** Linear light of a computed colour. */
function light(colour: string): Three {
  const [r = 0, g = 0, b = 0] = (colour.match(/[\d.]+/g) ?? []).map((n) => {
    const c = Number(n) / 255
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4
  })
  return [r, g, b]
}

const times = (m: Three[], v: Three) => m.map((row) => row.reduce((s, x, i) => s + x * (v[i] ?? 0), 0)) as Three

/** The contrast of WCAG. */
export function contrast(a: string, b: string): number {
  const [low = 0, high = 0] = [a, b].map((c) => times([[0.2126, 0.7152, 0.0722]], light(c))[0] + 0.05).sort((x, y) => x - y)
  return high / low
}

/** What eyes without one kind of cone see, by Machado, Oliveira and Fernandes (2009). */
const eyes: Three[][] = [
  [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
]

function oklab(linear: Three): Three {
  const cones = times([[0.41222, 0.53633, 0.05145], [0.2119, 0.6807, 0.1074], [0.0883, 0.28172, 0.62998]], linear)
  return times([[0.21045, 0.79362, -0.00407], [1.978, -2.42859, 0.45059], [0.0259, 0.78277, -0.80868]], cones.map(Math.cbrt) as Three)
}

/** The least distance of two colours in OKLab, whoever looks at them. */
export function apart(a: string, b: string): number {
  return Math.min(...eyes.map((eye) => {
    const [one, other] = [a, b].map((c) => oklab(times(eye, light(c)).map((x) => Math.min(1, Math.max(0, x))) as Three)) as [Three, Three]
    return Math.hypot(...one.map((x, i) => x - (other[i] ?? 0)))
  }))
}
