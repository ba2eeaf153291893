import { randomUUID } from "node:crypto";

import type { Runtime } from "../../../runtime.ts";
import type { RuntimeView } from "../../../runtime/api/view.ts";
import type { ConsoleEventName, ConsoleEvents, ServerSummary } from "../messages.ts";
import { summarizeCall, summarizeRun } from "./activity.ts";
import { watchAccounts, watchApprovals, watchAutomations, watchServers } from "./watches.ts";

/** Receives an event as JSON, with the id after which a stream can be resumed. */
export type EventListener = (name: ConsoleEventName, json: string, id: string) => void;

/** Numbers the events of a runtime, and stores the newest, so that a browser can resume its stream. */
export interface EventHub {
  /**
   * Sends what a caller may see: `hello`, the events after `lastId` as far as they are stored, then new ones. Returns the function
   * that stops it.
   */
  follow(view: RuntimeView, lastId: string | undefined, listener: EventListener): () => void;
  close(): void;
}

/** Stored events. */
const MAX_EVENTS = 2_000;

interface HubEvent {
  readonly id: number;
  readonly name: ConsoleEventName;
  /** Returns the data for a caller; `undefined` if the caller may not see it. */
  readonly createData: (view: RuntimeView) => unknown;
}

export function createEventHub(runtime: Runtime, now: () => number = Date.now): EventHub {
  const server = randomUUID();
  const listeners = new Set<(event: HubEvent) => void>();
  let events: HubEvent[] = [];
  let lastNumber = 0;

  const emit: EmitEvent = (name, createData) => {
    const event = { id: ++lastNumber, name, createData };
    events.push(event);
    if (events.length >= MAX_EVENTS * 2) events = events.slice(-MAX_EVENTS);
    for (const listener of listeners) listener(event);
  };

  const stops = followRuntime(runtime, emit, now);
  const approvals = watchApprovals(runtime, (rows) =>
    emit("approvals", (view) => ({ pending: rows.filter((row) => view.seesCall(row)).map(({ id }) => id) })),
  );
  const servers = watchServers(runtime, (list) => emit("servers", (view) => filterServers(list, view)));
  const accounts = watchAccounts(runtime, (owners) =>
    emit("accounts", (view) => (view.may("ManageServers") || owners.has(view.caller.id) ? {} : undefined)),
  );
  const automations = watchAutomations(runtime, () =>
    emit("automations", (view) => (view.may("Read") ? {} : undefined)),
  );
  const watches = [servers, approvals, accounts, automations];

  return {
    follow(view, lastId, listener) {
      const send = ({ id, name, createData }: HubEvent): void => {
        const data = createData(view);
        if (data !== undefined) listener(name, JSON.stringify(data), `${server}:${id}`);
      };
      const after = parseId(lastId, server);
      const missed = after === undefined ? [] : events.filter(({ id }) => id > after);
      const isComplete = after !== undefined && missed.length === lastNumber - after;
      const hello: ConsoleEvents["hello"] = { server, isComplete };
      listener("hello", JSON.stringify(hello), `${server}:${isComplete ? after : lastNumber}`);
      if (isComplete) for (const event of missed) send(event);
      listeners.add(send);
      for (const watch of watches) watch.follow();
      return () => {
        if (!listeners.delete(send)) return;
        for (const watch of watches) watch.unfollow();
      };
    },
    close() {
      for (const stop of stops) stop();
      for (const watch of watches) watch.close();
      listeners.clear();
    },
  };
}

/** Shows the servers whose skills a caller may read. */
function filterServers(servers: readonly ServerSummary[], view: RuntimeView): readonly ServerSummary[] {
  const visible = new Set(view.servers.map(({ name }) => name));
  return servers.filter(({ name }) => visible.has(name));
}

type EmitEvent = <Name extends ConsoleEventName>(
  name: Name,
  createData: (view: RuntimeView) => ConsoleEvents[Name] | undefined,
) => void;

function followRuntime(runtime: Runtime, emit: EmitEvent, now: () => number): readonly (() => void)[] {
  return [
    runtime.on("catalog", ({ version }) =>
      emit("catalog", (view) => {
        const { skills, methods } = view.catalog;
        return { version, skills: skills.length, methods: methods.length };
      }),
    ),
    runtime.on("call", (entry) => {
      const call = summarizeCall(entry);
      emit("call", (view) => (view.seesCall(call) ? call : undefined));
    }),
    runtime.on("run", (outcome, facts) => {
      const run = summarizeRun(outcome, facts, now());
      emit("run", (view) => (view.seesRun(run) ? run : undefined));
    }),
    runtime.on("store", (failure) =>
      emit("store", (view) => (view.may("Read") ? { code: failure?.code ?? null } : undefined)),
    ),
    runtime.on("approval", ({ id, path }) =>
      emit("approval", (view) => (view.may("Read") && view.seesCall({ caller: "", path }) ? { id, path } : undefined)),
    ),
  ];
}

/** Returns the number in an id of this process. */
function parseId(id: string | undefined, server: string): number | undefined {
  const [start, number = ""] = id?.split(":") ?? [];
  return start === server && /^\d{1,15}$/.test(number) ? Number(number) : undefined;
}
