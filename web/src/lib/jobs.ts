import { useEffect, useState } from 'react'
import type { JobsJob } from '../api/schema'
import { follow } from './events'

/** Follows a job's events while there is one; when they end, or cannot be had, what it is of is asked again. */
export function useJob(id: string | undefined, again: () => void): JobsJob | undefined {
  const [job, setJob] = useState<JobsJob>()
  useEffect(() => {
    if (!id) return
    const abort = new AbortController()
    void follow<JobsJob>(`/v1/jobs/${encodeURIComponent(id)}/events`, abort.signal, setJob)
      .catch(() => undefined)
      .finally(() => setTimeout(() => abort.signal.aborted || again(), 400))
    const tick = setInterval(again, 3000)
    return () => {
      clearInterval(tick)
      abort.abort()
    }
  }, [id, again])
  return job?.id === id ? job : undefined
}
