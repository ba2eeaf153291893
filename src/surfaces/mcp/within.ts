import type { Runtime } from "../../runtime.ts";

/** Waits for something, but no longer than so many milliseconds; whatever becomes of it. */
export async function waitAtMost(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([work.catch(() => {}), over]);
  clearTimeout(timer);
}

/** Waits until it is known what servers offer, but not for those that take long. */
export function settlesWithin(ms: number, runtime: Runtime): Promise<void> {
  return waitAtMost(ms, runtime.known);
}
