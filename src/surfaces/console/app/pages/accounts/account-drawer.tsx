import { useState } from "preact/hooks";

import type { AccountSummary, AccountTest, RevokeAnswer } from "../../../messages.ts";
import { request } from "../../api.ts";
import { askToConfirm, Dialog } from "../../components/dialog.tsx";
import { Button, Facts, StatusBadge, TextList } from "../../components/elements.tsx";
import { Text, Time } from "../../components/text.tsx";
import { reportChange } from "../../state/events.ts";
import { showToast } from "../../state/toasts.ts";
import { ConnectAccount } from "./connect-account.tsx";

interface AccountDrawerProps {
  readonly account: AccountSummary;
  /** The reader connects accounts for the callers of keys, too. */
  readonly mayConnectOthers: boolean;
  readonly onClose: () => void;
}

/** One account with the connection of one owner, and the actions on it. */
export function AccountDrawer({ account, mayConnectOthers, onClose }: AccountDrawerProps) {
  const { name, ownerName } = account;
  return (
    <Dialog form="drawer" title={`${name} (${ownerName})`} onClose={onClose}>
      <AccountFacts account={account} />
      <Actions account={account} mayConnectOthers={mayConnectOthers} onClose={onClose} />
    </Dialog>
  );
}

function AccountFacts({ account }: { readonly account: AccountSummary }) {
  const { type, label, scopes, skills, expires, connected, lastUsed, reason } = account;
  const isConnected = connected !== null;
  return (
    <Facts
      facts={{
        State: (
          <>
            <ConnectionState account={account} />
            {reason !== null && <Text in="p" value={reason} limit={2_000} />}
          </>
        ),
        Type: type ?? undefined,
        For: account.for === "everyone" ? "everyone" : "each caller",
        Owner: <Text value={account.ownerName} limit={200} />,
        "User at the service": label !== null && <Text value={label} limit={200} />,
        Scopes: scopes.length > 0 && <TextList class="row words" texts={scopes} />,
        "Needed by": skills.length === 0 ? <span class="muted">no skill</span> : <Text value={skills.join(", ")} />,
        Connected: isConnected && <Time at={connected} />,
        "Token ends": expires !== null && <Time at={expires} />,
        "Last use": isConnected && <Time at={lastUsed} />,
      }}
    />
  );
}

const STATES = {
  connected: { label: "connected", tone: "ok" },
  settings: { label: "in the settings", tone: "ok" },
  missing: { label: "not connected", tone: "warn" },
  reconnect: { label: "connect again", tone: "bad" },
  unknown: { label: "not in the settings", tone: "off" },
} as const;

/** The state of a connection. */
export function ConnectionState({ account: { state, reason } }: { readonly account: AccountSummary }) {
  if (state === "settings" && reason !== null) return <StatusBadge label="not set" tone="bad" />;
  return <StatusBadge {...STATES[state]} />;
}

function Actions({ account, mayConnectOthers, onClose }: AccountDrawerProps) {
  const [isConnecting, setConnecting] = useState(false);
  const [found, setFound] = useState<AccountTest | undefined>(undefined);
  const { name, owner, ownerName, state, connect, isOwn } = account;
  const path = `/accounts/${encodeURIComponent(name)}`;
  const isConnected = account.connected !== null;
  const label = isConnected ? "Connect again" : "Connect";
  const test = async (): Promise<void> => {
    setFound(await request<AccountTest>(`${path}/test`, { method: "POST", body: { owner } }));
  };
  const revoke = async (): Promise<void> => {
    const question = `The credential of ${name} for ${ownerName} is deleted. Runs and calls that use it end at once.`;
    if (!(await askToConfirm({ title: `Revoke ${name} (${ownerName})?`, text: question, confirm: "Revoke" }))) return;
    const { left } = await request<RevokeAnswer>(`${path}/revoke`, { method: "POST", body: { owner } });
    const text = `${name} (${ownerName}) is revoked`;
    if (left === null) showToast({ tone: "ok", text });
    else showToast({ tone: "error", text: `${text} here. It may still be valid at the service: ${left}` });
    reportChange("accounts");
    onClose();
  };
  return (
    <>
      <div class="row">
        {connect?.kind === "values" && <Button label={label} tone="primary" onClick={() => setConnecting(true)} />}
        {connect?.kind === "link" && (
          <a class="button button-primary" href={connect.url} target="_blank" rel="noopener">
            {label}
            <span class="visually-hidden"> (opens a new tab)</span>
          </a>
        )}
        {state !== "missing" && state !== "unknown" && <Button label="Test" onClick={test} />}
        {isConnected && <Button label="Revoke" tone="danger" onClick={revoke} />}
      </div>
      {connect?.kind === "link" && (
        <p class="muted">A new tab asks for your key, then leads to the login of the service. This page follows.</p>
      )}
      {connect?.kind === "command" && (
        <p>
          It is connected in a terminal: <Text in="code" value={connect.command} limit={300} />
        </p>
      )}
      {connect === null && account.type === "oauth" && state !== "settings" && (
        <p class="muted">{isOwn ? "The owner of the server connects it in a terminal." : "Its owner connects it."}</p>
      )}
      <div role="status">
        {found !== undefined && <Text in="p" value={`${TEST_TITLES[found.result]}: ${found.detail}`} limit={1_000} />}
      </div>
      {isConnecting && connect?.kind === "values" && (
        <ConnectAccount
          account={account}
          names={connect.names}
          mayConnectOthers={mayConnectOthers}
          onClose={() => setConnecting(false)}
        />
      )}
    </>
  );
}

const TEST_TITLES: Readonly<Record<AccountTest["result"], string>> = {
  accepted: "Accepted",
  refused: "Refused",
  readable: "Readable",
  unclear: "Unclear",
  failed: "Failed",
};
