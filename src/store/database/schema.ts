import { sentence, SkillgateError } from "../../errors.ts";
import { VERSION } from "../../shared/version.ts";
import { CREATE_MIGRATIONS, MIGRATION_TABLE, MIGRATIONS, toStatement } from "./migrations.ts";
import type { StoreEngine, Rows } from "./table.ts";

/** Rows, and statements that change the schema. */
export interface SchemaRows extends Rows {
  execute(text: string): Promise<void>;
  hasTable(name: string): Promise<boolean>;
}

/** An engine whose tables are created by statements. */
export interface SqlEngine extends StoreEngine, SchemaRows {
  transaction<Result>(lock: string, work: (rows: SchemaRows) => Promise<Result>): Promise<Result>;
}

/** The version of the schema, which is that of the last migration. */
export const SCHEMA_VERSION = MIGRATIONS.at(-1)?.version ?? 0;

/** Makes the migrations that are missing. Throws `STORE_NEWER` for a store that a newer version has changed. */
export async function migrate(engine: SqlEngine): Promise<void> {
  if ((await readVersion(engine, engine.place)) === SCHEMA_VERSION) return;
  await engine.transaction("migrations", async (rows) => {
    // Another process may have made them in the meantime.
    const version = await readVersion(rows, engine.place);
    if (version === undefined) await rows.execute(toStatement(CREATE_MIGRATIONS, engine.kind));
    for (const migration of MIGRATIONS.filter((migration) => migration.version > (version ?? 0))) {
      for (const change of migration.changes) await rows.execute(toStatement(change, engine.kind));
      const row = { version: migration.version, program: VERSION, time: Date.now() };
      await rows.insert(MIGRATION_TABLE, [row]);
    }
  });
}

/** Returns the version of the schema; `undefined` for an empty database. */
async function readVersion(rows: SchemaRows, location: string): Promise<number | undefined> {
  if (!(await rows.hasTable(MIGRATION_TABLE.name))) return undefined;
  const [newest] = await rows.select(MIGRATION_TABLE, {}, { descending: true, limit: 1 });
  if (newest === undefined) return 0;
  if (newest.version > SCHEMA_VERSION) throw newerStore(location, newest);
  return newest.version;
}

function newerStore(
  location: string,
  { version, program }: { readonly version: number; readonly program: string },
): Error {
  const values =
    `${location} has schema ${version}, written by skillgate@${program}; ` +
    `this is skillgate@${VERSION}, which knows schema ${SCHEMA_VERSION}. Install skillgate@${program} or newer`;
  return new SkillgateError("STORE_NEWER", sentence("STORE_NEWER", values), { place: location });
}
