import { useSignal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";

import type { ServerDetail, ServerLog, ServerTestLine } from "../../../messages.ts";
import { request, requestLines } from "../../api.ts";
import { askToConfirm, Dialog } from "../../components/dialog.tsx";
import { Button, ErrorNotice, Facts, StatusBadge } from "../../components/elements.tsx";
import { Load } from "../../components/load.tsx";
import { Code, countNoun, formatDuration, Text } from "../../components/text.tsx";
import { formatLink } from "../../router.ts";
import { announceChange } from "../../state/announce-change.ts";
import { ServerForm } from "./server-form.tsx";

interface ServerDrawerProps {
  readonly name: string;
  readonly mayWrite: boolean;
  readonly onClose: () => void;
}

/** One server: its state with the cause, entry, tools, log, test, and the actions on it. */
export function ServerDrawer({ name, mayWrite, onClose }: ServerDrawerProps) {
  return (
    <Dialog form="drawer" title={name} onClose={onClose}>
      <Load<ServerDetail> path={`/servers/${encodeURIComponent(name)}`} reloadOn={["servers", "catalog"]}>
        {(server) => (
          <>
            <ServerFacts server={server} />
            {mayWrite && server.declaration !== null && (
              <>
                <Actions name={name} status={server.status} declaration={server.declaration} onClose={onClose} />
                <ServerTest name={name} />
              </>
            )}
            <Tools server={server} />
            {server.declaration !== null && (
              <section>
                <h3>Entry, secrets masked</h3>
                <Code value={JSON.stringify(server.declaration.entry, null, 2)} />
              </section>
            )}
            <LiveLog name={name} />
          </>
        )}
      </Load>
    </Dialog>
  );
}

function ServerFacts({ server: { status, error, skill, transport, declaration } }: { readonly server: ServerDetail }) {
  return (
    <Facts
      facts={{
        State: (
          <>
            <StatusBadge label={status} />
            {error !== null && <Text in="p" value={error} limit={2_000} />}
          </>
        ),
        Skill: <Text in="code" value={`device.${skill}`} limit={200} />,
        Transport: transport,
        File: declaration !== null && (
          <>
            <Text value={`${declaration.file}:${declaration.line} (${declaration.scope})`} limit={300} />
            {declaration.isHeld && <p>Held until the project is trusted: run skillgate trust in its folder.</p>}
          </>
        ),
      }}
    />
  );
}

interface ActionsProps extends Pick<ServerDetail, "name" | "status"> {
  readonly declaration: NonNullable<ServerDetail["declaration"]>;
  readonly onClose: () => void;
}

function Actions({ name, status, declaration, onClose }: ActionsProps) {
  const [isEditing, setEditing] = useState(false);
  const isDisabled = status === "disabled";
  const path = `/servers/${encodeURIComponent(name)}`;
  const switchServer = async (): Promise<void> => {
    await request(`${path}/enabled`, { method: "POST", body: { enabled: isDisabled } });
    announceChange(`${name} is ${isDisabled ? "enabled" : "disabled"}`, "servers");
  };
  const remove = async (): Promise<void> => {
    const text = `${name} is removed from ${declaration.file}. Its skill is gone from then on.`;
    if (!(await askToConfirm({ title: `Remove ${name}?`, text, confirm: "Remove" }))) return;
    await request(path, { method: "DELETE" });
    onClose();
    announceChange(`${name} is removed`, "servers");
  };
  return (
    <div class="row">
      <Button label="Edit" onClick={() => setEditing(true)} />
      <Button label={isDisabled ? "Enable" : "Disable"} onClick={switchServer} />
      <Button label="Remove" tone="danger" onClick={remove} />
      {isEditing && <ServerForm name={name} entry={declaration.entry} onClose={() => setEditing(false)} />}
    </div>
  );
}

function Tools({ server: { tools, quarantined } }: { readonly server: ServerDetail }) {
  return (
    <section>
      <h3>{countNoun(tools.length, "tool")}</h3>
      <ul class="list">
        {tools.map(({ name, path, description }) => (
          <li key={name}>
            <Text href={formatLink(["methods", path])} value={path} limit={200} />
            <Text in="div" class="muted" value={description} limit={300} />
          </li>
        ))}
        {quarantined.map(({ tool, reason }) => (
          <Text key={tool} in="li" value={`${tool}: not offered, ${reason}`} limit={500} />
        ))}
      </ul>
    </section>
  );
}

const LOG_MS = 2_000;

/** The end of the log, as it grows. */
function LiveLog({ name }: { readonly name: string }) {
  return (
    <Load<ServerLog> path={`/servers/${encodeURIComponent(name)}/log`} everyMs={LOG_MS} lines={0}>
      {({ log }) =>
        log !== "" && (
          <section>
            <h3>End of its log, live</h3>
            <Code label="Log" value={log} />
          </section>
        )
      }
    </Load>
  );
}

/** Starts a second connection to a server, and shows its output as it comes. */
function ServerTest({ name }: { readonly name: string }) {
  const lines = useSignal<readonly ServerTestLine[]>([]);
  const isRunning = useSignal(false);
  const controller = useRef<AbortController | null>(null);
  useEffect(() => () => controller.current?.abort(), []);
  const start = async (): Promise<void> => {
    controller.current = new AbortController();
    const { signal } = controller.current;
    lines.value = [];
    isRunning.value = true;
    try {
      await requestLines<ServerTestLine>(
        `/servers/${encodeURIComponent(name)}/test`,
        { method: "POST", body: {}, signal },
        (line) => (lines.value = [...lines.value, line]),
      );
    } catch (thrown) {
      if (!signal.aborted) throw thrown;
    } finally {
      isRunning.value = false;
    }
  };
  return (
    <section class="stack">
      <div class="row">
        <Button
          label={isRunning.value ? "Testing …" : "Test"}
          tone="primary"
          disabled={isRunning.value}
          onClick={start}
        />
        {isRunning.value && <Button label="Stop" onClick={() => controller.current?.abort()} />}
      </div>
      <div role="log" aria-label="Output of the test" class="stack">
        {lines.value.map((line, index) => (
          <TestLine key={index} line={line} />
        ))}
      </div>
    </section>
  );
}

function TestLine({ line }: { readonly line: ServerTestLine }) {
  switch (line.kind) {
    case "log":
      return <Code value={line.text} />;
    case "problem":
      return <ErrorNotice error={line.problem} />;
    case "result":
      return (
        <p>
          <StatusBadge label={line.server.status} /> in {formatDuration(line.durationMs)},{" "}
          {countNoun(line.tools.length, "tool")}{" "}
          {line.server.error !== null && <Text in="span" value={line.server.error} limit={2_000} />}
        </p>
      );
  }
}
