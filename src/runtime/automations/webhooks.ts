import {
  createWebhookReceiver,
  findSecretFlaw,
  type Intake,
  type OpenWebhook,
  type WebhookReceiver,
} from "../../automations/index.ts";
import { getMessage } from "../../errors.ts";
import type { Database } from "../../store/index.ts";
import type { RuntimeParts } from "../api/parts.ts";
import { isCommandReference, readSecretReference } from "../settings/secret-reference.ts";
import type { AutomationFiles } from "./automation-files.ts";
import { createDeliveryStore } from "./delivery-store.ts";
import { type AcceptedWebhook, createWebhookIndex, type WebhookIndex } from "./webhook-index.ts";

/** The webhooks of a runtime. */
export interface Webhooks extends WebhookReceiver {
  /** Returns the automation whose webhook has an id. */
  readonly findOwner: WebhookIndex["findOwner"];
  readonly close: () => void;
}

export interface WebhookParts extends Pick<RuntimeParts, "settings" | "secrets" | "log"> {
  readonly open: () => Promise<Database>;
  readonly files: AutomationFiles;
  readonly intake: Intake;
  /** Called with an automation whose id of a webhook belongs to another one. */
  readonly onConflict: (automation: string) => void;
  /** Begins what is due of an automation. */
  readonly dispatch: (automation: string) => void;
}

/** The most deliveries of an automation that wait: while it is paused or held, and while its runs are behind. */
const MAX_WAITING = { paused: 1_000, enabled: 10_000 } as const;

export function createWebhooks(parts: WebhookParts): Webhooks {
  const { open, files, log, intake } = parts;
  const { onConflict } = parts;
  const index = createWebhookIndex({ open, files, warn: (text) => log("warn", text), onConflict });
  const readSecrets = createSecretReader(parts);
  const waiting = new Map<string, keyof typeof MAX_WAITING>();

  async function find(id: string): Promise<OpenWebhook | undefined> {
    const entry = await index.find(id);
    if (entry === undefined) return undefined;
    const { automation, webhook, isEnabled } = entry;
    waiting.set(automation, isEnabled ? "enabled" : "paused");
    return { automation, schemes: webhook.schemes, secrets: await readSecrets(entry) };
  }

  const getMost = (automation: string): number => MAX_WAITING[waiting.get(automation) ?? "enabled"];
  const store = createDeliveryStore({ open, getMost, dispatch: parts.dispatch });
  const receiver = createWebhookReceiver({
    find,
    store: (delivery) => intake.receive(() => store.add(delivery)),
    log: parts.log,
    now: Date.now,
  });
  return {
    ...receiver,
    findOwner: (id, options) => index.findOwner(id, options),
    close() {
      index.close();
      intake.close();
    },
  };
}

/** Milliseconds for which the output of a command is used. */
const COMMAND_MS = 600_000;

/** The values of the secrets of a webhook. */
interface SecretValues {
  readonly at: number;
  readonly values: Promise<readonly string[]>;
}

/** Creates the function that reads the secrets of webhooks. Those that cannot be used are left out, and the reasons are logged. */
function createSecretReader({
  settings,
  secrets,
  log,
}: Pick<WebhookParts, "settings" | "secrets" | "log">): (webhook: AcceptedWebhook) => Promise<readonly string[]> {
  const cache = new Map<string, SecretValues & { readonly digest: string }>();

  async function read({ automation, webhook }: AcceptedWebhook): Promise<readonly string[]> {
    const values = await Promise.all(
      webhook.secrets.map(async (reference) => {
        try {
          const value = await readSecretReference(reference, settings);
          secrets.add([value]);
          const flaw = findSecretFlaw(webhook.schemes[0], value);
          if (flaw === undefined) return [value];
          log("warn", `The secret ${reference} of the webhook of the automation ${automation} ${flaw}`);
        } catch (error) {
          log("warn", `The secret ${reference} of the webhook of the automation ${automation}: ${getMessage(error)}`);
        }
        return [];
      }),
    );
    return values.flat();
  }

  return (webhook) => {
    const { automation, digest } = webhook;
    const previous = cache.get(automation);
    const maxAge = webhook.webhook.secrets.some(isCommandReference) ? COMMAND_MS : MAX_VARIABLE_MS;
    const isFresh = previous?.digest === digest && performance.now() - previous.at < maxAge;
    if (isFresh) return previous.values;
    const entry = { digest, at: performance.now(), values: read(webhook) };
    cache.set(automation, entry);
    return entry.values;
  };
}

/** Milliseconds for which the values of variables are used: a warning about a missing one is not repeated for each request. */
const MAX_VARIABLE_MS = 60_000;
