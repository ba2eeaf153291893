import { readFile } from "node:fs/promises";
import { Option } from "commander";

import { isRecord, parseJson } from "../../model/json.ts";
import {
  type AuditFilter,
  type AuditItem,
  formatAuditCsv,
  matchesAuditFilter,
  parseAuditItem,
} from "../../shared/audit/items.ts";
import type { AuditVerdict, Database } from "../../store/index.ts";
import type { CliCommand, CommandResult } from "./command.ts";
import { wholeNumber } from "./input/option-values.ts";
import { readLines } from "./input/read-text.ts";
import { createExportResult, writeLines } from "./input/write-files.ts";
import type { CliSession } from "./session.ts";
import type { Paint } from "./terminal/terminal.ts";
import { count, escaped, lines, milliseconds, table } from "./text/layout.ts";
import { UsageError } from "./usage-error.ts";

export function addAudit(program: CliCommand): void {
  const audit = program.command("audit").description("read and verify the log of decisions and calls");
  withFilter(audit.command("list"))
    .description("list the newest records")
    .option("--limit <number>", "the number of records", wholeNumber, 50)
    .run(listRecords);
  withFilter(audit.command("tail"))
    .description("list the newest records, and then each new one until you press Ctrl-C")
    .option("--limit <number>", "the number of records to begin with", wholeNumber, 10)
    .run(followRecords);
  audit
    .command("verify [file]")
    .description("check that no record was changed, removed or moved, in the store or in an exported file")
    .option("--head <file>", "a head that an earlier `audit verify --json` has printed, kept elsewhere")
    .option("--key <file>", "the public keys that count: a copy of audit-keys.pub.pem (default: those of this project)")
    .run(async (session, file: string | undefined, flags: VerifyFlags) =>
      file === undefined ? verifyLog(await session.database(), flags) : verifyFile(session, file, flags),
    );
  withFilter(audit.command("export"))
    .description("write records as JSON lines or CSV")
    .addOption(new Option("--format <format>", "the format").choices(["jsonl", "csv"]).default("jsonl"))
    .option("--out <file>", "a new file that only you can read (default: stdout)")
    .run(async ({ database }, flags: ExportFlags) => exportRecords(await database(), flags));
}

function withFilter(command: CliCommand): CliCommand {
  return command
    .option("--caller <id>", "only records of this caller")
    .option("--method <path>", "only records of this method, or of a skill: MailSkill")
    .option("--run <id>", "only records of this run")
    .addOption(new Option("--decision <decision>", "only these decisions").choices(["allowed", "refused"]))
    .option("--since <time>", "only records from this time on, such as 2026-01-31 or 2026-01-31T12:00Z", parseTime)
    .option("--until <time>", "only records before this time", parseTime);
}

function parseTime(text: string): number {
  const time = Date.parse(text);
  if (!Number.isNaN(time)) return time;
  throw new UsageError(`Cannot read the time ${JSON.stringify(text)}: write it as 2026-01-31 or 2026-01-31T12:00Z`);
}

async function listRecords(
  { database, paint }: CliSession,
  { limit, ...filter }: AuditFilter & { readonly limit: number },
): Promise<CommandResult> {
  const items = await findNewest(await database(), filter, limit);
  return { json: { records: items }, text: itemsText(items, paint.out) || "No records" };
}

/** Returns the newest records that match, the oldest first. */
async function findNewest({ audit }: Database, filter: AuditFilter, limit: number): Promise<readonly AuditItem[]> {
  let items: AuditItem[] = [];
  if (Object.keys(filter).length === 0) return (await audit.tail(limit)).map(parseAuditItem);
  for await (const row of audit.read()) {
    const item = parseAuditItem(row);
    if (matchesAuditFilter(item, filter)) items.push(item);
    if (items.length >= 2 * limit) items = items.slice(-limit);
  }
  return items.slice(-limit);
}

/** Prints new records until the command is interrupted. */
async function followRecords(
  { database, paint, signal, flags }: CliSession,
  { limit, ...filter }: AuditFilter & { readonly limit: number },
): Promise<CommandResult> {
  const opened = await database();
  const { audit } = opened;
  let last = (await audit.tail(1))[0]?.seq ?? 0;
  const print = (items: readonly AuditItem[]): void => {
    const text = flags.json ? items.map((item) => JSON.stringify(item)).join("\n") : itemsText(items, paint.out);
    if (items.length > 0) process.stdout.write(`${text}\n`);
  };
  print((await findNewest(opened, filter, limit)).filter(({ seq }) => seq <= last));
  let pages: Promise<void> = Promise.resolve();
  const readNew = async (): Promise<void> => {
    for await (const row of audit.read(last)) {
      last = row.seq;
      print([parseAuditItem(row)].filter((item) => matchesAuditFilter(item, filter)));
    }
  };
  const stop = opened.watch(() => {
    pages = pages.then(readNew);
  });
  // The watcher alone does not keep the process alive.
  const alive = setInterval(() => {}, 60_000);
  await readNew();
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  clearInterval(alive);
  stop();
  await pages;
  return { json: undefined, text: "" };
}

function itemsText(items: readonly AuditItem[], paint: Paint): string {
  const rows = items.map((item) => [
    paint.dim(String(item.seq)),
    String(item["time"]),
    escaped(String(item["caller"])),
    escaped(String(item["method"])),
    stateText(item, paint),
    typeof item["durationMs"] === "number" ? milliseconds(item["durationMs"]) : "",
  ]);
  return lines(table(rows));
}

function stateText({ event, decision, outcome, code }: AuditItem, paint: Paint): string {
  const reason = typeof code === "string" ? ` ${code}` : "";
  if (decision === "refused") return paint.red(`refused${reason}`);
  if (event === "decision") return "allowed";
  return outcome === "ok" ? paint.green("ok") : paint.red(`${String(outcome)}${reason}`);
}

interface VerifyFlags {
  readonly head?: string;
  readonly key?: string;
}

async function verifyLog({ audit }: Database, { head, key }: VerifyFlags): Promise<CommandResult> {
  const positions = head === undefined ? [] : [await readHead(head)];
  const signers = await readKeys(key);
  const verdict = await audit.verify({ positions, ...(signers && { signers }) });
  if (verdict.kind === "broken") return { exit: "failed", json: verdict, text: "", remarks: verdict.says };
  const signed = (signers === undefined ? await audit.sign() : undefined) ?? verdict.heads.at(-1);
  const { records, last, heads } = verdict;
  return {
    json: { ...verdict, heads: heads.length, ...(signed !== undefined && { head: signed }) },
    text: verifiedText(verdict) + (records === 0 ? "" : `\nThe last is record ${last.seq}: ${last.hash}`),
  };
}

/** Reads the keys that count; `undefined` for those of the project. */
async function readKeys(file: string | undefined): Promise<ReadonlySet<string> | undefined> {
  if (file === undefined) return undefined;
  const { readPublicKeys } = await import("../../store/index.ts");
  const keys = await readPublicKeys(file).catch(() => new Set<string>());
  if (keys.size > 0) return keys;
  throw new UsageError(`Cannot read public keys in ${file}: it must be a copy of audit-keys.pub.pem`);
}

function verifiedText({ records, heads, otherHeads }: Extract<AuditVerdict, { kind: "intact" }>): string {
  if (records === 0) return "The audit log has no records";
  const others = otherHeads === 0 ? "" : ` (${count(otherHeads, "head")} of other keys not counted)`;
  return `All is well: ${count(records, "record")}, each in its place, and ${count(heads.length, "signed head")}${others}`;
}

/** Checks an exported file; neither the store nor its key need to be there. */
async function verifyFile({ folders }: CliSession, file: string, { head, key }: VerifyFlags): Promise<CommandResult> {
  if (head !== undefined) throw new UsageError("--head is for the store: skillgate audit verify --head FILE");
  const { verifyAuditExport } = await import("../../store/index.ts");
  const { folder } = (await folders()).database;
  const signers = await readKeys(key);
  const expected = { ...(signers && { signers }), ...(folder !== undefined && { folder }) };
  const { verdict, isKnownSigner } = await verifyAuditExport(readLines(file), expected);
  if (verdict.kind === "broken") return { exit: "failed", json: verdict, text: "", remarks: verdict.says };
  const { records, signer, signedAt } = verdict;
  const origin = isKnownSigner ? "with the expected key" : "with a key that this project does not know";
  return {
    json: { ...verdict, isKnownSigner },
    text: `All is well: ${count(records, "record")}, signed ${new Date(signedAt).toISOString()} ${origin}: ${signer}`,
  };
}

/** Reads a head from the output of `audit verify --json`, or the head alone. */
async function readHead(file: string): Promise<{ readonly seq: number; readonly hash: string }> {
  const text = await readFile(file, "utf8").catch(() => {
    throw new UsageError(`Cannot read the head in ${file}: the file cannot be read`);
  });
  const parsed = parseJson(text);
  const head = isRecord(parsed) && isRecord(parsed["head"]) ? parsed["head"] : parsed;
  if (isRecord(head) && typeof head["seq"] === "number" && typeof head["hash"] === "string")
    return { seq: head["seq"], hash: head["hash"] };
  throw new UsageError(`Cannot read the head in ${file}: it must be the output of skillgate audit verify --json`);
}

interface ExportFlags extends AuditFilter {
  readonly format: "jsonl" | "csv";
  readonly out?: string;
}

async function exportRecords({ audit }: Database, { format, out, ...filter }: ExportFlags): Promise<CommandResult> {
  let records = 0;
  const items = (async function* () {
    for await (const row of audit.read()) {
      const item = parseAuditItem(row);
      if (!matchesAuditFilter(item, filter)) continue;
      records++;
      yield item;
    }
  })();
  await writeLines(format === "csv" ? formatAuditCsv(items) : audit.signLines(items, filter), out);
  return createExportResult(records, out);
}
