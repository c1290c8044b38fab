/**
 * How much of the best possible order the first k of a ranking have: the sum of grade / log2(rank + 1) over its grades, divided
 * by that of all grades in their best order (Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS
 * 2002), as evaluation/metric of the gateway has it. What has no grade counts as not relevant; null: nothing is relevant.
 */
export function ndcg(ranking: string[], grades: Record<string, number>, k: number): number | null {
  const gain = (of: number[]) => of.slice(0, k).reduce((sum, grade, i) => sum + Math.max(0, grade) / Math.log2(i + 2), 0)
  const ideal = gain(Object.values(grades).sort((a, b) => b - a))
  return ideal === 0 ? null : gain(ranking.map((id) => grades[id] ?? 0)) / ideal
}
