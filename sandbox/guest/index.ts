/**
 * The guest's own code: what runs inside QuickJS before any snippet does. It is part of the image, so each snippet
 * finds it as if it had just started. It hands four functions to the host, and keeps nothing of a snippet anywhere else
 * than in the isolate's memory.
 */
import { deliver } from "./answers.ts";
import { defineBase64 } from "./bytes.ts";
import { afterPrinting, defineConsole, isAllPrinted } from "./console.ts";
import { allowAsItIs, encodeSettled, say, teachCrossing } from "./crossing.ts";
import { makeDevice, waitFor } from "./device.ts";
import { describeThrown, freezeStackFormat, noteThrown } from "./errors.ts";
import { host } from "./host.ts";
import { OP } from "./host-protocol.ts";
import { fix, parse, stringify, then } from "./primordials.ts";
import { refusePromisesAsValues } from "./promises.ts";
import { tame } from "./taming.ts";
import { defineTimers } from "./timers.ts";
import { defineWeb } from "./web.ts";

teachCrossing();
refusePromisesAsValues();
freezeStackFormat();
defineConsole();
defineTimers(fail);
defineBase64();
defineWeb(fail);
tame();
fix(globalThis, "__wait", waitFor);
fix(globalThis, "__waitThrown", noteThrown);

/** Gives the snippet that comes its `device`: JSON of whether values may be said as they are, and of the paths. */
function prepare(json: string): void {
  const [asItIs, paths] = parse(json) as [number, string[]];
  allowAsItIs(asItIs === 1);
  fix(globalThis, "device", makeDevice(paths));
}

/** Waits for the promise of the snippet, an async function. It was the host who called it, so that its stack is its own. */
function follow(promise: Promise<unknown>): void {
  void then(promise, returned, fail);
}

function returned(value: unknown): void {
  if (typeof value === "function" || typeof value === "symbol") {
    host(OP.fail, 0, "", `{"name":"TypeError","code":"RESULT_INVALID","message":"Cannot return a ${typeof value}"}`);
    return;
  }
  if (typeof value === "number" || typeof value === "boolean") {
    sendResult(stringify(value));
    return;
  }
  if (isAllPrinted() && say(OP.done, 0, "", value) !== undefined) return;
  encodeSettled(value, sendResult, fail);
}

function sendResult(json = ""): void {
  afterPrinting(() => host(OP.done, 0, "", json));
}

function fail(reason: unknown): void {
  afterPrinting(() => host(OP.fail, 0, "", describeThrown(reason)));
}

Object.assign(globalThis, { __prepare: prepare, __follow: follow, __deliver: deliver, __fail: fail });
