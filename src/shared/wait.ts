/** Waits until work settles or `ms` milliseconds have passed; ignores its result and its error. */
export async function waitAtMost(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([work.catch(() => {}), over]);
  clearTimeout(timer);
}
