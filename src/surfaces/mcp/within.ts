import type { Runtime } from "../../runtime.ts";

/** Waits for something, but no longer than so many milliseconds; whatever becomes of it. */
export async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([work.catch(() => {}), over]);
  clearTimeout(timer);
}

/** Waits until it is known what servers offer, but not for those that take long. */
export function knownWithin(ms: number, runtime: Runtime): Promise<void> {
  return within(ms, runtime.known);
}
