/** Runs tasks one at a time, in the order of the requests. */
export type Queue = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Creates a queue. A task that fails does not end it. */
export function createQueue(): Queue {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => {}); // the caller gets the error from `result`
    return result;
  };
}

/** Creates a queue for each key, which lasts as long as it has work. */
export function createQueues(): <Result>(key: string, work: () => Promise<Result>) => Promise<Result> {
  const last = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const result = (last.get(key) ?? Promise.resolve()).then(work);
    const ended: Promise<unknown> = result
      .catch(() => {}) // the caller gets the error from `result`
      .then(() => last.get(key) === ended && last.delete(key));
    last.set(key, ended);
    return result;
  };
}
