import { useSignal } from "@preact/signals";

import { type ClientSnippet, type IssuedKey, KEY_PLACEHOLDER, type KeyList } from "../../messages.ts";
import { request } from "../api.ts";
import { CopyButton } from "../components/copy-button.tsx";
import { Card, StatusBadge } from "../components/elements.tsx";
import { Field, Form, type FormValues } from "../components/form.tsx";
import { PatternField } from "../components/pattern-field.tsx";
import { Load } from "../components/load.tsx";
import { Code, Text, Time } from "../components/text.tsx";
import { formatLink, navigate } from "../router.ts";
import type { PageProps } from "./index.ts";
import { toKeyBody } from "./keys/create-key.tsx";

interface Snippets {
  /** The address of the MCP endpoint. */
  readonly url: string;
  readonly clients: readonly ClientSnippet[];
}

/** Connects a client to this server: its entry, with a key made for it. */
export function ConnectPage({ info, query }: PageProps) {
  return (
    <Load<Snippets> path={`/connect?origin=${encodeURIComponent(location.origin)}`}>
      {({ url, clients }) => {
        const client = clients.find(({ id }) => id === query.get("client")) ?? clients[0];
        if (client === undefined) return null;
        return (
          <>
            <p class="muted">
              A client uses this server at <Text in="code" value={url} limit={400} />. It sees one tool to find methods,
              and one to run programs.
            </p>
            <div class="row">
              <Field
                name="client"
                class="wide"
                label="Client"
                value={client.id}
                choices={clients.map(({ id, title }) => [id, title])}
                onText={(id) => navigate(formatLink(["connect"], { client: id }), { replace: true })}
              />
            </div>
            <ClientCards key={client.id} client={client} isOwner={info.isOwner} />
          </>
        );
      }}
    </Load>
  );
}

interface ClientCardsProps {
  readonly client: ClientSnippet;
  readonly isOwner: boolean;
}

function ClientCards({ client: { id, title, file, text }, isOwner }: ClientCardsProps) {
  const issued = useSignal<IssuedKey | undefined>(undefined);
  const needsKey = text.includes(KEY_PLACEHOLDER);
  const snippet = text.replace(KEY_PLACEHOLDER, issued.value?.text ?? KEY_PLACEHOLDER);
  return (
    <div class="columns columns-tall">
      <Card title={`Entry of ${title}`} actions={<CopyButton getText={() => snippet} />}>
        <p>
          Add this to <Text in="code" value={file} limit={300} />, and start {title} again.
        </p>
        <Code label={`Entry of ${title}`} value={snippet} />
        {issued.value !== undefined && (
          <p class="warning">The key is shown this once. Copy the entry now; only the digest of the key is stored.</p>
        )}
      </Card>
      <Card title="Key">
        {!needsKey && <p>This server requires no key: each program on this machine may use it.</p>}
        {needsKey && issued.value === undefined && isOwner && (
          <KeyForm title={title} onIssued={(key) => (issued.value = key)} />
        )}
        {needsKey && !isOwner && <p>Write your own key in place of {KEY_PLACEHOLDER}, or ask the owner for one.</p>}
        {issued.value !== undefined && <KeyState id={issued.value.key.id} title={title} />}
      </Card>
      <Card title="Without this server">
        <p>
          {title} can also start Skillgate itself, on this machine and with all rights. In the folder of the project,
          run:
        </p>
        <Code label="Command" value={`skillgate connect ${id}`} />
      </Card>
    </div>
  );
}

interface KeyFormProps {
  readonly title: string;
  readonly onIssued: (issued: IssuedKey) => void;
}

function KeyForm({ title, onIssued }: KeyFormProps) {
  const create = async (values: FormValues): Promise<void> =>
    onIssued(await request<IssuedKey>("/keys", { method: "POST", body: toKeyBody(values) }));
  return (
    <Form submit="Make a key" onSubmit={create}>
      <Field name="name" label="Name" required value={title.toLowerCase().replaceAll(/\W+/g, "-")} />
      <PatternField name="invoke" label="May call" value="*" note="Skill.method, Skill.* or *, separated by spaces" />
      <Field name="days" label="Valid for days" type="number" min="1" value="90" placeholder="no limit" />
    </Form>
  );
}

const KEY_MS = 2_000;

/** Says when the client has used its key for the first time. */
function KeyState({ id, title }: { readonly id: string; readonly title: string }) {
  return (
    <Load<KeyList> path="/keys" everyMs={KEY_MS} lines={1}>
      {({ keys }) => {
        const lastUsed = keys.find((key) => key.id === id)?.lastUsed ?? null;
        return lastUsed === null ? (
          <p role="status">
            <StatusBadge label={`Waiting for ${title}`} tone="busy" />
          </p>
        ) : (
          <p role="status">
            <StatusBadge label={`${title} is connected`} tone="ok" />, <Time at={lastUsed} />
          </p>
        );
      }}
    </Load>
  );
}
