import type { AccountSummary, KeyList } from "../../../messages.ts";
import { request } from "../../api.ts";
import { Dialog } from "../../components/dialog.tsx";
import { type Choice, Field, Form, type FormValues } from "../../components/form.tsx";
import { Load } from "../../components/load.tsx";
import { announceChange } from "../../state/announce-change.ts";

interface ConnectAccountProps {
  readonly account: AccountSummary;
  /** The names of its values. */
  readonly names: readonly string[];
  readonly mayConnectOthers: boolean;
  readonly onClose: () => void;
}

/** Connects an account with its values, which the page never shows and never gets back. */
export function ConnectAccount({ account, names, mayConnectOthers, onClose }: ConnectAccountProps) {
  const { name, owner, ownerName, isOwn } = account;
  const connect = async (values: FormValues): Promise<void> => {
    const { key = "" } = values;
    const target = key === "" ? { owner } : { key };
    const body = { ...target, values: names.map((_, at) => values[toField(at)] ?? "") };
    await request(`/accounts/${encodeURIComponent(name)}/connect`, { method: "POST", body });
    announceChange(`${name} is connected`, "accounts");
    onClose();
  };
  return (
    <Dialog title={`Connect ${name}`} onClose={onClose}>
      <Form submit="Connect" onSubmit={connect} onCancel={onClose}>
        <p>It is stored encrypted. Programs and models never see it, and no page shows it again.</p>
        {mayConnectOthers && isOwn && owner !== null && <OwnerField ownerName={ownerName} />}
        {names.map((each, at) => (
          <Field
            key={each}
            name={toField(at)}
            label={each}
            type="password"
            autocomplete="new-password"
            required
            autofocus={at === 0}
          />
        ))}
      </Form>
    </Dialog>
  );
}

/** The names of fields, which are no parts of the values of others. */
const toField = (at: number): string => `value ${at}`;

/** Chooses the caller whose connection it is: the reader, or one of the keys. */
function OwnerField({ ownerName }: { readonly ownerName: string }) {
  return (
    <Load<KeyList> path="/keys" lines={1}>
      {({ keys }) => {
        const active = keys.filter(({ state, name }) => state === "active" && name !== ownerName);
        const choices: readonly Choice[] = [
          ["", `you (${ownerName})`],
          ...active.map(({ id, name }): Choice => [id, `the key ${name}`]),
        ];
        return <Field name="key" label="For" choices={choices} />;
      }}
    </Load>
  );
}
