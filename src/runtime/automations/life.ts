import { hash } from "node:crypto";

import {
  type AutomationFile,
  createAutomationError,
  parseAutomationFile,
  replaceKey,
  type StartObstacle,
} from "../../automations/index.ts";
import { createError, type SkillgateError } from "../../errors.ts";
import { hashValueFully } from "../../shared/digest.ts";
import { describeUnknownName } from "../../shared/suggest.ts";
import type { AcceptedVersion, AutomationRow, Database } from "../../store/index.ts";
import type { AutomationFiles } from "./automation-files.ts";
import { type AutomationReview, findChange, reviewAutomation, type ReviewParts } from "./review.ts";
import type { RunnableAutomation } from "./runner.ts";

/** An automation that a person can accept as it is, with what has changed since it was accepted. */
export interface AutomationOffer {
  readonly name: string;
  readonly file: AutomationFile;
  /** The caller that has proposed it, for a proposal. */
  readonly proposedBy: string | undefined;
  readonly review: AutomationReview;
  readonly difference: AutomationDifference;
  /** The text of its file that was reviewed. */
  readonly text: string;
  /** SHA-256 of the text, and of the definitions of the methods. */
  readonly digest: string;
  /** Why it cannot be accepted; `undefined` if it can. */
  readonly flaw: string | undefined;
}

/** The states of automations: accepted, held, paused. */
export interface AutomationLife {
  /** Returns what an automation needs to run now, or why it must not run. Holds one that is not as it was accepted. */
  prepare(name: string): Promise<RunnableAutomation | StartObstacle>;
  /**
   * Looks at an automation as it is now, or as it would be with another `text` of its file; `key` replaces that of a proposal. Throws
   * `AUTOMATION_UNKNOWN`, `AUTOMATION_INVALID`.
   */
  offer(name: string, options?: AutomationOfferOptions & { readonly text?: string }): Promise<AutomationOffer>;
  /**
   * Accepts an automation as it is, and enables it; of a proposal, writes its file. With `digest`, only if it has still this digest. Throws `AUTOMATION_UNKNOWN`,
   * `AUTOMATION_INVALID`, `AUTOMATION_HELD`.
   */
  accept(
    name: string,
    options: AutomationOfferOptions & { readonly by: string; readonly digest?: string },
  ): Promise<AutomationRow>;
  pause(name: string, reason: string): Promise<void>;
  /** Throws `AUTOMATION_HELD` for one that must be accepted. */
  resume(name: string): Promise<void>;
}

/** The key of a proposal. */
export interface AutomationOfferOptions {
  readonly key?: string;
}

export interface LifeParts extends ReviewParts {
  readonly files: AutomationFiles;
  /** Writes the file of a proposal. */
  readonly write: (name: string, text: string) => Promise<void>;
  readonly open: () => Promise<Database>;
  /** Says why an automation cannot have its webhook; `undefined` if it can. `afresh`: all changes of the store are read before. */
  readonly findWebhookConflict: (
    name: string,
    webhook: AutomationFile["webhook"],
    how: { readonly afresh: boolean },
  ) => Promise<string | undefined>;
  /** Called when this process has held an automation, once over all processes. */
  readonly onHeld: (name: string, why: string) => void;
  readonly now: () => number;
}

export function createAutomationLife(parts: LifeParts): AutomationLife {
  const offers = createOffers(parts);
  return {
    prepare: (name) => prepareAutomation(name, parts),
    offer: offers.offer,
    accept: (name, options) => acceptAutomation(name, options, offers, parts),
    ...createPauses(parts),
  };
}

async function prepareAutomation(name: string, parts: LifeParts): Promise<RunnableAutomation | StartObstacle> {
  const { files, open, now } = parts;
  async function hold(row: AutomationRow, why: string): Promise<StartObstacle> {
    const { automations } = await open();
    const isFirst = await automations.changeState(row.name, "enabled", { state: "held", reason: why, updated: now() });
    if (isFirst) parts.onHeld(row.name, why);
    return { obstacle: `it is held: ${why}` };
  }

  const { automations } = await open();
  const row = await automations.get(name);
  const accepted = await automations.getVersion(name);
  if (row === undefined || row.digest === null || accepted === undefined)
    return { obstacle: `it was not accepted; run: skillgate automation accept ${name}` };
  if (row.state !== "enabled") return { obstacle: describeState(row) };
  const entry = files.get(name);
  if (entry === undefined) return { obstacle: `its file automations/${name}.yaml is gone` };
  if (entry.kind === "unusable") return hold(row, entry.why);
  const review = await reviewAutomation(entry.file, parts);
  const why =
    findChange(review, entry.digest, { ...accepted, digest: row.digest }) ??
    (review.isPassing ? undefined : review.flaw) ??
    (await parts.findWebhookConflict(name, entry.file.webhook, { afresh: false })); // each run asks this
  if (why !== undefined) return hold(row, why);
  if (review.caller === undefined) return hold(row, review.flaw ?? "it has no key");
  return { file: entry.file, caller: review.caller };
}

/** Versions that a person is asked to accept. */
interface Offers extends Pick<AutomationLife, "offer"> {
  /** Writes the file of a proposal, and reads it as any file is read. */
  writeProposal(offer: AutomationOffer): Promise<void>;
}

function createOffers(parts: LifeParts): Offers {
  const { files, open } = parts;

  async function offer(...[name, options = {}]: Parameters<AutomationLife["offer"]>): Promise<AutomationOffer> {
    const { automations } = await open();
    const version = await automations.getVersion(name);
    const isEdited = options.text !== undefined;
    const proposal = isEdited ? undefined : await findProposal(name, version, options);
    const { file, text } = proposal ?? (isEdited ? parseText(name, options.text) : requireFile(name, files));
    const review = await reviewAutomation(file, parts);
    const accepted = proposal === undefined ? version : undefined;
    const difference = describeDifference(accepted, { text, methods: review.methods });
    const whole = hashValueFully({ text, methods: review.methods });
    const flaw = review.flaw ?? (await parts.findWebhookConflict(name, file.webhook, { afresh: true }));
    return { name, file, proposedBy: proposal?.by, review, difference, text, digest: whole, flaw };
  }

  /** A file of the same name takes precedence over a proposal. */
  async function findProposal(
    name: string,
    version: AcceptedVersion | undefined,
    { key }: AutomationOfferOptions,
  ): Promise<(OfferedFile & Pick<AutomationRow, "by">) | undefined> {
    const row = await (await open()).automations.get(name);
    if (row?.state !== "proposed" || version === undefined || files.get(name) !== undefined) {
      if (key !== undefined)
        throw createHeldError(`${name}: it is not a proposal; change its key in automations/${name}.yaml`);
      return undefined;
    }
    const text = key === undefined ? version.text : replaceKey(name, version.text, key);
    return { file: parseAutomationFile(name, text), text, by: row.by };
  }

  /** Writes the file of a proposal, and reads it as any file is read. */
  async function writeProposal({ name, text }: AutomationOffer): Promise<void> {
    await parts.write(name, text);
    await files.refresh();
    if (requireFile(name, files).text !== text)
      throw createHeldError(`${name}: its file was changed meanwhile; look at it again`);
  }

  return { offer, writeProposal };
}

async function acceptAutomation(
  name: string,
  { by, digest, ...options }: Parameters<AutomationLife["accept"]>[1],
  offers: Offers,
  { files, open, now }: LifeParts,
): Promise<AutomationRow> {
  const offered = await offers.offer(name, options);
  const { review, text, digest: current, flaw } = offered;
  if (digest !== undefined && digest !== current)
    throw createHeldError(`${name}: it has changed since you looked at it; look at it again`);
  if (flaw !== undefined || review.caller === undefined) throw createHeldError(`${name}: ${flaw ?? "it has no key"}`);
  if (offered.proposedBy !== undefined) await offers.writeProposal(offered);
  const { automations } = await open();
  const before = await automations.get(name);
  const at = now();
  const row: AutomationRow = {
    name,
    state: "enabled",
    reason: null,
    digest: hash("sha256", text),
    by,
    failures: 0,
    // Slots of the time in which it was not accepted are not missed.
    lastSlot: Math.max(at, before?.lastSlot ?? 0),
    created: before?.created ?? at,
    updated: at,
  };
  const version = { text, methods: review.methods, caller: review.caller.id };
  // Another process may have removed it meanwhile: its files first, and then its row.
  const isPut = await automations.put(row, version, (stored) => before === undefined || stored !== undefined);
  if (before === undefined) await files.refresh();
  if (isPut && (before !== undefined || files.get(name) !== undefined)) return row;
  if (isPut) await automations.delete(name);
  throw createUnknownError(name, files.listNames());
}

function createPauses({ files, open, now }: LifeParts): Pick<AutomationLife, "pause" | "resume"> {
  return {
    async pause(name, reason) {
      const { automations } = await open();
      const row = requireRow(name, await automations.get(name), files);
      if (row.digest === null) throw createHeldError(`${name}: ${describeState(row)}`);
      await automations.update(name, { state: "paused", reason, updated: now() });
    },
    async resume(name) {
      const { automations } = await open();
      const row = requireRow(name, await automations.get(name), files);
      if (row.digest === null || row.state === "held" || row.state === "proposed")
        throw createHeldError(`${name}: ${describeState(row)}; accept it with: skillgate automation accept ${name}`);
      const at = now();
      // Slots of the time in which it was paused are not missed.
      const lastSlot = Math.max(at, row.lastSlot ?? 0);
      await automations.update(name, { state: "enabled", reason: null, failures: 0, lastSlot, updated: at });
    },
  };
}

/** Says why an automation that is not enabled does not run. */
export function describeState({ state, reason, name }: Pick<AutomationRow, "state" | "reason" | "name">): string {
  switch (state) {
    case "enabled":
      return "it is enabled";
    case "held":
      return `it is held: ${reason}; accept it with: skillgate automation accept ${name}`;
    case "paused":
      return `it is paused${reason === null || reason === "" ? "" : `: ${reason}`}`;
    case "proposed":
      return "it is a proposal that was not accepted";
  }
}

/** The file of an automation as it was read. */
interface OfferedFile {
  readonly file: AutomationFile;
  readonly text: string;
}

function parseText(name: string, text: string): OfferedFile {
  return { file: parseAutomationFile(name, text), text };
}

/** Throws `AUTOMATION_UNKNOWN` with similar names, and `AUTOMATION_INVALID` for a file that cannot be used. */
export function requireFile(name: string, files: Pick<AutomationFiles, "get" | "listNames">): OfferedFile {
  const entry = files.get(name);
  if (entry === undefined) throw createUnknownError(name, files.listNames());
  if (entry.kind === "unusable") throw createAutomationError(entry.why);
  return entry;
}

/** Throws `AUTOMATION_UNKNOWN`, and `AUTOMATION_HELD` for one that was never accepted. */
export function requireRow(
  name: string,
  row: AutomationRow | undefined,
  files: Pick<AutomationFiles, "get" | "listNames">,
): AutomationRow {
  if (row !== undefined) return row;
  if (files.get(name) === undefined) throw createUnknownError(name, files.listNames());
  throw createHeldError(`${name}: it was not accepted; accept it with: skillgate automation accept ${name}`);
}

export function createUnknownError(name: string, names: readonly string[]): SkillgateError {
  const { detail, suggestions } = describeUnknownName("automation", name, names);
  return createError("AUTOMATION_UNKNOWN", detail, { suggestions });
}

export function createHeldError(why: string): SkillgateError {
  return createError("AUTOMATION_HELD", why);
}

/** Changes since an automation was accepted. */
interface AutomationDifference {
  /** Lines of the file: those that were removed begin with `- `, those that were added with `+ `. */
  readonly lines: readonly string[];
  /** Declarations of methods; missing on the side on which there is no such method. */
  readonly methods: readonly { readonly path: string; readonly before?: string; readonly now?: string }[];
}

/** Describes the difference between the accepted version, if there is one, and the current one. */
function describeDifference(
  accepted: Pick<AcceptedVersion, "text" | "methods"> | undefined,
  now: Pick<AcceptedVersion, "text" | "methods">,
): AutomationDifference {
  const before = accepted?.methods ?? {};
  const paths = [...new Set([...Object.keys(before), ...Object.keys(now.methods)])].toSorted();
  const methods = paths.flatMap((path) => {
    const [old, fresh] = [before[path], now.methods[path]];
    if (old?.digest === fresh?.digest) return [];
    return {
      path,
      ...(old !== undefined && { before: old.declaration }),
      ...(fresh !== undefined && { now: fresh.declaration }),
    };
  });
  return { lines: compareLines(accepted?.text ?? "", now.text), methods };
}

/** Lists the lines between the common beginning and the common end of two texts. */
function compareLines(before: string, now: string): readonly string[] {
  const [old, fresh] = [splitLines(before), splitLines(now)];
  const shortest = Math.min(old.length, fresh.length);
  let start = 0;
  while (start < shortest && old[start] === fresh[start]) start++;
  let end = 0;
  while (end < shortest - start && old[old.length - 1 - end] === fresh[fresh.length - 1 - end]) end++;
  const between = (lines: readonly string[]): readonly string[] => lines.slice(start, lines.length - end);
  return [...between(old).map((line) => `- ${line}`), ...between(fresh).map((line) => `+ ${line}`)];
}

function splitLines(text: string): readonly string[] {
  return text === "" ? [] : text.split("\n");
}
