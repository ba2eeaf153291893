/** A record of the audit log with its place in the chain. */
export interface AuditItem extends Readonly<Record<string, unknown>> {
  readonly seq: number;
  readonly hash: string;
}

/** Conditions that all must hold. */
export interface AuditFilter {
  readonly caller?: string;
  /** A method, or a skill: `MailSkill`. */
  readonly method?: string;
  readonly run?: string;
  readonly decision?: "allowed" | "refused";
  /** In milliseconds since 1970. */
  readonly since?: number;
  /** In milliseconds since 1970; the records before it. */
  readonly until?: number;
}

/** Parses the stored form of a record. */
export function parseAuditItem({
  seq,
  hash,
  record,
}: {
  readonly seq: number;
  readonly hash: string;
  readonly record: string;
}): AuditItem {
  return { seq, ...(JSON.parse(record) as Readonly<Record<string, unknown>>), hash };
}

export function matchesAuditFilter(
  item: AuditItem,
  { caller, method, run, decision, since, until }: AuditFilter,
): boolean {
  const time = Date.parse(String(item["time"]));
  const path = String(item["method"]);
  return (
    (caller === undefined || item["caller"] === caller) &&
    (method === undefined || path === method || path.startsWith(`${method}.`)) &&
    (run === undefined || item["runId"] === run) &&
    (decision === undefined || item["decision"] === decision) &&
    (since === undefined || time >= since) &&
    (until === undefined || time < until)
  );
}

const CSV_COLUMNS =
  "seq time event runId callId caller method argumentsDigest decision outcome code cached durationMs hash".split(" ");

/** Formats records as lines of CSV, the first with the names of the columns. */
export async function* formatAuditCsv(items: AsyncIterable<AuditItem>): AsyncGenerator<string> {
  yield CSV_COLUMNS.join(",");
  for await (const item of items) yield CSV_COLUMNS.map((column) => toCsvField(item[column])).join(",");
}

/** A text that a spreadsheet would take for a formula begins with an apostrophe. */
function toCsvField(value: unknown): string {
  if (value === undefined || value === null) return "";
  const text = typeof value === "string" ? value.replace(/^(?=[=+\-@\t\r])/, "'") : JSON.stringify(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
