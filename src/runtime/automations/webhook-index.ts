import { parseAutomationFile, type Webhook } from "../../automations/index.ts";
import { getMessage } from "../../errors.ts";
import type { AutomationRow, AutomationTable, Database } from "../../store/index.ts";
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
  find(id: string): Promise<AcceptedWebhook | undefined>;
  close(): void;
}

interface IndexParts {
  readonly open: () => Promise<Pick<Database, "automations" | "watch">>;
  readonly files: Pick<AutomationFiles, "get" | "refresh">;
  readonly warn: (text: string) => void;
}

/** Milliseconds between two looks at the store: at least after changes, and at most without one. */
const MIN_LOOK_MS = 500;
const MAX_LOOK_MS = 60_000;

export function createWebhookIndex({ open, files, warn }: IndexParts): WebhookIndex {
  /** The accepted versions that were read, by the names of their automations. */
  const versions = new Map<string, { readonly digest: string; readonly entry: AcceptedWebhook | undefined }>();
  let byId: Promise<ReadonlyMap<string, AcceptedWebhook>> | undefined;
  let isStale = false;
  let readAt = 0;
  let stopWatching: (() => void) | undefined;

  async function read(): Promise<ReadonlyMap<string, AcceptedWebhook>> {
    const database = await open();
    const { automations } = database;
    stopWatching ??= database.watch(() => (isStale = true));
    isStale = false;
    await files.refresh();
    const rows = (await automations.list()).toSorted((one, other) => one.created - other.created);
    const ids = new Map<string, AcceptedWebhook>();
    for (const row of rows) {
      const entry = await readAccepted(row, automations);
      if (entry === undefined) continue;
      const id = entry.webhook.id ?? row.name;
      const other = ids.get(id);
      if (other === undefined) ids.set(id, { ...entry, isEnabled: row.state === "enabled" });
      else
        warn(`The webhook ${id} belongs to the automation ${other.automation}; that of ${row.name} needs another id`);
    }
    return ids;
  }

  /** A changed file waits for a person: until then, deliveries are verified as the accepted version says. */
  async function readAccepted(
    { name, digest, state }: AutomationRow,
    automations: Pick<AutomationTable, "getVersion">,
  ): Promise<AcceptedWebhook | undefined> {
    const file = files.get(name);
    if (digest === null || state === "proposed" || file === undefined) return undefined;
    const version = versions.get(name);
    if (version?.digest === digest) return version.entry;
    const isSame = file.kind === "file" && file.digest === digest;
    const webhook = isSame ? file.file.webhook : parseAccepted(name, (await automations.getVersion(name))?.text);
    const entry = webhook && { automation: name, digest, isEnabled: true, webhook };
    versions.set(name, { digest, entry });
    return entry;
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
    async find(id) {
      const age = performance.now() - readAt;
      if (byId === undefined || age > MAX_LOOK_MS || (isStale && age > MIN_LOOK_MS)) {
        readAt = performance.now();
        const next = read();
        byId = next;
        next.catch(() => {
          if (byId === next) byId = undefined; // the next request reads again
        });
      }
      return (await byId).get(id);
    },
    close: () => stopWatching?.(),
  };
}
