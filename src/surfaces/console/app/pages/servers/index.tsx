import type { ComponentChildren } from "preact";
import { useSignal } from "@preact/signals";

import type { ServerSummary, SkillSummary } from "../../../messages.ts";
import { Card } from "../../components/card.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { Icon } from "../../components/icon.tsx";
import { ServerBadge } from "../../components/server-badge.tsx";
import { Skeleton } from "../../components/skeleton.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { Text } from "../../components/text.tsx";
import { formatLink, navigate } from "../../router.ts";
import { type Resource, useResource } from "../../state/resource.ts";
import type { PageProps } from "../index.ts";
import { ServerDrawer } from "./server-drawer.tsx";
import { ServerForm } from "./server-form.tsx";
import { SkillDrawer } from "./skill-drawer.tsx";

/** MCP servers and local skills: their state, and what an administrator may do with them. */
export function ServersPage({ info, segments: [kind, name] }: PageProps) {
  const servers = useResource<{ readonly servers: readonly ServerSummary[] }>("/servers", {
    reloadOn: ["servers", "catalog"],
  });
  const skills = useResource<{ readonly skills: readonly SkillSummary[] }>("/skills", { reloadOn: ["catalog"] });
  const isAdding = useSignal(false);
  const mayWrite = info.admin === "write";
  const close = (): void => navigate(formatLink(["servers"]));
  const reload = (): void => {
    servers.reload();
    skills.reload();
  };
  return (
    <>
      <Card title="MCP servers" actions={mayWrite && <AddButton onAdd={() => (isAdding.value = true)} />}>
        <Listing resource={servers}>
          {(data) =>
            data.servers.length === 0 ? <NoServers mayWrite={mayWrite} /> : <ServerList servers={data.servers} />
          }
        </Listing>
      </Card>
      <Card title="Skills">
        <Listing resource={skills}>
          {(data) => (data.skills.length === 0 ? <NoSkills /> : <SkillList skills={data.skills} />)}
        </Listing>
      </Card>
      {isAdding.value && <ServerForm onClose={() => (isAdding.value = false)} onDone={reload} />}
      {kind === "server" && name !== undefined && (
        <ServerDrawer key={name} name={name} mayWrite={mayWrite} onClose={close} onChange={reload} />
      )}
      {kind === "skill" && name !== undefined && (
        <SkillDrawer key={name} name={name} mayWrite={mayWrite} onClose={close} onChange={reload} />
      )}
    </>
  );
}

interface ListingProps<Data> {
  readonly resource: Resource<Data>;
  readonly children: (data: Data) => ComponentChildren;
}

/** Shows data once it is there, or the error. */
function Listing<Data>({ resource: { data, error, reload }, children }: ListingProps<Data>) {
  if (error.value !== undefined) return <ErrorNotice error={error.value} onRetry={reload} />;
  return data.value === undefined ? <Skeleton /> : <>{children(data.value)}</>;
}

function AddButton({ onAdd }: { readonly onAdd: () => void }) {
  return (
    <button type="button" class="button button-primary" onClick={onAdd}>
      <Icon name="plus" />
      Add server
    </button>
  );
}

function ServerList({ servers }: { readonly servers: readonly ServerSummary[] }) {
  return (
    <ul class="list">
      {servers.map(({ name, skill, status, error, transport, toolCount }) => (
        <li key={name} class="list-row">
          <span class="list-main">
            <a href={formatLink(["servers", "server", name])}>
              <Text value={name} limit={100} />
            </a>
            <span class="muted wide-only">
              <Text value={`${skill} · ${transport}`} limit={100} />
            </span>
            {error !== null && status !== "connected" && (
              <span class="muted cause">
                <Text value={error} limit={300} />
              </span>
            )}
          </span>
          <span class="muted wide-only">{toolCount === 1 ? "1 tool" : `${toolCount} tools`}</span>
          <ServerBadge status={status} />
        </li>
      ))}
    </ul>
  );
}

function SkillList({ skills }: { readonly skills: readonly SkillSummary[] }) {
  return (
    <ul class="list">
      {skills.map(({ name, description, methods, enabled }) => (
        <li key={name} class="list-row">
          <span class="list-main">
            <a href={formatLink(["servers", "skill", name])}>
              <Text value={name} limit={100} />
            </a>
            <span class="muted cause">
              <Text value={description} limit={200} />
            </span>
          </span>
          <span class="muted wide-only">{methods === 1 ? "1 method" : `${methods} methods`}</span>
          <StatusBadge tone={enabled ? "ok" : "off"} label={enabled ? "enabled" : "disabled"} />
        </li>
      ))}
    </ul>
  );
}

function NoServers({ mayWrite }: { readonly mayWrite: boolean }) {
  return (
    <EmptyState icon="servers" title="No MCP servers">
      {mayWrite ? "Add one, or import those of another client: " : "Ask the owner to add one: "}
      <code>skillgate mcp import claude-code</code>
    </EmptyState>
  );
}

function NoSkills() {
  return (
    <EmptyState icon="methods" title="No skills">
      Create one in a terminal: <code>skillgate skills new weather</code>
    </EmptyState>
  );
}
