import { useState } from "preact/hooks";

import type { ServerSummary, SkillSummary } from "../../../messages.ts";
import { Button, Card, EmptyState, StatusBadge } from "../../components/elements.tsx";
import { Load } from "../../components/load.tsx";
import { countNoun, Text } from "../../components/text.tsx";
import { formatLink, navigate } from "../../router.ts";
import type { PageProps } from "../index.ts";
import { ServerDrawer } from "./server-drawer.tsx";
import { ServerForm } from "./server-form.tsx";
import { SkillDrawer } from "./skill-drawer.tsx";

/** MCP servers and local skills: their state, and what an administrator may do with them. */
export function ServersPage({ info, segments: [kind, name] }: PageProps) {
  const [isAdding, setAdding] = useState(false);
  const mayWrite = info.admin.includes("ManageServers");
  const drawer = { mayWrite, onClose: () => navigate(formatLink(["servers"])) };
  return (
    <>
      <Card
        title="MCP servers"
        actions={mayWrite && <Button label="Add server" tone="primary" icon="plus" onClick={() => setAdding(true)} />}
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
      {isAdding && <ServerForm onClose={() => setAdding(false)} />}
      {kind === "server" && name !== undefined && <ServerDrawer key={name} name={name} {...drawer} />}
      {kind === "skill" && name !== undefined && <SkillDrawer key={name} name={name} {...drawer} />}
    </>
  );
}

interface ServerListProps {
  readonly servers: readonly ServerSummary[];
  readonly mayWrite: boolean;
}

function ServerList({ servers, mayWrite }: ServerListProps) {
  if (servers.length === 0)
    return (
      <EmptyState icon="servers" title="No MCP servers">
        {mayWrite ? "Add one, or import those of another client: " : "Ask the owner to add one: "}
        <code>skillgate mcp import claude-code</code>
      </EmptyState>
    );
  return (
    <ul class="list">
      {servers.map(({ name, skill, status, error, transport, toolCount }) => (
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
