import { createAutomationError, formatAutomationFile, parseAutomationFile } from "../../../automations/index.ts";
import type { Caller } from "../../../model/caller.ts";
import type { AutomationRow } from "../../../store/index.ts";
import { createHeldError } from "../life.ts";
import { listPlannedCalls, type AutomationCall } from "../review.ts";
import type { SavingParts } from "./save.ts";

/** An automation that a model has written. The sections are those of a file. */
export interface AutomationProposal {
  readonly name: string;
  readonly description: string;
  readonly program: string;
  /** Name of an API key; the person who accepts the proposal may name another one. By default, that of the automation. */
  readonly key?: string;
  readonly schedule?: Readonly<Record<string, unknown>>;
  readonly webhook?: Readonly<Record<string, unknown>>;
  /** JSON Schema of what `device.input()` gives. */
  readonly input?: Readonly<Record<string, unknown>>;
  readonly limits?: Readonly<Record<string, unknown>>;
}

/** A proposal that waits for a person. */
export interface ProposedAutomation {
  readonly name: string;
  /** The calls that its program may make. */
  readonly calls: readonly AutomationCall[];
}

/** The most proposals that wait, and of one caller. */
export const MAX_PROPOSALS = 20;
export const MAX_CALLER_PROPOSALS = 5;

/** All proposals together are bounded, because a model can write them without a person. */
const MAX_PROPOSAL_BYTES = 64 << 10;

interface ProposalParts extends SavingParts {
  /** True if a text has a secret of the configuration. */
  readonly hasSecret: (text: string) => boolean;
}

/**
 * Stores a proposal: nothing runs and no file is written until a person accepts it. A later one of the same name and caller takes
 * its place. Throws `AUTOMATION_INVALID`, `AUTOMATION_HELD`.
 */
export async function proposeAutomation(
  proposal: AutomationProposal,
  caller: Caller,
  parts: ProposalParts,
): Promise<ProposedAutomation> {
  const { name } = proposal;
  const { text, calls } = await createProposal(proposal, caller, parts);
  await parts.files.refresh();
  const { automations } = await parts.database.open();
  const before = await automations.get(name);
  const mayReplace = (row: AutomationRow | undefined): boolean =>
    row === undefined || (row.state === "proposed" && row.by === caller.id);
  if (parts.files.get(name) !== undefined || !mayReplace(before)) throw createNameError(name);
  const waiting = (await automations.list({ state: "proposed" })).filter((row) => row.name !== name);
  if (waiting.length >= MAX_PROPOSALS) throw refuseMore(`${MAX_PROPOSALS} proposals wait`);
  if (waiting.filter(({ by }) => by === caller.id).length >= MAX_CALLER_PROPOSALS)
    throw refuseMore(`${MAX_CALLER_PROPOSALS} proposals of this caller wait`);
  const at = Date.now();
  const nothing = { reason: null, digest: null, failures: 0, lastSlot: null };
  const isPut = await automations.put(
    { ...nothing, name, state: "proposed", by: caller.id, created: before?.created ?? at, updated: at },
    { text, methods: {}, caller: "" },
    mayReplace, // another process may have accepted one
  );
  if (!isPut) throw createNameError(name);
  return { name, calls };
}

const createNameError = (name: string): Error =>
  createAutomationError(`there is an automation ${name} already; choose another name`);

const refuseMore = (why: string): Error =>
  createHeldError(`${why} for a person already; one must be accepted or removed before: skillgate automation list`);

/** Writes the file of a proposal, and checks it with the rights of its caller. */
async function createProposal(
  { name, program, key = name, ...sections }: AutomationProposal,
  caller: Caller,
  parts: ProposalParts,
): Promise<{ readonly text: string; readonly calls: readonly AutomationCall[] }> {
  const { description, input, schedule, webhook, limits } = sections;
  const inputSchema = input === undefined ? {} : { inputSchema: input };
  await parts.providers.whenKnown();
  const { violations, plan } = await parts.check(program, { caller, ...inputSchema });
  const [first] = violations;
  if (first !== undefined)
    throw createAutomationError(`its program is refused at line ${first.line}: ${first.message}`);
  const calls = listPlannedCalls(plan, parts.registry.viewFor(caller));
  const written = calls.length === 0 ? undefined : calls.map(({ path, effect }) => ({ [path]: effect }));
  const content = { description, key, input, schedule, webhook, limits, plan: written, source: program };
  const text = formatAutomationFile(content);
  if (Buffer.byteLength(text) > MAX_PROPOSAL_BYTES)
    throw createAutomationError(`it has ${Buffer.byteLength(text)} bytes; at most ${MAX_PROPOSAL_BYTES} are allowed`);
  if (parts.hasSecret(text))
    throw createAutomationError(
      "it contains a secret, which must not be in a file: use a method of a skill that has it",
    );
  parseAutomationFile(name, text);
  return { text, calls };
}
