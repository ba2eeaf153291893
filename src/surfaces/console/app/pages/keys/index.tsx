import { useSignal } from "@preact/signals";

import type { IssuedKey, KeyList, KeySummary } from "../../../admin-messages.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { Icon } from "../../components/icon.tsx";
import { Skeleton } from "../../components/skeleton.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { Text } from "../../components/text.tsx";
import { Time } from "../../components/time.tsx";
import { type TableColumn, VirtualTable } from "../../components/virtual-table.tsx";
import { formatLink, navigate } from "../../router.ts";
import { useResource } from "../../state/resource.ts";
import type { PageProps } from "../index.ts";
import { CreateKeyDialog } from "./create-key.tsx";
import { IssuedKeyDialog } from "./issued-key.tsx";
import { KEY_TONES, KeyDrawer } from "./key-drawer.tsx";

const COLUMNS: readonly TableColumn<KeySummary>[] = [
  { title: "Name", width: "2fr", render: ({ name }) => <Text value={name} limit={80} /> },
  { title: "State", width: "104px", render: ({ state }) => <StatusBadge tone={KEY_TONES[state]} label={state} /> },
  {
    title: "Permissions",
    width: "3fr",
    render: ({ permissions }) => <Text value={permissions.join(" ")} limit={300} />,
  },
  {
    title: "Last use",
    width: "1fr",
    render: ({ lastUsed }) => (lastUsed === null ? <span class="muted">never</span> : <Time at={lastUsed} />),
  },
];

/** The API keys of the server. The owner creates, rotates and revokes them. */
export function KeysPage({ info, segments: [selected] }: PageProps) {
  const { data, error, reload } = useResource<KeyList>("/keys");
  const issued = useSignal<IssuedKey | undefined>(undefined);
  if (error.value !== undefined) return <ErrorNotice error={error.value} onRetry={reload} />;
  if (data.value === undefined) return <Skeleton lines={8} />;
  const { keys, isLasting } = data.value;
  const isCreating = selected === "new" && info.isOwner;
  const key = keys.find(({ id }) => id === selected);
  const show = (result: IssuedKey): void => {
    issued.value = result;
    reload();
  };
  return (
    <>
      <div class="toolbar">
        <p class="muted toolbar-text">
          Clients send a key as <code>Authorization: Bearer sg_…</code>. It sees and calls only what its permissions
          name.
        </p>
        {info.isOwner && (
          <a class="button button-primary" href={formatLink(["keys", "new"])}>
            <Icon name="plus" />
            Create a key
          </a>
        )}
      </div>
      {!isLasting && keys.length > 0 && (
        <p class="notice">The store is in memory, so these keys end with the server.</p>
      )}
      {keys.length === 0 ? (
        <NoKeys isOwner={info.isOwner} />
      ) : (
        <VirtualTable
          label="Keys"
          columns={COLUMNS}
          rows={keys}
          getKey={({ id }) => id}
          onOpen={({ id }) => navigate(formatLink(["keys", id]))}
        />
      )}
      {isCreating && <CreateKeyDialog isLasting={isLasting} onIssued={show} />}
      {key !== undefined && issued.value === undefined && (
        <KeyDrawer keySummary={key} isOwner={info.isOwner} onIssued={show} onChange={reload} />
      )}
      {issued.value !== undefined && (
        <IssuedKeyDialog issued={issued.value} onClose={() => (issued.value = undefined)} />
      )}
    </>
  );
}

function NoKeys({ isOwner }: { readonly isOwner: boolean }) {
  return (
    <EmptyState icon="keys" title="No keys">
      {isOwner ? (
        <>
          <a href={formatLink(["keys", "new"])}>Create one</a> for each client, with the methods that it may call.
        </>
      ) : (
        "The owner creates them, here or with skillgate keys create."
      )}
    </EmptyState>
  );
}
