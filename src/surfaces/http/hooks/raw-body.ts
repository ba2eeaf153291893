import type { IncomingMessage } from "node:http";

import { createGrowingBuffer } from "../../../shared/http/growing-buffer.ts";
import { type BodyMemoryLimits, createBodyMemory } from "../../../shared/http/body-memory.ts";

/**
 * The body of a request as it was sent; `late`: it arrives too slowly; `busy`: other bodies need the memory; `gone`: the connection is
 * lost.
 */
export type RawBody =
  /** `release` gives its memory to other bodies. */
  | { readonly kind: "bytes"; readonly bytes: Buffer; readonly release: () => void }
  | { readonly kind: "large" | "late" | "busy" | "gone" };

export interface RawBodyLimits extends BodyMemoryLimits {
  readonly bytes: number;
  /** Bytes of a body that is too large that are discarded, because many clients read only after they have written. */
  readonly discardedBytes: number;
  /** Milliseconds between two looks at a body that has not arrived. */
  readonly lookMs: number;
  /** The looks after which it is late, and the bytes that must have arrived from the first look to each of the next. */
  readonly looks: number;
  readonly bytesPerLook: number;
}

export const RAW_BODY_LIMITS: RawBodyLimits = {
  bytes: 1 << 20,
  smallBytes: 64 << 10,
  totalSmallBytes: 16 << 20,
  totalLargeBytes: 48 << 20,
  discardedBytes: 8 << 20,
  lookMs: 1_000,
  looks: 10,
  bytesPerLook: 16 << 10,
};

/** Creates the function that reads bodies of senders that are not verified yet. It never rejects. */
export function createBodyReader(
  limits = RAW_BODY_LIMITS,
): (incoming: IncomingMessage, sender: string) => Promise<RawBody> {
  const memory = createBodyMemory(limits);
  return (incoming, sender) =>
    new Promise((resolve) => {
      const share = memory.open(sender, () => finish({ kind: "late" }));
      const content = createGrowingBuffer(limits, (bytes) => share.resize(bytes));
      let length = 0;
      let looks = 0;
      let failure: "large" | "busy" | undefined;
      const fail = (kind: typeof failure): void => {
        failure = kind;
        content.clear();
        share.release();
      };
      const finish = (body: RawBody): void => {
        clearInterval(timer);
        incoming.off("data", take).off("end", end).off("close", lose).off("error", lose);
        // A late error of the connection must not be without a listener.
        incoming.on("error", () => {});
        if (body.kind === "bytes") share.finish();
        else share.release();
        resolve(body);
      };
      const take = (chunk: Buffer): void => {
        length += chunk.length;
        if (failure === undefined && length > limits.bytes) fail("large");
        if (failure === undefined && !content.append(chunk)) fail("busy");
        if (failure !== undefined && length > limits.discardedBytes) finish({ kind: failure });
      };
      const end = (): void =>
        finish(
          failure === undefined
            ? { kind: "bytes", bytes: content.get(), release: () => share.release() }
            : { kind: failure },
        );
      const lose = (): void => finish({ kind: "gone" });
      const checkProgress = (): void => {
        looks++;
        const isLate = looks >= limits.looks || length < (looks - 1) * limits.bytesPerLook;
        if (isLate) finish({ kind: failure ?? "late" });
      };
      const timer = setInterval(checkProgress, limits.lookMs);
      incoming.on("data", take).on("end", end).on("close", lose).on("error", lose);
    });
}
