import { useState } from "preact/hooks";

import type { ApiSummary } from "../../../messages.ts";
import { Button, Card, EmptyState } from "../../components/elements.tsx";
import { Load } from "../../components/load.tsx";
import { countNoun, Text, Time } from "../../components/text.tsx";
import { formatLink, navigate } from "../../router.ts";
import type { PageProps } from "../index.ts";
import { AddApi } from "./add-api.tsx";
import { ApiDrawer, ApiState } from "./api-drawer.tsx";

/** The APIs whose documents become skills: their state, their operations, and what an administrator may do with them. */
export function ApisPage({ info, segments: [name] }: PageProps) {
  const [isAdding, setAdding] = useState(false);
  const mayWrite = info.admin.includes("ManageServers");
  return (
    <>
      <Card
        title="APIs"
        actions={mayWrite && <Button label="Add API" tone="primary" icon="plus" onClick={() => setAdding(true)} />}
      >
        <Load<{ readonly apis: readonly ApiSummary[] }> path="/apis" reloadOn={["servers", "catalog"]} lines={3}>
          {({ apis }) => <ApiList apis={apis} />}
        </Load>
      </Card>
      {isAdding && <AddApi onClose={() => setAdding(false)} />}
      {name !== undefined && (
        <ApiDrawer key={name} name={name} mayWrite={mayWrite} onClose={() => navigate(formatLink(["apis"]))} />
      )}
    </>
  );
}

function ApiList({ apis }: { readonly apis: readonly ApiSummary[] }) {
  if (apis.length === 0)
    return (
      <EmptyState icon="apis" title="No APIs">
        An API with an OpenAPI document becomes a skill. Add one here, or in a terminal:{" "}
        <code>skillgate source add URL --name shop</code>
      </EmptyState>
    );
  return (
    <ul class="list">
      {apis.map((api) => (
        <li key={api.name} class="list-row">
          <span class="list-main">
            <Text href={formatLink(["apis", api.name])} value={api.name} limit={100} />
            <Text in="span" class="muted wide-only" value={`${api.skill} · ${api.title}`} limit={100} />
            {api.error !== null && <Text in="span" class="muted line" value={api.error} limit={300} />}
          </span>
          <span class="muted wide-only">
            <Time at={api.readAt} />
          </span>
          <span class="muted wide-only">{countNoun(api.methods, "method")}</span>
          <ApiState api={api} />
        </li>
      ))}
    </ul>
  );
}
