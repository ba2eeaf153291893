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

/** Creates a queue for each key. */
export function createQueues(): <Result>(key: string, work: () => Promise<Result>) => Promise<Result> {
  const queues = new Map<string, Queue>();
  return (key, work) => {
    const queue = queues.get(key) ?? createQueue();
    queues.set(key, queue);
    return queue(work);
  };
}
