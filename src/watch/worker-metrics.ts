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
import type { Metrics, MetricsText } from './metrics.js'

/** A metric with its values, as the library gives it and takes it. */
interface Metric {
  readonly name: string
  readonly aggregator: string
}

/** The gauges of a worker: its own, and those of the store, which are the same for all workers. */
type Subject = 'process' | 'store'

/** What is asked of a worker. */
interface Question {
  readonly question: number
  readonly subject: Subject
}

/** What a worker sends: all that it has counted so far and, if it was asked, gauges. */
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
export function reportMetrics({ registry, storeGauges }: Metrics): { close(): Promise<void> } {
  const metrics = registry
    .getMetricsAsArray()
    .flatMap(({ name }) => registry.getSingleMetric(name) ?? [])
  const ofStore = new Set<(typeof metrics)[number]>(storeGauges)
  const counters = metrics.filter((metric) => !(metric instanceof Gauge))
  const gauges = {
    process: metrics.filter((metric) => metric instanceof Gauge && !ofStore.has(metric)),
    store: storeGauges,
  }

  async function report({ question, subject }: Partial<Question> = {}): Promise<void> {
    const asked = subject === undefined ? [] : gauges[subject]
    const values = await Promise.all(asked.map((metric) => metric.get()))
    // Last, as gauges may take a while: no report has lower counts than one that was sent before.
    const counts = await Promise.all(counters.map((metric) => metric.get()))
    const message: Report = { counts, gauges: values, question }
    // The other process may have ended.
    process.send?.(message, undefined, undefined, () => undefined)
  }

  process.on('message', (message) => {
    const asked: Partial<Question> = Object(message)
    if (asked.question !== undefined) void report(asked)
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
  const answering = new Gauge({
    name: 'item_store_workers',
    help: 'Number of workers that answered when the metrics were asked for',
    registers: [own],
  })

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

  /** Asks a worker for gauges, and so for its latest counts. @returns `undefined` if it does not answer. */
  function ask(worker: Worker, subject: Subject): Promise<readonly Metric[] | undefined> {
    questions += 1
    const question = questions
    return new Promise((resolve) => {
      const finish = (gauges?: readonly Metric[]) => {
        clearTimeout(timer)
        worker.off('message', listen).off('disconnect', giveUp).off('exit', giveUp)
        resolve(gauges)
      }
      const giveUp = () => finish()
      const listen = (message: unknown) => {
        const { question: answered, gauges = [] }: Partial<Report> = Object(message)
        if (answered === question) finish(gauges)
      }
      const timer = setTimeout(giveUp, timeout)
      worker.on('message', listen).on('disconnect', giveUp).on('exit', giveUp)
      worker.send({ question, subject } satisfies Question)
    })
  }

  /** Asks the worker for the gauges of the store that answers first. */
  async function askOfStore(workers: readonly Worker[], answers: readonly Promise<unknown>[]) {
    const answered = workers.map(async (worker, place) => {
      if ((await answers[place]) === undefined) throw new Error('no answer')
      return worker
    })
    const first = await Promise.any(answered).catch(() => undefined)
    return first && (await ask(first, 'store'))
  }

  return {
    contentType: own.contentType,

    async metrics() {
      // One that has not reported yet does not listen to questions either.
      const workers = [...counted.keys()].filter((worker) => worker.isConnected())
      const answers = workers.map((worker) => ask(worker, 'process'))
      const ofStore = await askOfStore(workers, answers)
      const gauges = (await Promise.all(answers)).filter((answer) => answer !== undefined)
      answering.set(gauges.length)
      // Both at one moment: the counts of a worker are in one of them, and never in both.
      const [ended, current] = [countedByEnded, [...counted.values()]]
      const parts = [
        await own.getMetricsAsJSON(),
        await ended,
        ...current,
        ...gauges,
        ofStore ?? [],
      ]
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
