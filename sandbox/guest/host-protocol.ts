/** What the guest can tell the host: the numbers are the first argument of the one host function. */
export const OP = { call: 0, wait: 1, log: 2, done: 3, fail: 4, timer: 5 } as const;
