export { connectExecutors, type ExecutorPool } from "./pool.ts";
export {
  connectFronts,
  type FrontAnswer,
  type FrontCall,
  type Fronts,
  type SentValue,
  serveFrontCalls,
} from "./front-calls.ts";
export { listEvents } from "./events.ts";
export type { Job } from "./protocol.ts";
export { restoreError } from "./protocol.ts";
export type { JobEnd, JobListener } from "./sent-job.ts";
export { startExecutor, type StartedExecutor } from "./executor.ts";
export type { ExecutorSettings } from "./settings.ts";
export { createVersionReader, type VersionedRuntime } from "./version.ts";
