import { setImmediate } from "node:timers/promises";
import type { Context } from "hono";

import { sentence, SkillgateError } from "../../../errors.ts";
import { mayRead } from "../../../model/caller.ts";
import {
  type AuditFilter,
  type AuditItem,
  formatAuditCsv,
  matchesAuditFilter,
  parseAuditItem,
} from "../../../shared/audit/items.ts";
import type { AuditRow } from "../../../store/index.ts";
import { type Endpoints, readNumber, readTime } from "../endpoints.ts";
import type { AuditCheck, AuditPage } from "../messages.ts";
import { invalidRequest } from "../problem.ts";
import type { AuditReader, RuntimeView } from "../../../runtime/api/view.ts";
import { withoutGaps } from "../../../shared/json/without-gaps.ts";
import type { ConsoleEnvironment } from "../services.ts";

const MAX_ROWS = 500;

/** Records that one request looks at; the page continues from there. */
const MAX_SCANNED = 20_000;

/** Records between two pauses, in which other requests are answered. */
const SLICE_ROWS = 1_000;

/** The audit log: its records, the check of its chain, and the export. All are for administrators. */
export function createAuditEndpoints(): Endpoints {
  return {
    "GET /audit": async ({ c, view }): Promise<AuditPage> => {
      const limit = readNumber(c, "limit", { fallback: 100, max: MAX_ROWS });
      const before = readNumber(c, "before", { fallback: Number.MAX_SAFE_INTEGER });
      const { openAudit, sections } = view.admin("Read");
      const opened = await openAudit();
      const part = await readPart(opened, createMatcher(readFilter(c), view), { before, limit });
      const isLasting = opened.kind !== "memory" && sections["audit"] !== "off";
      return { ...part, isStored: part.rows.length > 0 || isLasting };
    },
    "GET /audit/export": async ({ c, view }) => {
      const { audit } = await view.admin("Read").openAudit();
      const filter = readFilter(c);
      const items = readMatching(audit.read(), createMatcher(filter, view));
      const isCsv = c.req.query("format") === "csv";
      const lines = isCsv ? formatAuditCsv(items) : audit.signLines(items, { ...filter });
      const name = `audit-${new Date().toISOString().slice(0, 10)}.${isCsv ? "csv" : "jsonl"}`;
      return new Response(ReadableStream.from(encodeLines(lines)), {
        headers: {
          "content-type": isCsv ? "text/csv; charset=utf-8" : "application/x-ndjson",
          "content-disposition": `attachment; filename="${name}"`,
        },
      });
    },
    "POST /audit/verify": async ({ view }): Promise<AuditCheck> => {
      const { audit } = await view.admin("Read").openAudit();
      const verdict = await audit.verify();
      if (verdict.kind === "broken") return verdict;
      return { kind: "intact", records: verdict.records, heads: verdict.heads.length, lastSeq: verdict.last.seq };
    },
    "GET /audit/:seq{[0-9]{1,9}}": async ({ view, getPart }) => {
      const seq = Number(getPart("seq"));
      const matches = createMatcher({}, view);
      const { rows } = await readPart(await view.admin("Read").openAudit(), matches, { before: seq + 1, limit: 1 });
      if (rows[0]?.seq === seq) return rows[0];
      throw new SkillgateError("PAGE_UNKNOWN", sentence("PAGE_UNKNOWN", `the audit log has no record ${seq}`));
    },
  };
}

type MatchItem = (item: AuditItem) => boolean;

/** Records of methods that a caller may not read do not exist for it. */
function createMatcher(filter: AuditFilter, { caller }: RuntimeView): MatchItem {
  return (item) => matchesAuditFilter(item, filter) && mayRead(caller, String(item["method"]));
}

interface WantedPart {
  readonly before: number;
  readonly limit: number;
}

async function readPart(
  { audit }: Pick<AuditReader, "audit">,
  matches: MatchItem,
  { before, limit }: WantedPart,
): Promise<Pick<AuditPage, "rows" | "next">> {
  const rows: AuditItem[] = [];
  let first = before;
  for (let scanned = 0; scanned < MAX_SCANNED; scanned += SLICE_ROWS) {
    const slice = await audit.tail(SLICE_ROWS, first);
    for (const row of slice.toReversed()) {
      const item = parseAuditItem(row);
      first = row.seq;
      if (matches(item)) rows.push(item);
      if (rows.length >= limit) return { rows, next: first > 1 ? first : null };
    }
    if (slice.length < SLICE_ROWS) return { rows, next: null };
    await setImmediate();
  }
  return { rows, next: first };
}

async function* readMatching(rows: AsyncIterable<AuditRow>, matches: MatchItem): AsyncGenerator<AuditItem> {
  for await (const row of rows) {
    const item = parseAuditItem(row);
    if (matches(item)) yield item;
    if (row.seq % SLICE_ROWS === 0) await setImmediate();
  }
}

async function* encodeLines(lines: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const line of lines) yield encoder.encode(`${line}\n`);
}

function readFilter(c: Context<ConsoleEnvironment>): AuditFilter {
  const { caller, method, run, decision } = c.req.query();
  if (decision !== undefined && decision !== "allowed" && decision !== "refused")
    throw invalidRequest("decision must be allowed or refused");
  return withoutGaps({ caller, method, run, decision, since: readTime(c, "since"), until: readTime(c, "until") });
}
