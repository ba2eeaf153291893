/** Calls a function soon; several requests at once are one call. */
export interface SoonCalls {
  readonly request: () => void;
  /** Makes no further calls. */
  readonly stop: () => void;
}

/** Creates such calls. One that fails is reported and made again. */
export function callSoon(call: () => Promise<void>, onFailure: (error: unknown) => void, delayMs: number): SoonCalls {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const run = async (): Promise<void> => {
    timer = undefined;
    try {
      await call();
    } catch (error) {
      onFailure(error);
      request();
    }
  };
  function request(): void {
    if (!isStopped) timer ??= setTimeout(() => void run(), delayMs).unref();
  }
  return {
    request,
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
