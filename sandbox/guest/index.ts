/**
 * The guest's own code, which runs inside QuickJS before any program does. It is part of the snapshot, so each program
 * finds it freshly started. It hands six functions to the host, and keeps the state of a program only in the isolate's
 * memory.
 */
import { deliverResult, deliverNext, expectTouches, hasCallsUnderWay } from "./call-results.ts";
import { defineBase64 } from "./bytes.ts";
import { afterPrinting, defineConsole, isAllPrinted } from "./console.ts";
import { allowRaw, encodeSettled, sendRaw, installToJson } from "./serialization.ts";
import { installPages, makeDevice, makeMethod } from "./device.ts";
import { cannotSettle, describeThrown, freezeStackFormat, nameRejections, noteThrown } from "./errors.ts";
import { installAnswers } from "./found-methods.ts";
import { host } from "./host.ts";
import { closeIteratorHelpers } from "./iterators.ts";
import { OP } from "./host-protocol.ts";
import { defineLines, reportMisreads } from "./misreads.ts";
import { fix, parse, stringify, then } from "./primordials.ts";
import { seek, tested, touchAll, touchPromises } from "./promises.ts";
import { removeGlobals } from "./remove-globals.ts";
import { defineTimers, reportOpenTimers } from "./timers.ts";
import { touch, wantedCall } from "./touch.ts";
import { defineWeb } from "./web.ts";

installToJson();
installAnswers(makeMethod);
installPages();
touchPromises();
freezeStackFormat();
nameRejections();
closeIteratorHelpers();
defineConsole();
defineTimers(fail);
defineBase64();
defineWeb(fail);
reportMisreads();
defineLines();
removeGlobals();
fix(globalThis, "__waitFor", touch);
fix(globalThis, "__waitForAll", touchAll);
fix(globalThis, "__waitTested", tested);
fix(globalThis, "__waitSeek", seek);
fix(globalThis, "__waitThrown", noteThrown);
fix(globalThis, "__waitForCalls", (atEnd: boolean) => {
  expectTouches();
  finishesCalls = atEnd;
});

/** Creates `device` for the next program. `json` holds whether values may be sent raw (1 or 0), and the paths. */
function prepare(json: string): void {
  const [raw, paths] = parse(json) as [number, string[]];
  allowRaw(raw === 1);
  const { device, devices } = makeDevice(paths);
  fix(globalThis, "device", device);
  if (devices !== undefined) fix(globalThis, "devices", devices);
}

/** Waits for the program's promise. The host has called the program itself, so that its stack holds no other frames. */
function follow(promise: Promise<unknown>): void {
  void then(promise, returned, fail);
}

/** True if the program may lack an `await`: it then ends only after all calls that it has begun. */
let finishesCalls = false;
let finish: (() => void) | undefined;

function returned(value: unknown): void {
  if (finishesCalls) finish = () => sendValue(value);
  else sendValue(value);
}

/** Called when the program has no job left; returns true if this call has given it one. */
function idle(): boolean {
  if (deliverNext(wantedCall())) return true;
  const send = finish;
  if (send === undefined || hasCallsUnderWay()) return false;
  finish = undefined;
  send();
  return true;
}

function sendValue(value: unknown): void {
  reportOpenTimers();
  if (typeof value === "function" || typeof value === "symbol") {
    host(OP.fail, 0, "", `{"name":"TypeError","code":"RESULT_INVALID","message":"Cannot return a ${typeof value}"}`);
    return;
  }
  if (typeof value === "number" || typeof value === "boolean") {
    sendResult(stringify(value));
    return;
  }
  if (isAllPrinted() && sendRaw(OP.done, 0, "", value)) return;
  encodeSettled(value, sendResult, fail);
}

function sendResult(json = ""): void {
  afterPrinting(() => host(OP.done, 0, "", json));
}

function fail(reason: unknown): void {
  afterPrinting(() => host(OP.fail, 0, "", describeThrown(reason)));
}

Object.assign(globalThis, {
  __prepare: prepare,
  __follow: follow,
  __deliver: deliverResult,
  __fail: fail,
  __cannotSettle: cannotSettle,
  __idle: idle,
});
