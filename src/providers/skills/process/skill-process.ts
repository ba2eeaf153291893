import { type ChildProcess, spawn } from "node:child_process";
import { Socket } from "node:net";
import { fileURLToPath } from "node:url";

import type { SkillProcessesOptions } from "./index.ts";
import { findPackageFile } from "../../../../sandbox/package-files.ts";
import type { CallContext } from "../../../model/skill.ts";
import { type CallRequest, Calls, type CallsOptions, type ProcessCallEnd } from "./calls.ts";
import { ExitMonitor } from "./exit-monitor.ts";
import { newToken, packMessage, Unpacker } from "./framing.ts";
import { type ImportLimits, Imports } from "./imports.ts";
import { getInspectorFlags, takeInspectorLine } from "./inspector.ts";
import { CHANNEL, type Loaded, type LoadRequest, type Request, type Response } from "./messages.ts";
import { parseResponse } from "./parse-report.ts";
import { skillEnvironment } from "./skill-environment.ts";
import { getProjectFrames, ProcessGone } from "./skill-errors.ts";

/** Calls listeners of the host. An error of a listener is rethrown as uncaught; the caller continues. */
function notifyListeners(listeners: () => void): void {
  try {
    listeners();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

const SHUTDOWN_GRACE_MS = 500;

function findEntry(): string {
  const path = "src/providers/skills/process/child/main.js";
  return fileURLToPath(findPackageFile(path, () => new URL("./child/main.js", import.meta.url)));
}

export interface ProcessOptions
  extends CallsOptions, Pick<SkillProcessesOptions, "memoryBytes" | "inspector" | "variables" | "log"> {
  readonly onEnd: () => void;
}

/** The part of a process that its imports and calls use. */
export interface ProcessEvents {
  /** Throws if the request is not plain data. */
  readonly send: (request: Request) => void;
  /** Ends the process. */
  readonly stop: (why: string) => void;
  readonly hasCalls: () => boolean;
  /** Called when a call or an import starts or ends. */
  readonly changed: () => void;
  /** Called when others have waited for the import of a module for a second. */
  readonly reportSlow: (module: string, timeoutMs: number) => void;
}

/** The runtime's handle of one skill process. */
export class SkillProcess {
  readonly #options: ProcessOptions;
  readonly #word = newToken();
  readonly #child: ChildProcess;
  readonly #channel: Socket;
  readonly #exitMonitor: ExitMonitor;
  readonly #imports: Imports;
  readonly #calls: Calls;
  /** The names of the skills of each module. */
  readonly #skills = new Map<string, readonly string[]>();
  #isRetired = false;
  #isAwaited: boolean | undefined;

  constructor(options: ProcessOptions) {
    const heapMb = Math.ceil(options.memoryBytes / (1 << 20));
    const limitBytes = options.memoryBytes * 1.5;
    const { inspector } = options;
    const flags = [
      `--max-old-space-size=${heapMb}`,
      "--disable-warning=ExperimentalWarning",
      ...getInspectorFlags(inspector),
    ];
    this.#options = options;
    this.#child = spawn(process.execPath, [...flags, findEntry(), String(limitBytes), String(process.pid)], {
      stdio: ["ignore", "pipe", "pipe", "pipe"],
      env: skillEnvironment(process.env, options.variables ?? {}),
    });
    this.#channel = getChannel(this.#child);
    this.#channel.write(this.#word);
    this.#exitMonitor = new ExitMonitor(this.#child, this.#channel, limitBytes, (level, line) =>
      notifyListeners(() => takeInspectorLine(line, inspector) || options.log(level, line)),
    );
    const line: ProcessEvents = {
      send: (request) => this.#send(request),
      stop: (why) => this.#exitMonitor.stop(why),
      hasCalls: () => this.hasCalls,
      changed: () => this.#settle(),
      reportSlow: (module, timeoutMs) =>
        options.log("warn", `Waiting for the import of ${this.#describe(module)}, for up to ${timeoutMs / 1_000} s`),
    };
    this.#imports = new Imports(line);
    this.#calls = new Calls(line, options);
    void this.#exitMonitor.over.then(() => this.#ended());
    this.#listen();
    this.#settle();
  }

  get isOver(): boolean {
    return this.#exitMonitor.isOver;
  }

  /** Resolves when the process has ended. */
  get over(): Promise<void> {
    return this.#exitMonitor.over;
  }

  get hasCalls(): boolean {
    return !this.#calls.isIdle;
  }

  get isIdle(): boolean {
    return this.#calls.isIdle && this.#imports.isIdle;
  }

  /** Imports a module after those requested earlier. Rejects with a `ModuleFailure` or `ProcessGone`. */
  async load(request: LoadRequest, limits: ImportLimits): Promise<Loaded> {
    if (this.isOver) throw new ProcessGone(this.#exitMonitor.why, false);
    this.#skills.set(request.module, request.skills);
    const loaded = this.#imports.load(request, limits);
    this.#settle();
    return loaded;
  }

  /** Settles like the last import of a module; `undefined` if the module was never requested. */
  imported(module: string): Promise<Loaded> | undefined {
    return this.#imports.of(module);
  }

  unload(module: string): void {
    this.#imports.forget(module);
  }

  async invoke(request: CallRequest, context: CallContext, startMs: number): Promise<ProcessCallEnd> {
    return this.isOver ? { kind: "moved" } : this.#calls.invoke(request, context, startMs);
  }

  /** Ends the process once its calls and imports have ended. */
  retire(): void {
    this.#isRetired = true;
    this.#settle();
  }

  close(): void {
    this.#calls.giveUp();
    if (!this.#imports.isIdle) this.#exitMonitor.stop("the skills were closed");
    this.retire();
    // The program does not wait for an idle process, but it waits for a closed one.
    this.#child.ref();
  }

  #listen(): void {
    const messages = new Unpacker(this.#word, (message) => {
      const response = parseResponse(message);
      if (response !== undefined) notifyListeners(() => this.#onResponse(response));
    });
    const messageTimeout = new MessageTimeout(() => this.#distrust());
    this.#channel.on("close", () => messageTimeout.end());
    this.#channel.on("data", (bytes: Buffer) => {
      try {
        messages.add(bytes);
      } catch {
        this.#distrust();
      }
      if (messages.isWithin) messageTimeout.begin();
      else messageTimeout.end();
    });
  }

  /** Stops the process: skill code has written to the channel, so reports may be lost and started calls are unknown. */
  #distrust(): void {
    const why = "the skill process sent an unreadable message";
    this.#channel.destroy();
    this.#exitMonitor.stop(why);
    this.#calls.fail(why);
  }

  #onResponse(response: Response): void {
    if ("call" in response) return this.#calls.onResponse(response);
    switch (response.kind) {
      case "ready":
        return this.#imports.begin();
      case "loaded":
      case "failed":
        this.#imports.onReport(response);
        return this.#settle();
      case "changed": {
        const { path, what } = response;
        return this.#options.log("warn", `${path} has changed ${what}, which all skills share; it was restored`);
      }
      case "stray": {
        const { failure, module } = response;
        const frames = getProjectFrames(failure.stack);
        const first = `${this.#describe(module)} failed outside of any call: ${failure.name}: ${failure.message}`;
        return this.#options.log("error", [first, ...frames].join("\n"));
      }
      case "console":
        return this.#options.log(response.level, response.text, response.path ?? response.module);
    }
  }

  /** `WeatherSkill (weather.ts)`; "A skill" for a module that was never requested. */
  #describe(module: string | undefined): string {
    const skills = module === undefined ? undefined : this.#skills.get(module);
    return skills === undefined ? "A skill" : `${skills.join(", ")} (${module})`;
  }

  #send(request: Request): void {
    const frame = packMessage(request, this.#word);
    // Without a channel the process is about to exit; its exit fails the request.
    if (this.#channel.writable) this.#channel.write(frame);
  }

  #ended(): void {
    const isExpected = this.#isRetired || !this.isIdle;
    const names = [...this.#skills.keys()].map((module) => this.#describe(module)).join(", ");
    if (!isExpected) this.#options.log("error", `Without a running call, ${this.#exitMonitor.why}; it had ${names}`);
    this.#imports.close(this.#exitMonitor.why, this.hasCalls);
    this.#calls.close(this.#exitMonitor.why);
    this.#options.onEnd();
  }

  /** Keeps the program alive only while the process is busy; ends a retired process once it is idle. */
  #settle(): void {
    if (this.#isAwaited !== !this.isIdle) this.#await(!this.isIdle);
    if (!this.#isRetired || !this.isIdle || this.isOver) return;
    this.#channel.end();
    setTimeout(() => this.#exitMonitor.stop("it is no longer needed"), SHUTDOWN_GRACE_MS).unref();
  }

  #await(isAwaited: boolean): void {
    this.#isAwaited = isAwaited;
    for (const handle of [this.#child, this.#channel]) {
      if (isAwaited) handle.ref();
      else handle.unref();
    }
  }
}

/** Returns the message channel of the process, which is separate from its output. No stream keeps the program alive. */
function getChannel({ stdio }: ChildProcess): Socket {
  for (const stream of stdio) if (stream instanceof Socket) stream.unref();
  const channel = stdio[CHANNEL];
  if (!(channel instanceof Socket)) throw new Error("A process has no channel");
  // The exit of the process follows and gives the reason.
  return channel.on("error", () => undefined);
}

/** Time limit for the next part of a message: our code in the process writes each message in one go. */
const TIMEOUT_MS = 1_000;

/** Detects a message that started but does not continue. */
class MessageTimeout {
  readonly #onStall: () => void;
  #limit: NodeJS.Timeout | undefined;

  constructor(onStall: () => void) {
    this.#onStall = onStall;
  }

  /** Restarts the timer after a part of a message arrived. */
  begin(): void {
    this.end();
    const limit = setTimeout(() => {
      // This process may have been busy: read data that has arrived first.
      setImmediate(() => this.#limit === limit && this.#onStall());
    }, TIMEOUT_MS).unref();
    this.#limit = limit;
  }

  end(): void {
    clearTimeout(this.#limit);
    this.#limit = undefined;
  }
}
