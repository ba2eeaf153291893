import { MAX_MISREADS, MAX_WAITS, type Misread, type SliceReport } from "../shared/protocol.ts";

/** Time, memory and remarks that the slices of a run have reported. */
export class RunMeasures {
  cpuMs: number;
  /** `cpuMs` at the last delivery. */
  deliveredCpuMs: number;
  /** Time that the repetition of deliveries has computed. */
  repeatedCpuMs = 0;
  /** The heap after the newest slice. */
  heapBytes = 0;
  /** The largest heap so far. */
  memoryBytes = 0;
  readonly #waits = new Set<string>();
  readonly #misreads = new Map<string, Misread>();

  constructor(cpuMs: number) {
    this.cpuMs = cpuMs;
    this.deliveredCpuMs = cpuMs;
  }

  add(report: SliceReport, isReplaying: boolean): void {
    if (isReplaying) this.repeatedCpuMs += report.computeMs;
    else this.cpuMs += report.computeMs;
    for (const stack of report.waits) if (this.#waits.size < MAX_WAITS) this.#waits.add(stack);
    for (const misread of report.misreads)
      if (this.#misreads.size < MAX_MISREADS) this.#misreads.set(`${misread.stack}${misread.name}`, misread);
    this.heapBytes = report.heapBytes;
    this.memoryBytes = Math.max(this.memoryBytes, report.heapBytes);
  }

  get waits(): readonly string[] {
    return [...this.#waits];
  }

  get misreads(): readonly Misread[] {
    return [...this.#misreads.values()];
  }
}
