import { useSignal } from "@preact/signals";

import type { IssuedKey, KeyList, KeySummary, SessionInfo } from "../../../messages.ts";
import { CopyButton } from "../../components/copy-button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Button, EmptyState, StatusBadge } from "../../components/elements.tsx";
import { Icon } from "../../components/icon.tsx";
import { Load } from "../../components/load.tsx";
import { Text, Time } from "../../components/text.tsx";
import { type TableColumn, VirtualTable } from "../../components/virtual-table.tsx";
import { formatLink, navigate } from "../../router.ts";
import type { PageProps } from "../index.ts";
import { CreateKeyDialog } from "./create-key.tsx";
import { KeyDrawer } from "./key-drawer.tsx";

const COLUMNS: readonly TableColumn<KeySummary>[] = [
  { title: "Name", width: "2fr", render: ({ name }) => <Text value={name} limit={80} /> },
  { title: "State", width: "104px", render: ({ state }) => <StatusBadge label={state} /> },
  {
    title: "Permissions",
    width: "3fr",
    render: ({ permissions }) => <Text value={permissions.join(" ")} limit={300} />,
  },
  { title: "Last use", width: "1fr", render: ({ lastUsed }) => <Time at={lastUsed} /> },
];

/** The API keys of the server. The owner creates, rotates and revokes them. */
export function KeysPage({ info, segments: [selected] }: PageProps) {
  return <Load<KeyList> path="/keys">{(list, reload) => <Keys {...{ info, selected, list, reload }} />}</Load>;
}

interface KeysProps {
  readonly info: SessionInfo;
  readonly selected: string | undefined;
  readonly list: KeyList;
  readonly reload: () => void;
}

function Keys({ info: { isOwner }, selected, list: { keys, isLasting }, reload }: KeysProps) {
  const issued = useSignal<IssuedKey | undefined>(undefined);
  const key = keys.find(({ id }) => id === selected);
  const show = (result: IssuedKey): void => {
    issued.value = result;
    reload();
  };
  return (
    <>
      <div class="row">
        <p class="muted wide">
          Clients send a key as <code>Authorization: Bearer sg_…</code>. It sees and calls only what its permissions
          name.
        </p>
        {isOwner && (
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
        <NoKeys isOwner={isOwner} />
      ) : (
        <VirtualTable
          label="Keys"
          columns={COLUMNS}
          rows={keys}
          getKey={({ id }) => id}
          onOpen={({ id }) => navigate(formatLink(["keys", id]))}
        />
      )}
      {selected === "new" && isOwner && <CreateKeyDialog isLasting={isLasting} onIssued={show} />}
      {key !== undefined && issued.value === undefined && (
        <KeyDrawer keySummary={key} isOwner={isOwner} onIssued={show} onChange={reload} />
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

interface IssuedKeyDialogProps {
  readonly issued: IssuedKey;
  readonly onClose: () => void;
}

/** Shows the text of a new key once, and copies it. */
function IssuedKeyDialog({ issued: { text, key }, onClose }: IssuedKeyDialogProps) {
  return (
    <Dialog title={`The key ${key.name}`} onClose={onClose}>
      <p>Copy the key now. It cannot be shown again, because only its digest is stored.</p>
      <output class="code secret" aria-label="Key">
        {text}
      </output>
      {key.previousExpires !== null && key.previousExpires > Date.now() && (
        <p class="muted">
          The old secret is valid until <Time at={key.previousExpires} />.
        </p>
      )}
      <div class="row form-actions">
        <CopyButton getText={() => text} isPrimary />
        <Button label="Done" onClick={onClose} />
      </div>
    </Dialog>
  );
}
