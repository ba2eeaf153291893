import type { SettingsReport, StoreReport } from "../../../messages.ts";
import { Card, Facts } from "../../components/elements.tsx";
import { Load } from "../../components/load.tsx";
import { formatCount, Text } from "../../components/text.tsx";
import { formatLink } from "../../router.ts";

const KINDS = { sqlite: "SQLite", postgres: "PostgreSQL", memory: "in memory: it ends with the process" } as const;

/** The store: where it is, its size, how long it keeps records, and how to back it up. */
export function StorePage() {
  return (
    <Load<StoreReport> path="/store" reloadOn={["store"]}>
      {(store) => (
        <>
          {store.failure !== null && <Text in="p" class="notice notice-error" value={store.failure} />}
          <div class="columns columns-tall">
            <Card title="Database">
              <Facts
                facts={{
                  Kind: KINDS[store.kind],
                  Place: store.place !== "" && <Text in="code" value={store.place} limit={400} />,
                  Program: <Text value={store.program} limit={100} />,
                  Size: formatBytes(store.bytes),
                  Schema: store.schema,
                }}
              />
            </Card>
            <Card title="Records">
              <Facts
                facts={Object.fromEntries(Object.entries(store.rows).map(([name, rows]) => [name, formatCount(rows)]))}
              />
            </Card>
            <Card title="Retention" actions={<a href={formatLink(["settings"], { q: "store.keep" })}>Settings</a>}>
              <Retention />
            </Card>
            <Card title="Backup">
              {store.kind === "sqlite" ? (
                <>
                  <p>While servers use the store, on its machine:</p>
                  <p>
                    <code>skillgate store backup --out store.backup</code>
                  </p>
                  <p>
                    <code>skillgate store restore store.backup</code> replaces the store by it.
                  </p>
                </>
              ) : (
                <p>
                  {store.kind === "memory"
                    ? "A store in memory has no backup."
                    : "The tools of PostgreSQL, such as pg_dump, back it up."}
                </p>
              )}
            </Card>
          </div>
        </>
      )}
    </Load>
  );
}

/** How long records are kept, from the settings. */
function Retention() {
  return (
    <Load<SettingsReport> path="/settings" lines={4}>
      {({ rows }) => (
        <Facts
          facts={Object.fromEntries(
            rows
              .filter(({ name }) => name.startsWith("store.keep."))
              .map(({ name, value, description }) => [
                name.slice("store.keep.".length),
                <span key={name}>
                  <Text value={JSON.stringify(value)} limit={100} />{" "}
                  <Text in="span" class="muted" value={description} limit={200} />
                </span>,
              ]),
          )}
        />
      )}
    </Load>
  );
}

function formatBytes(bytes: number): string {
  return bytes < 1 << 20 ? `${(bytes / 1_024).toFixed(0)} KiB` : `${(bytes / (1 << 20)).toFixed(1)} MiB`;
}
