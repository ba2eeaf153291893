import type { DatabaseInfo } from "../../store/index.ts";
import type { CliCommand, CommandResult } from "./command.ts";
import { writeLines } from "./input/write-files.ts";
import { count, lines, shownPath, table } from "./text/layout.ts";

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
}

type Exported = Parameters<typeof toLines>[0];

async function exportAll(database: { export(): Exported }, out: string | undefined): Promise<CommandResult> {
  const records = await writeLines(toLines(database.export()), out);
  return {
    json: { records },
    text: out === undefined ? "" : `Wrote ${count(records, "record")} to ${shownPath(out)}`,
  };
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
