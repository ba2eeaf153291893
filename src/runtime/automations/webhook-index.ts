import { parseAutomationFile, type Webhook } from "../../automations/index.ts";
import { getMessage } from "../../errors.ts";
import type { AutomationRow, Database } from "../../store/index.ts";
import type { AutomationFiles } from "./automation-files.ts";

/** The webhook of the version of an automation that a person has accepted. */
export interface AcceptedWebhook {
  readonly automation: string;
  /** SHA-256 of the file. */
  readonly digest: string;
  readonly isEnabled: boolean;
  readonly webhook: Webhook;
}

/** Finds webhooks by their ids, in memory: a request for an unknown id costs what others cost. */
export interface WebhookIndex {
  /** Reads what has changed in the store, at most twice a second. Files that were removed are not found. */
  find(id: string): Promise<AcceptedWebhook | undefined>;
  /**
   * Returns the automation whose webhook has an id; of several, the first one. With `afresh`, all changes are read before; without it,
   * as for `find`.
   */
  findOwner(id: string, options?: { readonly afresh: boolean }): Promise<string | undefined>;
  close(): void;
}

interface IndexParts {
  readonly open: () => Promise<IndexDatabase>;
  readonly files: Pick<AutomationFiles, "get" | "refresh">;
  readonly warn: (text: string) => void;
  /** Called with an automation whose id of a webhook belongs to another one, once for each version. */
  readonly onConflict: (automation: string) => void;
}

interface IndexDatabase extends Pick<Database, "watch"> {
  readonly automations: Pick<Database["automations"], "list" | "count" | "getVersion">;
}

/** Milliseconds between two looks at the store: at least after changes, and at most without one. */
const MIN_LOOK_MS = 500;
const MAX_LOOK_MS = 60_000;

export function createWebhookIndex({ open, files, warn, onConflict }: IndexParts): WebhookIndex {
  const rows = createAcceptedRows(files, warn);
  /** The versions without an id of their own, as the name and the digest of each. */
  const conflicts = new Set<string>();
  let byId: ReadonlyMap<string, AcceptedWebhook> = new Map();
  let lastReading: Promise<void> | undefined;
  let isStale = true;
  let readAt = -Infinity;
  let stopWatching: (() => void) | undefined;

  async function read(): Promise<void> {
    const database = await open();
    stopWatching ??= database.watch(() => (isStale = true));
    isStale = false;
    if (await rows.readChanges(database.automations)) byId = indexById(rows.list());
  }

  function indexById(list: readonly AcceptedWebhook[]): ReadonlyMap<string, AcceptedWebhook> {
    const ids = new Map<string, AcceptedWebhook>();
    for (const entry of list) {
      const id = entry.webhook.id ?? entry.automation;
      const version = `${entry.automation} ${entry.digest}`;
      if (!ids.has(id)) ids.set(id, entry);
      else if (!conflicts.has(version)) {
        conflicts.add(version);
        onConflict(entry.automation);
      }
    }
    return ids;
  }

  /** Reads after the reading that is under way. A failed one is repeated by the next request. */
  function readAgain(): Promise<void> {
    const next = (lastReading ?? Promise.resolve()).catch(() => {}).then(read);
    lastReading = next;
    next.catch(() => (readAt = -Infinity));
    return next;
  }

  const get = (id: string): AcceptedWebhook | undefined => {
    const entry = byId.get(id);
    return entry !== undefined && files.get(entry.automation) !== undefined ? entry : undefined;
  };
  async function find(id: string): Promise<AcceptedWebhook | undefined> {
    const age = performance.now() - readAt;
    const isDue = age > MAX_LOOK_MS || (isStale && age > MIN_LOOK_MS);
    if (isDue) readAt = performance.now();
    await (isDue ? readAgain() : lastReading);
    return get(id);
  }

  return {
    find,
    async findOwner(id, { afresh } = { afresh: false }) {
      if (!afresh) return (await find(id))?.automation;
      await readAgain();
      return get(id)?.automation;
    },
    close: () => stopWatching?.(),
  };
}

interface AcceptedRows {
  /** Reads the rows that have changed; returns false if no webhook can have. */
  readChanges(automations: IndexDatabase["automations"]): Promise<boolean>;
  /** The first one that was created is first. */
  list(): readonly AcceptedWebhook[];
}

/** Milliseconds by which the clocks of processes may differ. */
const OVERLAP_MS = 600_000;

interface AcceptedRow {
  readonly row: AutomationRow;
  readonly webhook: Webhook | undefined;
}

function createAcceptedRows(files: IndexParts["files"], warn: IndexParts["warn"]): AcceptedRows {
  let rows = new Map<string, AcceptedRow>();
  let readUntil: number | undefined;

  /** A changed file waits for a person: until then, deliveries are verified as the accepted version says. */
  async function readWebhook(
    { name, digest }: AutomationRow,
    automations: Pick<IndexDatabase["automations"], "getVersion">,
  ): Promise<Webhook | undefined> {
    if (digest === null) return undefined;
    const before = rows.get(name);
    if (before?.row.digest === digest) return before.webhook;
    if (files.get(name) === undefined) await files.refresh(); // the row may be newer
    const file = files.get(name);
    if (file?.kind === "file" && file.digest === digest) return file.file.webhook;
    return parseAccepted(name, (await automations.getVersion(name))?.text);
  }

  function parseAccepted(name: string, text = ""): Webhook | undefined {
    if (!/^webhook\s*:/m.test(text)) return undefined;
    try {
      return parseAutomationFile(name, text).webhook;
    } catch (error) {
      warn(`Cannot read the accepted version of the automation ${name}: ${getMessage(error)}`);
      return undefined;
    }
  }

  return {
    async readChanges(automations) {
      // The clock may have been far ahead when a row was written, or read.
      const since = readUntil === undefined ? undefined : Math.min(readUntil, Date.now()) - OVERLAP_MS;
      let list = await automations.list(since === undefined ? {} : { updated: { gt: since } });
      let next = new Map(since === undefined ? [] : rows);
      for (const row of list) next.set(row.name, { row, webhook: undefined });
      if (since !== undefined && (await automations.count()) !== next.size) {
        list = await automations.list(); // one was removed
        next = new Map();
      }
      let isChanged = next.size < rows.size || rows.size < list.length;
      for (const row of list) {
        next.set(row.name, { row, webhook: await readWebhook(row, automations) });
        isChanged ||= !isSame(row, rows.get(row.name)?.row);
      }
      rows = next;
      readUntil = list.reduce((latest, { updated }) => Math.max(latest, updated), readUntil ?? 0);
      return isChanged;
    },
    list() {
      const sorted = [...rows.values()].toSorted((one, other) => one.row.created - other.row.created);
      return sorted.flatMap(({ row: { name, digest, state }, webhook }) => {
        if (digest === null || state === "proposed" || webhook === undefined) return [];
        return { automation: name, digest, isEnabled: state === "enabled", webhook };
      });
    },
  };
}

/** True if two rows of an automation have the same webhook; the number of failures changes often. */
function isSame(row: AutomationRow, before: AutomationRow | undefined): boolean {
  return before?.digest === row.digest && before.state === row.state && before.created === row.created;
}
