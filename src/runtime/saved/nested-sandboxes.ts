import type { Sandbox } from "../../../sandbox/index.ts";

/**
 * The sandboxes of programs that are a part of other runs, one for each depth. A program that blocks on a call keeps its
 * thread, so the program that answers the call needs threads that no such program can take.
 */
export interface NestedSandboxes {
  /** Returns the sandbox of a depth, from 1; creates it at the first use. */
  get(depth: number): Sandbox;
  close(): Promise<void>;
}

export function createNestedSandboxes(create: () => Sandbox): NestedSandboxes {
  const sandboxes = new Map<number, Sandbox>();
  return {
    get(depth) {
      const sandbox = sandboxes.get(depth) ?? create();
      sandboxes.set(depth, sandbox);
      return sandbox;
    },
    async close() {
      await Promise.all([...sandboxes.values()].map((sandbox) => sandbox.close()));
    },
  };
}
