import { useState } from "preact/hooks";

import type { ReadServer } from "../../../messages.ts";
import { InputError, request } from "../../api.ts";
import { Dialog } from "../../components/dialog.tsx";
import { type Choice, Field, Form, type FormValues } from "../../components/form.tsx";
import { Code, countNoun, Text } from "../../components/text.tsx";
import { reportChange } from "../../state/events.ts";
import { showToast } from "../../state/toasts.ts";

interface AddServersProps {
  readonly onClose: () => void;
}

const SCOPES: readonly Choice[] = [
  ["project", "this project: .mcp.json, shared with others"],
  ["local", "this project, only for you"],
  ["user", "all your projects"],
];

const EXAMPLE = `{
  "mcpServers": {
    "filesystem": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "."]
    }
  }
}`;

/** Adds the servers of a pasted text, after the person has seen the command of each. */
export function AddServers({ onClose }: AddServersProps) {
  const [servers, setServers] = useState<readonly ReadServer[] | undefined>(undefined);
  const read = async (text: string): Promise<void> => {
    const body = { text };
    const answer = await request<{ readonly servers: readonly ReadServer[] }>("/pasted-servers", {
      method: "POST",
      body,
    });
    setServers(answer.servers);
  };
  return (
    <Dialog title="Add MCP servers" onClose={onClose}>
      {servers === undefined ? (
        <Form submit="Next" onSubmit={({ text = "" }) => read(text)} onCancel={onClose}>
          <Field
            name="text"
            label="Block, command or address"
            rows={10}
            required
            autofocus
            placeholder={EXAMPLE}
            note="Paste the mcpServers block of the server's README, the command that starts it, or its address. Nothing starts before you have seen it."
          />
        </Form>
      ) : (
        <ConfirmServers servers={servers} onChange={setServers} onRead={read} onClose={onClose} />
      )}
    </Dialog>
  );
}

const ENTRY_ROWS = 10;

interface ConfirmServersProps extends AddServersProps {
  readonly servers: readonly ReadServer[];
  readonly onChange: (servers: readonly ReadServer[]) => void;
  readonly onRead: (text: string) => Promise<void>;
}

/** Shows each server whole. An entry that was changed here is read again, so that only what was shown is added. */
function ConfirmServers({ servers, onChange, onRead, onClose }: ConfirmServersProps) {
  const add = async (values: FormValues): Promise<void> => {
    const edited = servers.map((server, at) => readEdited(server, at, values));
    if (JSON.stringify(edited.map(({ entry }) => entry)) !== JSON.stringify(servers.map(({ entry }) => entry)))
      return onRead(JSON.stringify({ mcpServers: Object.fromEntries(edited.map(({ name, entry }) => [name, entry])) }));
    let rest = edited;
    for (const { name, entry } of edited) {
      await request("/servers", { method: "POST", body: { name, entry, scope: values["scope"] } });
      rest = rest.filter((each) => each.name !== name);
      if (rest.length > 0) onChange(rest);
      reportChange("servers");
    }
    showToast({ tone: "ok", text: `${edited.map(({ name }) => name).join(", ")}: added` });
    onClose();
  };
  return (
    <Form
      submit={`Add and start ${countNoun(servers.length, "server")}`}
      version={JSON.stringify(servers)}
      onSubmit={add}
      onCancel={onClose}
    >
      <p>A command runs as the user of this server, with the rights of that user. Add only what you trust.</p>
      {servers.map(({ name, entry, line, problem }, at) => (
        <fieldset key={at} class="stack">
          <legend>
            <Text value={name} limit={100} />
          </legend>
          <Code label={`Starts or calls, for ${name}`} value={line} limit={20_000} />
          {problem !== null && <Text in="p" class="warning" value={problem} limit={1_000} />}
          <Field name={`name ${at}`} label="Name" required value={name} />
          <Field
            name={`entry ${at}`}
            label="Entry"
            rows={ENTRY_ROWS}
            value={JSON.stringify(entry, null, 2)}
            note="Replace the values that are yours, such as keys and folders. Write secrets as ${VARIABLE}."
          />
        </fieldset>
      ))}
      <Field name="scope" label="For" choices={SCOPES} />
    </Form>
  );
}

function readEdited(server: ReadServer, at: number, values: FormValues): ReadServer {
  const { [`name ${at}`]: name = server.name, [`entry ${at}`]: entry = "" } = values;
  return { ...server, name, entry: parseEntry(entry) };
}

/** Throws for a text that is not JSON. */
export function parseEntry(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InputError('The entry is not valid JSON; write { "command": "npx", "args": ["…"] }');
  }
}
