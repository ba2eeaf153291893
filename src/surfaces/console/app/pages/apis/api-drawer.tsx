import { useState } from "preact/hooks";

import type { ApiDetail, ApiSummary } from "../../../messages.ts";
import { request } from "../../api.ts";
import { askToConfirm, Dialog } from "../../components/dialog.tsx";
import { Button, Facts, StatusBadge, TextList } from "../../components/elements.tsx";
import { FilterField } from "../../components/form.tsx";
import { Load } from "../../components/load.tsx";
import { countNoun, Text, Time } from "../../components/text.tsx";
import { formatLink } from "../../router.ts";
import { announceChange } from "../../state/announce-change.ts";

interface ApiDrawerProps {
  readonly name: string;
  readonly mayWrite: boolean;
  readonly onClose: () => void;
}

/** One API: its state, what has changed, its operations with their effects, and the actions on it. */
export function ApiDrawer({ name, mayWrite, onClose }: ApiDrawerProps) {
  return (
    <Dialog form="drawer" title={name} onClose={onClose}>
      <Load<ApiDetail> path={`/apis/${encodeURIComponent(name)}`} reloadOn={["servers", "catalog"]}>
        {(api) => (
          <>
            <ApiFacts api={api} />
            {mayWrite && <Actions api={api} onClose={onClose} />}
            <Changes api={api} />
            {api.problems.length > 0 && (
              <section>
                <h3>Left out of the document</h3>
                <TextList class="list words" label="Left out of the document" texts={api.problems} />
              </section>
            )}
            <Operations api={api} />
          </>
        )}
      </Load>
    </Dialog>
  );
}

function ApiFacts({ api }: { readonly api: ApiDetail }) {
  return (
    <Facts
      facts={{
        State: (
          <>
            <ApiState api={api} />
            {api.error !== null && <Text in="p" value={api.error} limit={2_000} />}
          </>
        ),
        Skill: <Text in="code" value={`device.${api.skill}`} limit={200} />,
        Document: <Text value={api.document} limit={500} />,
        Server: <Text value={api.server ?? "none: write server into settings.yaml"} limit={500} />,
        "Last read": <Time at={api.readAt} />,
      }}
    />
  );
}

/** The most urgent state of an API. */
export function ApiState({ api: { error, methods, changeCount } }: { readonly api: ApiSummary }) {
  if (error !== null) return <StatusBadge label={methods === 0 ? "error" : "old document"} tone="bad" />;
  if (changeCount > 0) return <StatusBadge label="changed" tone="busy" />;
  return <StatusBadge label="ok" tone="ok" />;
}

function Actions({ api: { name, changeCount }, onClose }: { readonly api: ApiSummary; readonly onClose: () => void }) {
  const path = `/apis/${encodeURIComponent(name)}`;
  const change = async (action: "refresh" | "accept", text: string): Promise<void> => {
    await request(`${path}/${action}`, { method: "POST", body: {} });
    announceChange(text, "servers");
  };
  const remove = async (): Promise<void> => {
    const text = `${name} is removed from settings.yaml. Its skill is gone from then on.`;
    if (!(await askToConfirm({ title: `Remove ${name}?`, text, confirm: "Remove" }))) return;
    await request(path, { method: "DELETE" });
    onClose();
    announceChange(`${name} is removed`, "servers");
  };
  return (
    <div class="row">
      <Button label="Refresh" onClick={() => change("refresh", `The document of ${name} was read again`)} />
      {changeCount > 0 && (
        <Button label="Accept changes" onClick={() => change("accept", `The operations of ${name} are accepted`)} />
      )}
      <Button label="Remove" tone="danger" onClick={remove} />
    </div>
  );
}

function Changes({ api: { changes, changeCount, holdsChanges } }: { readonly api: ApiDetail }) {
  if (changeCount === 0) return null;
  return (
    <section>
      <h3>{countNoun(changeCount, "change")} since the operations were accepted</h3>
      {holdsChanges && <p>What was changed or added is held until it is accepted.</p>}
      <ul class="list">
        {changes.map(({ name, kind, differences }) => (
          <li key={name}>
            <Text value={`${name} was ${kind}`} limit={200} />
            {differences.length > 0 && (
              <TextList class="muted words" label={`Changes of ${name}`} texts={differences} />
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Operations that are drawn at once. */
const MAX_DRAWN = 200;

function Operations({ api: { operations } }: { readonly api: ApiDetail }) {
  const [filter, setFilter] = useState("");
  const words = filter.toLowerCase().split(/\s+/);
  const rows = operations.filter(({ method, request: line, summary, effect }) => {
    const text = `${method} ${line} ${summary} ${effect}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  return (
    <section>
      <h3>{countNoun(operations.length, "operation")}</h3>
      <FilterField label="Filter operations" placeholder="Filter by name, path or effect" onChange={setFilter} />
      <ul class="list">
        {rows.slice(0, MAX_DRAWN).map((operation) => (
          <li key={operation.method}>
            <OperationRow operation={operation} />
          </li>
        ))}
      </ul>
      {rows.length > MAX_DRAWN && <p class="muted">Use the filter to see the others.</p>}
    </section>
  );
}

/** The page of the method has a form that calls it. */
function OperationRow({ operation }: { readonly operation: ApiDetail["operations"][number] }) {
  const { method, path, request: line, summary, effect, reason, isLoosened } = operation;
  return (
    <>
      {path === null ? (
        <Text value={`${method} (held)`} limit={200} />
      ) : (
        <Text href={formatLink(["methods", path])} value={method} limit={200} />
      )}
      <Text in="div" class="muted" value={`${line} · ${effect}`} limit={300} />
      <Text in="div" class="muted" value={summary} limit={300} />
      {isLoosened && <Text in="div" class="warning" value={reason} limit={300} />}
    </>
  );
}
