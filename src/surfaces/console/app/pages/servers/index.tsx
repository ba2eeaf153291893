import { useState } from "preact/hooks";

import type { ServerSummary, SkillSummary } from "../../../messages.ts";
import { Button, Card, EmptyState, StatusBadge } from "../../components/elements.tsx";
import { FilterField } from "../../components/form.tsx";
import { Load } from "../../components/load.tsx";
import { countNoun, Text } from "../../components/text.tsx";
import { formatLink, navigate } from "../../router.ts";
import type { PageProps } from "../index.ts";
import { AddServers } from "./add-servers.tsx";
import { ImportServers } from "./import-servers.tsx";
import { ServerDrawer } from "./server-drawer.tsx";
import { SkillDrawer } from "./skill-drawer.tsx";

/** MCP servers and local skills: their state, and what an administrator may do with them. */
export function ServersPage({ info, segments: [kind, name] }: PageProps) {
  const [dialog, setDialog] = useState<"add" | "import" | undefined>(undefined);
  const close = (): void => setDialog(undefined);
  const mayWrite = info.admin.includes("ManageServers");
  const drawer = { mayWrite, onClose: () => navigate(formatLink(["servers"])) };
  return (
    <>
      <Card
        title="MCP servers"
        actions={
          mayWrite && (
            <>
              <Button label="Import" onClick={() => setDialog("import")} />
              <Button label="Add server" tone="primary" icon="plus" onClick={() => setDialog("add")} />
            </>
          )
        }
      >
        <Load<{ readonly servers: readonly ServerSummary[] }>
          path="/servers"
          reloadOn={["servers", "catalog"]}
          lines={3}
        >
          {({ servers }) => <ServerList servers={servers} mayWrite={mayWrite} />}
        </Load>
      </Card>
      <Card title="Skills">
        <Load<{ readonly skills: readonly SkillSummary[] }> path="/skills" reloadOn={["catalog"]} lines={3}>
          {({ skills }) => <SkillList skills={skills} />}
        </Load>
      </Card>
      {dialog === "add" && <AddServers onClose={close} />}
      {dialog === "import" && <ImportServers onClose={close} />}
      {kind === "server" && name !== undefined && <ServerDrawer key={name} name={name} {...drawer} />}
      {kind === "skill" && name !== undefined && <SkillDrawer key={name} name={name} {...drawer} />}
    </>
  );
}

interface ServerListProps {
  readonly servers: readonly ServerSummary[];
  readonly mayWrite: boolean;
}

/** The states of servers, in the order of the list. */
const ORDER: readonly ServerSummary["status"][] = ["error", "disconnected", "connecting", "connected", "disabled"];

/** A shorter list has no filter. */
const MIN_FILTERED = 6;

function ServerList({ servers, mayWrite }: ServerListProps) {
  const [filter, setFilter] = useState("");
  if (servers.length === 0)
    return (
      <EmptyState icon="servers" title="No MCP servers">
        {mayWrite
          ? "Add one: paste the block of its README, or import those of another client."
          : "An administrator can add them."}
      </EmptyState>
    );
  const words = filter.toLowerCase().split(/\s+/);
  const rows = servers
    .filter(({ name, status, skill }) =>
      words.every((word) => `${name} ${status} ${skill}`.toLowerCase().includes(word)),
    )
    .toSorted((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status) || (a.name < b.name ? -1 : 1));
  return (
    <>
      {servers.length >= MIN_FILTERED && (
        <FilterField label="Filter servers" placeholder="Filter by name or state" class="wide" onChange={setFilter} />
      )}
      <ul class="list">
        {rows.map(({ name, skill, status, error, transport, toolCount }) => (
          <li key={name} class="list-row">
            <span class="list-main">
              <Text href={formatLink(["servers", "server", name])} value={name} limit={100} />
              <Text in="span" class="muted wide-only" value={`${skill} · ${transport}`} limit={100} />
              {error !== null && status !== "connected" && (
                <Text in="span" class="muted line" value={error} limit={300} />
              )}
            </span>
            <span class="muted wide-only">{countNoun(toolCount, "tool")}</span>
            <StatusBadge label={status} />
          </li>
        ))}
      </ul>
      {rows.length === 0 && <p class="muted">No server matches the filter.</p>}
    </>
  );
}

function SkillList({ skills }: { readonly skills: readonly SkillSummary[] }) {
  if (skills.length === 0)
    return (
      <EmptyState icon="methods" title="No skills">
        Create one in a terminal: <code>skillgate skills new weather</code>
      </EmptyState>
    );
  return (
    <ul class="list">
      {skills.map(({ name, description, methods, enabled }) => (
        <li key={name} class="list-row">
          <span class="list-main">
            <Text href={formatLink(["servers", "skill", name])} value={name} limit={100} />
            <Text in="span" class="muted line" value={description} limit={200} />
          </span>
          <span class="muted wide-only">{countNoun(methods, "method")}</span>
          <StatusBadge label={enabled ? "enabled" : "disabled"} />
        </li>
      ))}
    </ul>
  );
}
