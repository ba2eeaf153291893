/** Limits of one run. A run that exceeds one ends with that limit's own error; the host and other runs continue. */
export interface Limits {
  /** Time in which guest code computes; waiting for calls is not counted. */
  readonly cpuMs: number;
  /** Time from start to end, waiting included. */
  readonly wallMs: number;
  /** Heap of the isolate. */
  readonly memoryBytes: number;
  /** Calls in one run. */
  readonly calls: number;
  /** Calls under way at once; further ones wait until others have ended. */
  readonly callsInFlight: number;
  /** Printed text; more is cut visibly. */
  readonly outputBytes: number;
  /** JSON of the result; a larger one is cut visibly. */
  readonly resultBytes: number;
  /** Tokens of the result in the text for a model; of a larger one it has the shape, the beginning and a handle. */
  readonly answerTokens: number;
  /** Text of the program. */
  readonly sourceBytes: number;
  /** JSON of the arguments of one call. */
  readonly argumentBytes: number;
  /** JSON of the result of one call, on its way to the guest. */
  readonly answerBytes: number;
}

export const DEFAULT_LIMITS: Limits = Object.freeze({
  cpuMs: 5_000,
  wallMs: 60_000,
  memoryBytes: 64 << 20,
  calls: 1_000,
  callsInFlight: 64,
  outputBytes: 64 << 10,
  resultBytes: 256 << 10,
  answerTokens: 4_096,
  sourceBytes: 256 << 10,
  argumentBytes: 1 << 20,
  answerBytes: 4 << 20,
});
