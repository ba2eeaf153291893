import type { AccountSummary } from "../../../messages.ts";
import { request } from "../../api.ts";
import { Dialog } from "../../components/dialog.tsx";
import { type Choice, Field, Form, type FormValues } from "../../components/form.tsx";
import { Load } from "../../components/load.tsx";
import { formatLink, navigate } from "../../router.ts";
import { announceChange } from "../../state/announce-change.ts";

/** Adds an API by the address of its document, or by its pasted text. */
export function AddApi({ onClose }: { readonly onClose: () => void }) {
  const add = async ({ name = "", kind, document, text, server, account, reach }: FormValues): Promise<void> => {
    const body = { name, kind, document, text, server, account, private: reach === "private" };
    await request("/apis", { method: "POST", body });
    announceChange(`${name} is added`, "servers");
    onClose();
    navigate(formatLink(["apis", name]));
  };
  return (
    <Dialog title="Add an API" onClose={onClose}>
      <Form submit="Add" onSubmit={add} onCancel={onClose}>
        <Field name="name" label="Name" required autofocus placeholder="shop" note="The skill of shop is ShopAPI." />
        <Field
          name="kind"
          label="Kind"
          choices={[
            ["", "by its address or text"],
            ["graphql", "GraphQL"],
          ]}
        />
        <Field
          name="document"
          label="Address of its OpenAPI document, or of its GraphQL endpoint"
          placeholder="https://api.example.com/openapi.json"
          note="JSON or YAML, OpenAPI 2.0, 3.0 or 3.1; a GraphQL endpoint, often with /graphql at its end, or its schema."
        />
        <Field
          name="text"
          label="Or the document itself"
          rows={6}
          note="It is written into the folder apis of the project."
        />
        <Field
          name="server"
          label="Base address of its requests"
          placeholder="https://api.example.com"
          note="By default, the first server of the document. With a GraphQL schema, its endpoint."
        />
        <AccountField />
        <Field
          name="reach"
          label="Network"
          choices={[
            ["public", "the Internet"],
            ["private", "a private network, such as this machine"],
          ]}
        />
      </Form>
    </Dialog>
  );
}

/** Chooses an account of the settings. */
function AccountField() {
  return (
    <Load<{ readonly accounts: readonly AccountSummary[] }> path="/accounts" lines={1}>
      {({ accounts }) => {
        const names = new Set(accounts.filter(({ type }) => type !== null).map(({ name }) => name));
        return (
          <Field
            name="account"
            label="Account"
            choices={[["", "none"], ...[...names].map((name): Choice => [name, name])]}
            note="Its credential is sent with each request, and no program sees it."
          />
        );
      }}
    </Load>
  );
}
