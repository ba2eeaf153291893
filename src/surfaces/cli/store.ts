import { open } from "node:fs/promises";
import { resolve } from "node:path";

import type { DatabaseInfo, StoreLocation } from "../../store/index.ts";
import type { CliCommand, CommandResult } from "./command.ts";
import { toReadError } from "./input/read-text.ts";
import { createExportResult, toWriteError, writeLines } from "./input/write-files.ts";
import type { CliSession } from "./session.ts";
import { count, lines, shownPath, table } from "./text/layout.ts";
import { UsageError } from "./usage-error.ts";

export function addStore(program: CliCommand): void {
  const store = program.command("store").description("inspect and clean up the database of keys, approvals and audit");
  store
    .command("info")
    .description("show where the store is, its size, and the number of records of each kind")
    .run(async ({ database }) => infoResult(await (await database()).info()));
  store
    .command("export")
    .description("write all records as JSON lines")
    .option("--out <file>", "a new file that only you can read (default: stdout)")
    .run(async ({ database }, { out }: { readonly out?: string }) => exportAll(await database(), out));
  store
    .command("vacuum")
    .description("delete records that are older than store.keep says, and give their space back")
    .run(async ({ database, folders }) => {
      const opened = await database();
      const before = await opened.info();
      const deleted = await opened.sweep((await folders()).retention);
      await opened.vacuum();
      const { bytes } = await opened.info();
      const records = deleted.audit + deleted.approvals + deleted.counters + deleted.runs;
      return {
        json: { deleted, bytesBefore: before.bytes, bytes },
        text: `Deleted ${count(records, "record")}; the store has ${kilobytes(bytes)}, before ${kilobytes(before.bytes)}`,
      };
    });
  store
    .command("backup")
    .description("write a whole copy of the store and of the key of its audit log, while servers use it")
    .requiredOption("--out <file>", "a new file that only you can read")
    .run(backUp);
  store
    .command("restore")
    .description("replace the store by a backup; what was there is renamed, and servers open the restored store")
    .argument("<file>", "a file of store backup")
    .run(restore);
}

async function backUp({ folders }: CliSession, { out }: { readonly out: string }): Promise<CommandResult> {
  const { backUpStore } = await import("../../store/index.ts");
  const folder = requireFolder((await folders()).database, "copy its schema with pg_dump");
  const { bytes, files } = await backUpStore(folder, resolve(out)).catch((thrown: unknown) => {
    throw toWriteError(out, thrown);
  });
  return {
    json: { file: out, bytes, files },
    text: `Wrote the store, with ${count(files.length, "file")} beside it, to ${shownPath(out)}: ${kilobytes(bytes)}`,
  };
}

async function restore({ folders }: CliSession, file: string): Promise<CommandResult> {
  const { restoreStore } = await import("../../store/index.ts");
  const folder = requireFolder((await folders()).database, "restore its schema with pg_restore");
  await requireReadable(file);
  const { bytes, files, before } = await restoreStore(folder, resolve(file));
  const moved = before === undefined ? "" : `\nWhat was there is now ${shownPath(before)}`;
  return {
    json: { file, bytes, files, ...(before !== undefined && { before }) },
    text: `Restored the store, with ${count(files.length, "file")} beside it: ${kilobytes(bytes)}${moved}`,
  };
}

/** Reads a byte: a folder can be opened. */
async function requireReadable(file: string): Promise<void> {
  try {
    await using opened = await open(file);
    await opened.read({ buffer: Buffer.alloc(1) });
  } catch (thrown) {
    throw toReadError(thrown, file);
  }
}

function requireFolder({ folder, url }: StoreLocation, instead: string): string {
  if (url === undefined && folder !== undefined) return folder;
  throw new UsageError(
    `The store is a PostgreSQL database: ${instead}, and audit-key.pem in ${folder ?? "the folder of the store"}`,
  );
}

type Exported = Parameters<typeof toLines>[0];

async function exportAll(database: { export(): Exported }, out: string | undefined): Promise<CommandResult> {
  const records = await writeLines(toLines(database.export()), out);
  return createExportResult(records, out);
}

async function* toLines(records: AsyncIterable<object>): AsyncGenerator<string> {
  for await (const record of records) yield JSON.stringify(record);
}

function infoResult(info: DatabaseInfo): CommandResult {
  const { kind, program, schema, bytes, rows } = info;
  const facts = [
    ["kind", kind],
    ...(info.place === "" ? [] : [["place", info.place]]),
    ["program", program],
    ["schema", String(schema)],
    ["size", kilobytes(bytes)],
    ...Object.entries(rows).map(([name, number]) => [name, count(number, "record")]),
  ];
  return { json: info, text: lines(table(facts)) };
}

function kilobytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024)} KB`;
}
