import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";

import type { IssuedKey, KeySummary } from "../../../admin-messages.ts";
import { request } from "../../api.ts";
import { askToConfirm } from "../../components/confirmation.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { Text } from "../../components/text.tsx";
import { Time } from "../../components/time.tsx";
import { formatLink, navigate } from "../../router.ts";
import { showError, showToast } from "../../state/toasts.ts";

export const KEY_TONES = { active: "ok", expired: "off", revoked: "bad" } as const satisfies Record<
  KeySummary["state"],
  Parameters<typeof StatusBadge>[0]["tone"]
>;

interface KeyDrawerProps {
  readonly keySummary: KeySummary;
  readonly isOwner: boolean;
  readonly onIssued: (issued: IssuedKey) => void;
  readonly onChange: () => void;
}

/** All facts about a key, and its rotation and revocation. */
export function KeyDrawer({ keySummary: key, isOwner, onIssued, onChange }: KeyDrawerProps) {
  const { name, prefix, state, permissions, scopes, roles, limits, created, lastUsed, expires, revoked } = key;
  return (
    <Dialog form="drawer" title={name} onClose={() => navigate(formatLink(["keys"]))}>
      <dl class="facts">
        <Fact label="State">
          <StatusBadge tone={KEY_TONES[state]} label={state} />
        </Fact>
        <Fact label="Begins with">
          <code>{prefix}</code>
        </Fact>
        <Fact label="Permissions">
          <Words words={permissions} />
        </Fact>
        <Fact label="Scopes">
          <Words words={scopes} />
        </Fact>
        <Fact label="Roles">
          <Words words={roles} />
        </Fact>
        <Fact label="Limits">{formatLimits(limits)}</Fact>
        <Fact label="Created">
          <Time at={created} />
        </Fact>
        <Fact label="Last use">
          <Moment at={lastUsed} />
        </Fact>
        <Fact label="Expires">
          <Moment at={expires} />
        </Fact>
        {revoked !== null && (
          <Fact label="Revoked">
            <Time at={revoked} />
          </Fact>
        )}
        {key.previousExpires !== null && key.previousExpires > Date.now() && (
          <Fact label="Old secret">
            valid until <Time at={key.previousExpires} />
          </Fact>
        )}
      </dl>
      {isOwner && state !== "revoked" && <KeyActions keySummary={key} onIssued={onIssued} onChange={onChange} />}
    </Dialog>
  );
}

function Fact({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    <>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </>
  );
}

function Words({ words }: { readonly words: readonly string[] }) {
  if (words.length === 0) return <span class="muted">none</span>;
  return (
    <ul class="words">
      {words.map((word) => (
        <li key={word}>
          <code>
            <Text value={word} limit={300} />
          </code>
        </li>
      ))}
    </ul>
  );
}

function Moment({ at }: { readonly at: number | null }) {
  return at === null ? <span class="muted">never</span> : <Time at={at} />;
}

function formatLimits({ perMinute, perHour }: KeySummary["limits"]): string {
  const parts = [
    ...(perMinute === undefined ? [] : [`${perMinute.toLocaleString()} requests a minute`]),
    ...(perHour === undefined ? [] : [`${perHour.toLocaleString()} requests an hour`]),
  ];
  return parts.join(", ") || "none";
}

/** Milliseconds for which the old secret of a rotated key may stay valid. */
const OVERLAPS: readonly (readonly [label: string, ms: number])[] = [
  ["ends at once", 0],
  ["is valid for an hour", 3_600_000],
  ["is valid for a day", 86_400_000],
];

type KeyActionsProps = Pick<KeyDrawerProps, "keySummary" | "onIssued" | "onChange">;

function KeyActions({ keySummary: { id, name, state }, onIssued, onChange }: KeyActionsProps) {
  const overlapMs = useSignal(86_400_000);
  const path = `/keys/${encodeURIComponent(id)}`;
  const rotate = async (): Promise<void> => {
    onIssued(await request<IssuedKey>(`${path}/rotate`, { method: "POST", body: { overlapMs: overlapMs.value } }));
  };
  const revoke = async (): Promise<void> => {
    const isSure = await askToConfirm({
      title: `Revoke the key ${name}?`,
      text: "Its sessions and running programs end at once. A revoked key cannot be used again.",
      confirm: "Revoke",
    });
    if (!isSure) return;
    await request(`${path}/revoke`, { method: "POST", body: {} });
    showToast({ tone: "ok", text: `Revoked: ${name}` });
    onChange();
  };
  return (
    <div class="key-actions">
      {state === "active" && (
        <>
          <button type="button" class="button" onClick={() => void rotate().catch(showError)}>
            Rotate
          </button>
          <label class="key-overlap">
            <span class="muted">The old secret</span>
            <select
              value={overlapMs.value}
              onChange={({ currentTarget }) => (overlapMs.value = Number(currentTarget.value))}
            >
              {OVERLAPS.map(([label, ms]) => (
                <option key={ms} value={ms}>
                  {label}
                </option>
              ))}
            </select>
          </label>
        </>
      )}
      <button type="button" class="button button-danger" onClick={() => void revoke().catch(showError)}>
        Revoke
      </button>
    </div>
  );
}
