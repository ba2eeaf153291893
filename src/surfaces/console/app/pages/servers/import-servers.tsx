import { useSignal } from "@preact/signals";

import type { ClientServer } from "../../../messages.ts";
import { request } from "../../api.ts";
import { Dialog } from "../../components/dialog.tsx";
import { Button, EmptyState, StatusBadge, TextList } from "../../components/elements.tsx";
import { Load } from "../../components/load.tsx";
import { Code, Text } from "../../components/text.tsx";
import { reportChange } from "../../state/events.ts";

interface ClientServers {
  readonly servers: readonly ClientServer[];
  /** Files that cannot be read. */
  readonly problems: readonly string[];
}

/** Imports servers of other clients out of their files on the machine of the server. */
export function ImportServers({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Import servers of other clients" onClose={onClose}>
      <p class="muted">These are in the files of clients on the machine of this server. A command runs as its user.</p>
      <Load<ClientServers> path="/client-servers">
        {({ servers, problems }) => (
          <>
            <TextList class="notice notice-error" texts={problems} />
            {servers.length === 0 ? (
              <EmptyState icon="servers" title="No servers found">
                No other client on this machine has servers. Paste the block of a server&apos;s README instead.
              </EmptyState>
            ) : (
              <ul class="list">
                {servers.map((server) => (
                  <FoundServer key={`${server.from} ${server.name}`} server={server} />
                ))}
              </ul>
            )}
          </>
        )}
      </Load>
    </Dialog>
  );
}

function FoundServer({
  server: { client, title, name, from, line, file, isHeld, obstacle },
}: {
  readonly server: ClientServer;
}) {
  const isImported = useSignal(false);
  const add = async (): Promise<void> => {
    await request("/client-servers", { method: "POST", body: { client, from, name } });
    isImported.value = true;
    reportChange("servers");
  };
  return (
    <li class="stack-tight">
      <div class="list-row">
        <span class="list-main">
          <Text in="strong" value={name} limit={100} />
          <Text in="span" class="muted" value={`${title}, ${from}`} limit={200} />
        </span>
        {isImported.value ? (
          <StatusBadge tone="ok" label="imported" />
        ) : (
          file !== null && <Button label={`Import ${name}`} onClick={add} />
        )}
      </div>
      {line !== "" && <Code label={`Starts or calls, for ${name}`} value={line} limit={20_000} />}
      {obstacle !== null && <Text in="p" class="muted" value={`Not imported: ${obstacle}`} limit={300} />}
      {file !== null && isHeld && (
        <p class="muted">It comes from a file of the project, so it starts when the project is trusted.</p>
      )}
    </li>
  );
}
