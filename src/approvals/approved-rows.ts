import { basename, dirname, join } from "node:path";

import { changeByHand, changeFile, parseDocument, readConfigFile } from "../config/index.ts";
import { isRecord, toList } from "../model/json.ts";

/** A lasting yes for the calls of one method by one caller. */
export interface ApprovedRow {
  readonly path: string;
  /** Id of the caller. */
  readonly caller: string;
  /** The ids of the connections that the calls use: a yes for one counts for no other. */
  readonly accounts: readonly string[];
  /** In milliseconds since 1970. */
  readonly expires: number;
  /** Id of the caller who approved. */
  readonly by: string;
  /** The line in the file, from 1; 0 for a row that is not written yet. */
  readonly line: number;
}

/** The place of the rows. */
export interface ApprovedFile {
  /** Absolute path of `approved.yaml`. */
  readonly file: string;
  /** The folder of the project, and the environment with the place of its trust record. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const HEADER = `# Calls that were approved with "always". Skillgate adds rows; remove a row to be asked again.
`;

/** The time for which "always" counts, in milliseconds: 30 days. */
export const ALWAYS_MS = 30 * 24 * 3_600_000;

/** Returns the path of the file beside the rows of the policy. */
export function getApprovedFile(policyFile: string): string {
  return join(dirname(policyFile), "approved.yaml");
}

/** Returns the row that approves the calls of a method by a caller; with `accounts`, only those with these connections. */
export async function findApprovedRow(
  file: string,
  {
    now,
    ...calls
  }: Pick<ApprovedRow, "path" | "caller"> & { readonly accounts?: readonly string[]; readonly now: number },
): Promise<ApprovedRow | undefined> {
  const text = await readConfigFile(file, formatLabel(file));
  if (text === undefined) return undefined;
  return parseRows(text, file).find((row) => row.expires > now && isFor(row, { accounts: row.accounts, ...calls }));
}

/** Adds a row, or renews the row of the same method and caller. Removes rows that have expired. */
export async function addApprovedRow(
  { file, cwd, env }: ApprovedFile,
  row: Omit<ApprovedRow, "line">,
  now: number,
): Promise<void> {
  await changeByHand({ cwd, env }, { files: [file] }, () =>
    changeFile(file, { label: formatLabel(file), isPrivate: true }, (text) => {
      const rows = text === undefined ? [] : parseRows(text, file);
      const others = rows.filter((each) => each.expires > now && !isFor(each, row));
      return formatRows([...others, row]);
    }),
  );
}

type RowCalls = Pick<ApprovedRow, "path" | "caller" | "accounts">;

function isFor(row: RowCalls, { path, caller, accounts }: RowCalls): boolean {
  return row.path === path && row.caller === caller && row.accounts.join() === accounts.join();
}

function parseRows(text: string, file: string): readonly ApprovedRow[] {
  const document = parseDocument(text, formatLabel(file), "yaml");
  const { approved } = document.value;
  if (!Array.isArray(approved)) return [];
  return approved.flatMap((row: unknown, index) => {
    if (!isRecord(row)) return [];
    const { path, caller, by } = row;
    const expires = Date.parse(String(row["expires"]));
    if (typeof path !== "string" || typeof caller !== "string" || !Number.isFinite(expires)) return [];
    const accounts = toList(row["accounts"]).map(String);
    return [{ path, caller, accounts, expires, by: String(by), line: document.locate(["approved", index]).line }];
  });
}

/** JSON texts are YAML texts. */
function formatRows(rows: readonly Omit<ApprovedRow, "line">[]): string {
  const items = rows.map(({ path, caller, accounts, expires, by }) =>
    [
      `  - path: ${JSON.stringify(path)}`,
      `    caller: ${JSON.stringify(caller)}`,
      ...(accounts.length === 0 ? [] : [`    accounts: ${JSON.stringify(accounts)}`]),
      `    expires: ${JSON.stringify(new Date(expires).toISOString())}`,
      `    by: ${JSON.stringify(by)}`,
    ].join("\n"),
  );
  return `${HEADER}approved:\n${items.join("\n")}\n`;
}

function formatLabel(file: string): string {
  return `${basename(dirname(file))}/${basename(file)}`;
}
