/**
 * The metrics of all workers together: each reports its own, the process that started them adds them up.
 *
 * `clusterMetrics` of the library is of no use for this: it waits five seconds for a worker that has
 * just ended and then fails, and what such a worker had counted is missing from then on, which Prometheus
 * takes for a restart and counts again.
 *
 * @module
 */

import cluster, { type Worker } from 'node:cluster'
import { AggregatorRegistry, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import type { MetricsText } from './metrics.js'

/** A metric with its values, as the library gives it and takes it. */
interface Metric {
  readonly name: string
  readonly aggregator: string
}

/** What is asked of a worker. */
interface Question {
  readonly question: number
}

/** What a worker sends: all that it has counted so far and, if it was asked, its gauges. */
interface Report {
  readonly counts: readonly Metric[]
  readonly gauges: readonly Metric[]
  /** Which question it answers, if any. */
  readonly question: number | undefined
}

/** How often a worker reports what it has counted: the most that is lost when it is killed. */
const reportInterval = 1_000 // milliseconds

/** How long after the end of a worker its last message may still come, in milliseconds. */
const lastMessageTime = 1_000

/** Sums say nothing of these; the default of some, their mean, would hide a worker that is stuck. */
const aggregators: Record<string, string> = {
  process_start_time_seconds: 'min',
  nodejs_eventloop_lag_seconds: 'max',
  nodejs_eventloop_lag_mean_seconds: 'max',
  nodejs_eventloop_lag_stddev_seconds: 'max',
  nodejs_eventloop_lag_p50_seconds: 'max',
  nodejs_eventloop_lag_p90_seconds: 'max',
  nodejs_eventloop_lag_p99_seconds: 'max',
}

/** In a worker: reports its metrics to the process that started it. */
export function reportMetrics(registry: Registry): { close(): Promise<void> } {
  const metrics = registry
    .getMetricsAsArray()
    .flatMap(({ name }) => registry.getSingleMetric(name) ?? [])
  const isGauge = (metric: (typeof metrics)[number]) => metric instanceof Gauge
  const [gauges, counters] = [metrics.filter(isGauge), metrics.filter((each) => !isGauge(each))]

  async function report(question?: number): Promise<void> {
    const asked = question === undefined ? [] : gauges
    const values = await Promise.all(asked.map((metric) => metric.get()))
    // Last, as gauges may take a while: no report has lower counts than one that was sent before.
    const counts = await Promise.all(counters.map((metric) => metric.get()))
    const message: Report = { counts, gauges: values, question }
    // The other process may have ended.
    process.send?.(message, undefined, undefined, () => undefined)
  }

  process.on('message', (message) => {
    const { question }: Partial<Question> = Object(message)
    if (question !== undefined) void report(question)
  })
  void report()
  const timer = setInterval(() => void report(), reportInterval)
  timer.unref()
  return {
    async close() {
      clearInterval(timer)
      await report()
    },
  }
}

/**
 * In the process that starts the workers, before it starts any: the metrics of all processes together.
 * What a worker had counted when it ended stays in the sums.
 * @param timeout how long to wait for the gauges of a worker, in milliseconds; they are left out then.
 */
export function collectMetrics(timeout: number): MetricsText {
  const own = new Registry()
  collectDefaultMetrics({ register: own })
  const counted = new Map<Worker, readonly Metric[]>()
  let countedByEnded: Promise<readonly Metric[]> = Promise.resolve([])
  const hasEnded = new WeakSet<Worker>()
  let questions = 0

  cluster.on('message', (worker, message) => {
    const { counts }: Partial<Report> = Object(message)
    if (counts !== undefined && !hasEnded.has(worker)) counted.set(worker, counts)
  })

  function addEnded(worker: Worker): void {
    if (hasEnded.has(worker)) return
    hasEnded.add(worker)
    const parts = [countedByEnded, counted.get(worker) ?? []]
    counted.delete(worker)
    countedByEnded = Promise.all(parts).then((metrics) => sumOf(metrics).getMetricsAsJSON())
  }
  // This comes after all messages of the worker, but not always if it was killed.
  cluster.on('disconnect', addEnded)
  cluster.on('exit', (worker) => {
    setTimeout(addEnded, lastMessageTime, worker).unref()
  })

  /** Asks a worker for its gauges, and so for its latest counts. */
  function ask(worker: Worker): Promise<readonly Metric[]> {
    questions += 1
    const question = questions
    return new Promise((resolve) => {
      const finish = (gauges: readonly Metric[]) => {
        clearTimeout(timer)
        worker.off('message', listen).off('disconnect', giveUp).off('exit', giveUp)
        resolve(gauges)
      }
      const giveUp = () => finish([])
      const listen = (message: unknown) => {
        const { question: answered, gauges = [] }: Partial<Report> = Object(message)
        if (answered === question) finish(gauges)
      }
      const timer = setTimeout(giveUp, timeout)
      worker.on('message', listen).on('disconnect', giveUp).on('exit', giveUp)
      worker.send({ question } satisfies Question)
    })
  }

  return {
    contentType: own.contentType,

    async metrics() {
      // One that has not reported yet does not listen to questions either.
      const workers = [...counted.keys()].filter((worker) => worker.isConnected())
      const gauges = await Promise.all(workers.map(ask))
      // Both at one moment: the counts of a worker are in one of them, and never in both.
      const [ended, current] = [countedByEnded, [...counted.values()]]
      const parts = [await own.getMetricsAsJSON(), await ended, ...current, ...gauges]
      return await sumOf(parts).metrics()
    },
  }
}

function sumOf(parts: readonly (readonly Metric[])[]): Registry {
  const known = parts.map((metrics) =>
    metrics.map((metric) => ({
      ...metric,
      aggregator: aggregators[metric.name] ?? metric.aggregator,
    })),
  )
  return AggregatorRegistry.aggregate(known)
}
