import { useSignal } from "@preact/signals";

import type { IssuedKey, KeySummary, KeyUsage } from "../../../messages.ts";
import { request } from "../../api.ts";
import { askToConfirm, Dialog } from "../../components/dialog.tsx";
import { Button, Facts, StatusBadge, TextList } from "../../components/elements.tsx";
import { type Choice, Field } from "../../components/form.tsx";
import { Load } from "../../components/load.tsx";
import { countNoun, Text, Time } from "../../components/text.tsx";
import { formatLink, navigate } from "../../router.ts";
import { showToast } from "../../state/toasts.ts";

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
      <Facts
        facts={{
          State: <StatusBadge label={state} />,
          "Begins with": <code>{prefix}</code>,
          Permissions: <Words words={permissions} />,
          Scopes: <Words words={scopes} />,
          Roles: <Words words={roles} />,
          Limits: formatLimits(limits),
          Created: <Time at={created} />,
          "Last use": <Time at={lastUsed} />,
          Expires: <Time at={expires} />,
          Revoked: revoked === null ? undefined : <Time at={revoked} />,
          "Old secret": key.previousExpires !== null && key.previousExpires > Date.now() && (
            <>
              valid until <Time at={key.previousExpires} />
            </>
          ),
        }}
      />
      <Load<KeyUsage> path={`/keys/${encodeURIComponent(key.id)}/usage`}>{(usage) => <Usage usage={usage} />}</Load>
      {isOwner && state !== "revoked" && <KeyActions keySummary={key} onIssued={onIssued} onChange={onChange} />}
    </Dialog>
  );
}

/** The use of the key in the last day, and of its limits. */
function Usage({ usage: { limits, calls, refused, runs, replays, checks, methods } }: { readonly usage: KeyUsage }) {
  const [minute, hour] = (["minute", "hour"] as const).map((period) => limits.find((each) => each.period === period));
  const formatLimit = (of: typeof minute) => of && `${of.used} of ${of.limit} requests`;
  return (
    <Facts
      facts={{
        "Last minute": formatLimit(minute),
        "Last hour": formatLimit(hour),
        "Last day": [
          countNoun(calls.day, "call"),
          `${refused.day} refused`,
          countNoun(runs.day, "run"),
          countNoun(replays.day, "replay"),
          countNoun(checks.day, "check"),
        ].join(", "),
        "Most called": methods[0] && (
          <Text value={methods.map(({ path, calls: times }) => `${path} ${times}`).join(", ")} limit={300} />
        ),
      }}
    />
  );
}

function Words({ words }: { readonly words: readonly string[] }) {
  return words.length === 0 ? <span class="muted">none</span> : <TextList class="row words" texts={words} />;
}

function formatLimits({ perMinute, perHour, maxRunning, weight }: KeySummary["limits"]): string {
  const parts = [
    ...(perMinute === undefined ? [] : [`${countNoun(perMinute, "request")} a minute`]),
    ...(perHour === undefined ? [] : [`${countNoun(perHour, "request")} an hour`]),
    ...(maxRunning === undefined ? [] : [`${countNoun(maxRunning, "program")} at once`]),
    ...(weight === undefined ? [] : [`${weight} times the computing time of others`]),
  ];
  return parts.join(", ") || "none";
}

/** Milliseconds for which the old secret of a rotated key may stay valid. */
const OVERLAPS: readonly Choice[] = [
  ["0", "ends at once"],
  ["3600000", "is valid for an hour"],
  ["86400000", "is valid for a day"],
];

type KeyActionsProps = Pick<KeyDrawerProps, "keySummary" | "onIssued" | "onChange">;

function KeyActions({ keySummary: { id, name, state }, onIssued, onChange }: KeyActionsProps) {
  const overlapMs = useSignal("86400000");
  const path = `/keys/${encodeURIComponent(id)}`;
  const rotate = async (): Promise<void> => {
    const body = { overlapMs: Number(overlapMs.value) };
    onIssued(await request<IssuedKey>(`${path}/rotate`, { method: "POST", body }));
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
    <div class="row">
      {state === "active" && (
        <>
          <Button label="Rotate" onClick={rotate} />
          <Field
            name="overlap"
            label="The old secret"
            class="field-row"
            value={overlapMs.value}
            choices={OVERLAPS}
            onText={(text) => (overlapMs.value = text)}
          />
        </>
      )}
      <Button label="Revoke" tone="danger" onClick={revoke} />
    </div>
  );
}
