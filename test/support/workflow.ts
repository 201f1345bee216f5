/** Checks workflows with GitHub's own parser and schema. */

import { join } from 'node:path'
import { emptyFolder, requireTool, toolsFolder } from './tools.js'

interface WorkflowParser {
  parseWorkflow(
    file: { name: string; content: string },
    trace: object,
  ): { context: { errors: { getErrors(): Error[] } } }
  NoOperationTraceWriter: new () => object
}

interface Bundler {
  buildSync(options: object): void
}

let parser: WorkflowParser | undefined

export function workflowErrors(content: string): string[] {
  parser ??= loadParser()
  const trace = new parser.NoOperationTraceWriter()
  const { context } = parser.parseWorkflow({ name: 'test.yml', content }, trace)
  return context.errors.getErrors().map(({ message }) => message)
}

/** Loads a bundle, because the parser's modules import JSON in a way that Node.js rejects. */
function loadParser(): WorkflowParser {
  const outfile = join(emptyFolder(), 'parser.cjs')
  const { buildSync }: Bundler = requireTool('esbuild')
  const entry = join(toolsFolder, 'node_modules/@actions/workflow-parser/dist/index.js')
  buildSync({ entryPoints: [entry], bundle: true, platform: 'node', outfile })
  return requireTool(outfile)
}
