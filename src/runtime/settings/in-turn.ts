/** Does a work when those before it have ended. Resolves and rejects as the work does. */
export type InTurn = <Value>(work: () => Promise<Value>) => Promise<Value>;

/** Creates a function that does works one after the other, in the order of its calls. */
export function createTurns(): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => {}); // its caller handles it
    return result;
  };
}
