import { Option } from "commander";

import { getMessage, sentence, SkillgateError } from "../../errors.ts";
import { ADMIN_RIGHTS } from "../../model/caller.ts";
import { formatInstall } from "../../shared/package/optional-package.ts";
import { withoutGaps } from "../../shared/json/without-gaps.ts";
import type { CreatedKey, Keys, KeyState, KeyUsage, WantedKey } from "../../keys/index.ts";
import type { KeyRow } from "../../store/index.ts";
import type { CliCommand, CommandResult } from "./command.ts";
import { periodMs, timeAfterNow, wholeNumber } from "./input/option-values.ts";
import { describeMatches, matchPermissions, type PermissionMatches } from "./input/permission-matches.ts";
import type { CliSession } from "./session.ts";
import type { Paint } from "./terminal/terminal.ts";
import { formatMinute, lines, table, toIso } from "./text/layout.ts";

export function addKeys(program: CliCommand): void {
  const keys = program
    .command("keys")
    .description("create, list, show, revoke and rotate the API keys of the server")
    .addHelpText("after", HELP);
  keys
    .command("create")
    .description("create a key and show it once; its digest is stored")
    .argument("<name>", "a name for the key")
    .option("--call <patterns...>", "methods that it may call: Skill.method, Skill.* or *")
    .option("--see <patterns...>", "further methods that it may see but not call")
    .addOption(new Option("--admin <rights...>", "rights to administer, see below").choices(Object.keys(ADMIN_RIGHTS)))
    .option("--permission <permissions...>", "permissions in full, such as call:MathSkill.*, see:* or admin:Read")
    .addOption(new Option("--invoke <patterns...>", "the name of --call in earlier versions").hideHelp())
    .addOption(new Option("--read <patterns...>", "the name of --see in earlier versions").hideHelp())
    .option("--scope <scopes...>", "scopes that it holds, which methods and the policy can require")
    .option("--role <roles...>", "roles that it has, which policies/tools.yaml maps to scopes")
    .option("--per-minute <calls>", "the most requests in any minute: calls, searches, programs", wholeNumber)
    .option("--per-hour <calls>", "the most requests in any hour", wholeNumber)
    .option("--max-running <programs>", "the most programs at the same time; further ones wait", wholeNumber)
    .option("--weight <share>", "its share of computing time beside other callers; 1 by default", wholeNumber)
    .option("--expires <time>", "the end of its validity: 90d, 2027-01-31", timeAfterNow)
    .option("--dry-run", "only say which methods the key could call and see")
    .run(createKey);
  keys.command("list").alias("ls").description("list all keys, without their secrets").run(listKeys);
  keys
    .command("show")
    .description("show the permissions, limits and times of a key, and what it used")
    .argument("<key>", "its name or id")
    .run(showKey);
  keys
    .command("revoke")
    .description("end the validity of a key at once")
    .argument("<key>", "its name or id")
    .run(revokeKey);
  keys
    .command("rotate")
    .description("give a key a new secret and show it once; the old secret stays valid for a while")
    .argument("<key>", "its name or id")
    .option("--overlap <period>", "how long the old secret stays valid; 0 ends it at once", periodMs, 86_400_000)
    .option("--expires <time>", "the new end of its validity: 90d, 2027-01-31", timeAfterNow)
    .run(rotateKey);
}

const HELP = `
Clients send a key as "Authorization: Bearer sg_…" to skillgate serve --http. A key sees only the methods that it may
call or see. A revocation also ends the sessions and the running programs of the key.

Rights to administer, each with Read, and only for the methods that the key may see:
${Object.entries(ADMIN_RIGHTS)
  .map(([right, effect]) => `  ${right.padEnd(16)} ${effect}`)
  .join("\n")}

Examples:
  skillgate keys create ada --call 'MathSkill.*' --per-minute 60 --expires 90d
  skillgate keys create ada --permission 'call:Math*' --dry-run
  skillgate keys create metrics --admin Read --see '*'
  skillgate keys rotate ada --overlap 1h
  skillgate keys revoke ada`;

interface CreateFlags {
  readonly call?: readonly string[];
  readonly see?: readonly string[];
  readonly admin?: readonly string[];
  readonly invoke?: readonly string[];
  readonly read?: readonly string[];
  readonly permission?: readonly string[];
  readonly scope?: readonly string[];
  readonly role?: readonly string[];
  readonly perMinute?: number;
  readonly perHour?: number;
  readonly maxRunning?: number;
  readonly weight?: number;
  readonly expires?: number;
  readonly dryRun?: true;
}

async function createKey(session: CliSession, name: string, flags: CreateFlags): Promise<CommandResult> {
  const [keys, { findOldWords, toNotation }] = await Promise.all([openKeys(session), loadKeysModule()]);
  const wantedKey = readWantedKey(name, flags);
  await keys.check(wantedKey);
  const findMatches = async (): Promise<PermissionMatches> => {
    const { catalog } = await session.openRuntime({ until: "shown" });
    return matchPermissions(wantedKey.permissions.flatMap(toNotation), catalog);
  };
  if (flags.dryRun) {
    const matches = await findMatches();
    const text = describeMatches(matches) || "The permissions have no patterns of methods";
    return { json: { matches }, text, remarks: "Nothing was created, because of --dry-run" };
  }
  // A key can be created also where the project cannot be opened.
  const matches = await findMatches().catch((thrown: unknown) => getMessage(thrown));
  const result = createdResult(await keys.create(wantedKey), "Clients send it as");
  const note =
    typeof matches === "string" ? `Cannot say which methods it matches: ${matches}` : describeMatches(matches);
  return {
    ...result,
    json: { ...result.json, matches: typeof matches === "string" ? null : matches },
    remarks: lines([result.remarks, note, findOldWords(flags.permission ?? []) ?? ""]),
  };
}

function readWantedKey(name: string, flags: CreateFlags): WantedKey {
  const { permission = [], scope = [], role = [], perMinute, perHour, maxRunning, weight, expires } = flags;
  const { call = [], see = [], admin = [], invoke = [], read = [] } = flags;
  return {
    name,
    permissions: [
      ...[...call, ...invoke].map((pattern) => `call:${pattern}`),
      ...[...see, ...read].map((pattern) => `see:${pattern}`),
      ...admin.map((right) => `admin:${right}`),
      ...permission,
    ],
    scopes: scope,
    roles: role,
    limits: withoutGaps({ perMinute, perHour, maxRunning, weight }),
    ...(expires !== undefined && { expires }),
  };
}

async function listKeys(session: CliSession): Promise<CommandResult> {
  const { getKeyState, findOldWords, toNotation } = await loadKeysModule();
  const stored = await (await openKeys(session)).list();
  const keys = stored.map((key) => ({
    ...key,
    state: getKeyState(key),
    permissions: key.permissions.flatMap(toNotation),
  }));
  const { out } = session.paint;
  const rows = keys.map((key) => [
    key.name,
    key.prefix,
    stateText(key.state, out),
    key.permissions.join(" "),
    key.lastUsed === null ? "never used" : `used ${formatMinute(key.lastUsed)}`,
  ]);
  return {
    json: { keys: keys.map((key) => toFacts(key, key.state)) },
    text: lines(table(rows)) || "There are no keys; create one with: skillgate keys create",
    remarks: lines(
      stored.flatMap(({ name, permissions }) => {
        const note = findOldWords(permissions);
        return note === undefined ? [] : [`${name}: ${note}`];
      }),
    ),
  };
}

async function showKey(session: CliSession, idOrName: string): Promise<CommandResult> {
  const { getKeyState, readKeyUsage, toCaller, toNotation } = await loadKeysModule();
  const stored = await (await openKeys(session)).get(idOrName);
  const key = { ...stored, permissions: stored.permissions.flatMap(toNotation) };
  const state = getKeyState(key);
  const used = await readKeyUsage(await session.database(), toCaller(stored));
  return {
    json: { ...toFacts(key, state), used },
    text: lines([describeKey(key, state, session.paint.out), describeUsage(used)]),
  };
}

async function revokeKey(session: CliSession, idOrName: string): Promise<CommandResult> {
  const keys = await openKeys(session);
  const { id, name, revoked } = await keys.revoke(idOrName);
  const text =
    revoked === null ? `Revoked the key ${name} (sg_${id})` : `The key ${name} (sg_${id}) was already revoked`;
  return { json: { id, name, changed: revoked === null }, text };
}

async function rotateKey(
  session: CliSession,
  idOrName: string,
  { overlap, expires }: { readonly overlap: number; readonly expires?: number },
): Promise<CommandResult> {
  const keys = await openKeys(session);
  const created = await keys.rotate(idOrName, { overlapMs: overlap, expires });
  const until = created.key.previousExpires;
  const isOldValid = overlap > 0 && until !== null;
  return createdResult(
    created,
    `The old key ${isOldValid ? `is valid until ${formatMinute(until)}` : "is no longer valid"}. Clients send the new one as`,
  );
}

/** Loads the module when a command needs it, so that `--help` does not load it. */
function loadKeysModule() {
  return import("../../keys/index.ts");
}

async function openKeys({ database }: CliSession): Promise<Keys> {
  const [{ createKeys }, opened] = await Promise.all([loadKeysModule(), database()]);
  if (opened.kind !== "memory") return createKeys(opened);
  const values = `the store is in memory, and keys in it would end with this command; run ${formatInstall("libsql")}, or set store.url`;
  throw new SkillgateError("STORE_UNAVAILABLE", sentence("STORE_UNAVAILABLE", values));
}

/** The key is alone on stdout, so that scripts can store it. */
function createdResult({ text, key }: CreatedKey, how: string) {
  const { name, prefix } = key;
  return {
    json: { key: text, ...toFacts(key, "active") },
    text,
    remarks: `This is the key ${name} (${prefix}), shown only once. ${how} "Authorization: Bearer …"`,
  };
}

/** The public facts of a key, for `--json`: times in RFC 3339, no digests. */
function toFacts(key: KeyRow, state: KeyState): Readonly<Record<string, unknown>> {
  const { id, name, prefix, permissions, scopes, roles, limits, created, lastUsed, expires, revoked } = key;
  return {
    id,
    name,
    prefix,
    state,
    permissions,
    scopes,
    roles,
    limits,
    created: toIso(created),
    lastUsed: toIso(lastUsed),
    expires: toIso(expires),
    revoked: toIso(revoked),
    previousExpires: toIso(key.previousExpires),
  };
}

function stateText(state: KeyState, paint: Paint): string {
  return state === "active" ? paint.green(state) : paint.red(state);
}

function describeKey(key: KeyRow, state: KeyState, paint: Paint): string {
  const { name, prefix, permissions, scopes, roles, limits, created, lastUsed, expires, revoked } = key;
  const { perMinute, perHour, maxRunning, weight } = limits;
  const rates = [
    perMinute === undefined ? "" : `${perMinute} requests per minute`,
    perHour === undefined ? "" : `${perHour} requests per hour`,
    maxRunning === undefined ? "" : `${maxRunning} programs at the same time`,
    weight === undefined ? "" : `${weight} times the computing time of others`,
  ].filter((rate) => rate !== "");
  const rows: readonly (readonly [label: string, value: string])[] = [
    ["state", stateText(state, paint)],
    ["permissions", permissions.join(" ")],
    ["scopes", scopes.join(" ") || "none"],
    ["roles", roles.join(" ") || "none"],
    ["limits", rates.join(", ") || "none"],
    ["created", formatMinute(created)],
    ["last used", lastUsed === null ? "never" : formatMinute(lastUsed)],
    ["expires", expires === null ? "never" : formatMinute(expires)],
    ...(revoked === null ? [] : [["revoked", formatMinute(revoked)] as const]),
    ...(key.previousExpires === null ? [] : [["old secret", `until ${formatMinute(key.previousExpires)}`] as const]),
  ];
  return lines([`${name} (${prefix})`, ...rows.map(([label, value]) => `  ${`${label}:`.padEnd(13)} ${value}`)]);
}

const MAX_METHODS = 5;

const NOTES = {
  empty: "calls are not counted: the audit log is empty; switch it on with the setting audit: store",
  partial: "older calls of the day are not counted: the audit log has too many records",
} as const;

/** The counts of each kind of use, with the limit of the period, and the methods that were called most. */
function describeUsage({ limits, methods, audit, ...kinds }: KeyUsage): string {
  const periods = ["minute", "hour", "day"] as const;
  const rows = Object.entries(kinds).map(([kind, counts]) => [
    `  ${kind}`,
    ...periods.map((period) => String(counts[period])),
  ]);
  const most = methods.slice(0, MAX_METHODS).map(({ path, calls }) => `${path} ${calls}`);
  return lines([
    ...table([["  used in the last", ...periods], ...rows]),
    ...limits.map(({ period, used, limit }) => `  ${used} of ${limit} requests in the last ${period}`),
    most.length === 0 ? "  no calls in the last day" : `  most called in the last day: ${most.join(", ")}`,
    ...(audit === "complete" ? [] : [`  ${NOTES[audit]}`]),
  ]);
}
