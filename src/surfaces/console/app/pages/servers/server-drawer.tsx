import { useSignal } from "@preact/signals";

import type { ServerDetail } from "../../../messages.ts";
import { request } from "../../api.ts";
import { askToConfirm } from "../../components/confirmation.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { ServerBadge } from "../../components/server-badge.tsx";
import { Skeleton } from "../../components/skeleton.tsx";
import { Text } from "../../components/text.tsx";
import { formatLink } from "../../router.ts";
import { useResource } from "../../state/resource.ts";
import { showError, showToast } from "../../state/toasts.ts";
import { ServerForm } from "./server-form.tsx";
import { ServerTest } from "./server-test.tsx";

interface ServerDrawerProps {
  readonly name: string;
  readonly mayWrite: boolean;
  readonly onClose: () => void;
  /** Called after the server was changed or removed. */
  readonly onChange: () => void;
}

/** One server: its state with the cause, entry, tools, log, test, and the actions on it. */
export function ServerDrawer({ name, mayWrite, onClose, onChange }: ServerDrawerProps) {
  const { data, error, reload } = useResource<ServerDetail>(`/servers/${encodeURIComponent(name)}`, {
    reloadOn: ["servers", "catalog"],
  });
  const isEditing = useSignal(false);
  const server = data.value;
  const change = (): void => {
    reload();
    onChange();
  };
  return (
    <Dialog form="drawer" title={name} onClose={onClose}>
      {server === undefined && error.value !== undefined && <ErrorNotice error={error.value} onRetry={reload} />}
      {server === undefined && error.value === undefined && <Skeleton lines={8} />}
      {server !== undefined && (
        <>
          <Facts server={server} />
          {mayWrite && server.declaration !== null && (
            <Actions server={server} onEdit={() => (isEditing.value = true)} onChange={change} onClose={onClose} />
          )}
          {mayWrite && server.declaration !== null && <ServerTest name={name} />}
          <Tools server={server} />
          <Details server={server} />
        </>
      )}
      {isEditing.value && server?.declaration != null && (
        <ServerForm
          name={name}
          entry={server.declaration.entry}
          onClose={() => (isEditing.value = false)}
          onDone={change}
        />
      )}
    </Dialog>
  );
}

function Facts({ server }: { readonly server: ServerDetail }) {
  const { status, error, skill, transport, declaration } = server;
  return (
    <dl class="facts">
      <dt>State</dt>
      <dd>
        <ServerBadge status={status} />
        {error !== null && (
          <p>
            <Text value={error} limit={2_000} />
          </p>
        )}
      </dd>
      <dt>Skill</dt>
      <dd>
        <code>
          <Text value={`device.${skill}`} limit={200} />
        </code>
      </dd>
      <dt>Transport</dt>
      <dd>{transport}</dd>
      {declaration !== null && (
        <>
          <dt>File</dt>
          <dd>
            <Text value={`${declaration.file}:${declaration.line} (${declaration.scope})`} limit={300} />
            {declaration.isHeld && <p>Held until the project is trusted: run skillgate trust in its folder.</p>}
          </dd>
        </>
      )}
    </dl>
  );
}

interface ActionsProps {
  readonly server: ServerDetail;
  readonly onEdit: () => void;
  readonly onChange: () => void;
  readonly onClose: () => void;
}

function Actions({ server: { name, status, declaration }, onEdit, onChange, onClose }: ActionsProps) {
  const isDisabled = status === "disabled";
  const path = `/servers/${encodeURIComponent(name)}`;
  const switchServer = async (): Promise<void> => {
    await request(`${path}/enabled`, { method: "POST", body: { enabled: isDisabled } });
    showToast({ tone: "ok", text: `${name} is ${isDisabled ? "enabled" : "disabled"}` });
    onChange();
  };
  const remove = async (): Promise<void> => {
    const text = `${name} is removed from ${declaration?.file ?? "its file"}. Its skill is gone from then on.`;
    if (!(await askToConfirm({ title: `Remove ${name}?`, text, confirm: "Remove" }))) return;
    await request(path, { method: "DELETE" });
    showToast({ tone: "ok", text: `${name} is removed` });
    onClose();
    onChange();
  };
  return (
    <div class="actions">
      <button type="button" class="button" onClick={onEdit}>
        Edit
      </button>
      <button type="button" class="button" onClick={() => void switchServer().catch(showError)}>
        {isDisabled ? "Enable" : "Disable"}
      </button>
      <button type="button" class="button button-danger" onClick={() => void remove().catch(showError)}>
        Remove
      </button>
    </div>
  );
}

function Tools({ server: { tools, quarantined } }: { readonly server: ServerDetail }) {
  return (
    <section>
      <h3>{tools.length === 1 ? "1 tool" : `${tools.length} tools`}</h3>
      <ul class="list">
        {tools.map(({ name, path, description }) => (
          <li key={name}>
            <a href={formatLink(["methods", path])}>
              <Text value={path} limit={200} />
            </a>
            <div class="muted">
              <Text value={description} limit={300} />
            </div>
          </li>
        ))}
        {quarantined.map(({ tool, reason }) => (
          <li key={tool}>
            <Text value={tool} limit={200} />: not offered, <Text value={reason} limit={300} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Details({ server: { declaration, log } }: { readonly server: ServerDetail }) {
  return (
    <>
      {declaration !== null && (
        <section>
          <h3>Entry, secrets masked</h3>
          <pre class="code">
            <Text value={JSON.stringify(declaration.entry, null, 2)} />
          </pre>
        </section>
      )}
      {log !== "" && (
        <section>
          <h3>End of its log</h3>
          <pre class="code">
            <Text value={log} />
          </pre>
        </section>
      )}
    </>
  );
}
