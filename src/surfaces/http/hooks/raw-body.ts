import type { IncomingMessage } from "node:http";

/** The body of a request as it was sent; `busy`: other bodies need the memory; `gone`: the connection is lost. */
export type RawBody =
  /** `release` gives its memory to other bodies. */
  | { readonly kind: "bytes"; readonly bytes: Buffer; readonly release: () => void }
  | { readonly kind: "large" | "late" | "busy" | "gone" };

export interface RawBodyLimits {
  readonly bytes: number;
  /** Bytes of all bodies that are read at a time. */
  readonly totalBytes: number;
  /** Bytes of a body that is too large that are discarded, because many clients read only after they have written. */
  readonly discardedBytes: number;
  readonly milliseconds: number;
}

export const RAW_BODY_LIMITS: RawBodyLimits = {
  bytes: 1 << 20,
  totalBytes: 64 << 20,
  discardedBytes: 8 << 20,
  milliseconds: 10_000,
};

/** Creates the function that reads bodies of senders that are not verified yet. It never rejects. */
export function createBodyReader(limits = RAW_BODY_LIMITS): (incoming: IncomingMessage) => Promise<RawBody> {
  let total = 0;
  return (incoming) =>
    new Promise((resolve) => {
      let chunks: Buffer[] = [];
      let stored = 0;
      let length = 0;
      let failure: "large" | "busy" | undefined;
      const release = (): void => {
        total -= stored;
        [chunks, stored] = [[], 0];
      };
      const finish = (body: RawBody): void => {
        clearTimeout(timer);
        incoming.off("data", take).off("end", end).off("close", lose).off("error", lose);
        // A late error of the connection must not be without a listener.
        incoming.on("error", () => {});
        if (body.kind !== "bytes") release();
        resolve(body);
      };
      const take = (chunk: Buffer): void => {
        length += chunk.length;
        if (failure === undefined && length > limits.bytes) failure = "large";
        if (failure === undefined && total + chunk.length > limits.totalBytes) failure = "busy";
        if (failure === undefined) {
          chunks.push(chunk);
          stored += chunk.length;
          total += chunk.length;
          return;
        }
        release();
        if (length > limits.discardedBytes) finish({ kind: failure });
      };
      const end = (): void =>
        finish(failure === undefined ? { kind: "bytes", bytes: Buffer.concat(chunks), release } : { kind: failure });
      const lose = (): void => finish({ kind: "gone" });
      const timer = setTimeout(() => finish({ kind: failure ?? "late" }), limits.milliseconds);
      incoming.on("data", take).on("end", end).on("close", lose).on("error", lose);
    });
}
