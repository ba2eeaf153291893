import { expect, test } from "vitest";

import { type ApprovalRequest, createRuntime, defineSkill } from "../../../src/index.ts";
import { Cancellation } from "../../../sandbox/index.ts";
import type { Client } from "../../../src/model/client-requests.ts";
import { withSender } from "../../../src/providers/mcp/questions.ts";
import { KnownSecrets } from "../../../src/shared/secrets.ts";
import { approveBy } from "../../../src/surfaces/mcp/approve.ts";
import { approvalQuestion } from "../../../src/surfaces/cli/text/approval-texts.ts";

/** What a client is asked when a server called `server` asks it. */
async function asked(params: Readonly<Record<string, unknown>>, server = "weather"): Promise<unknown> {
  const { client, questions } = recorder();
  await withSender(client, server, new KnownSecrets(["canary-7d1f"])).ask("elicitation/create", params);
  return questions[0];
}

function recorder(): { readonly client: Client; readonly questions: Readonly<Record<string, unknown>>[] } {
  const questions: Readonly<Record<string, unknown>>[] = [];
  const ask: Client["ask"] = async (_request, params) => {
    questions.push(params);
    return { action: "accept", content: { answer: "once" } };
  };
  return { client: { can: () => true, ask }, questions };
}

test.each([
  ["Which city?", "[weather asks] Which city?"],
  ["\n\nAllow this call?\nBankSkill.pay\n{}", "[weather asks] Allow this call? BankSkill.pay {}"],
  [`Yes?${" ".repeat(500)}No?`, "[weather asks] Yes? No?"],
  [
    "a\u200bb\u202ec\u2066d\u00adf\u3164g\u2800h",
    String.raw`[weather asks] a\u200bb\u202ec\u2066d\u00adf\u3164g\u2800h`,
  ],
  ["the key is canary-7d1f", "[weather asks] the key is [redacted]"],
  ["x".repeat(5_000), `[weather asks] ${"x".repeat(1_999)}…`],
  [7, "[weather asks] "],
])("names the server that asks %j, on one visible line [M7]", async (message, shown) => {
  expect(await asked({ message })).toEqual({ message: shown });
});

test("keeps the name of a server from closing the sender's label [M7]", async () => {
  expect(await asked({ message: "Well?" }, "x asks] Skillgate\n[y")).toEqual({
    message: "[x asks Skillgate y asks] Well?",
  });
});

test("shows the texts of a form as visible lines, and leaves its names and values unchanged [M7]", async () => {
  const property = {
    type: "string",
    title: "Allow\nthis",
    description: "a\u202eb",
    enum: ["x  y"],
    enumNames: ["X  Y"],
  };
  const requestedSchema = { type: "object", properties: { title: property }, required: ["title"] };
  const shown = { ...property, title: "Allow this", description: String.raw`a\u202eb`, enumNames: ["X Y"] };
  expect(await asked({ message: "", requestedSchema })).toMatchObject({
    requestedSchema: { ...requestedSchema, properties: { title: shown } },
  });
});

test.each([
  ["https://accounts.example/login?x=1", "accounts.example"],
  ["https://bank.example@evil.example:8443/", "evil.example:8443"],
  ["https://b\u0430nk.example/", "xn--bnk-6cd.example"],
])("shows the host of the page %s [M7]", async (url, host) => {
  const question = { mode: "url", message: "Log in", url, elicitationId: "1" };
  expect(await asked(question)).toEqual({ ...question, message: `[weather asks] Log in (opens ${host})` });
});

test.each(["javascript:alert(1)", "file:///etc/passwd", "nowhere", undefined])(
  "refuses to send a user to %s [M7]",
  async (url) => {
    await expect(asked({ mode: "url", message: "Log in", url })).rejects.toThrow(
      `The page is not an http or https address: ${JSON.stringify(url)}`,
    );
  },
);

test("shows every character of the arguments in an approval, and counts its spaces [P6]", async () => {
  const input = { to: `Ada${" ".repeat(300)}\u202e\u200bBob\u3164`, amount: 5 };
  const text = String.raw`Ada[300 spaces]\u202e\u200bBob\u3164`;
  const BankSkill = defineSkill({
    name: "BankSkill",
    description: "Moves money",
    methods: {
      pay: {
        description: "Pay somebody",
        approval: "user",
        input: { type: "object", properties: { to: { type: "string" }, amount: { type: "number" } } },
        run: () => "paid",
      },
    },
  });
  const requests: ApprovalRequest[] = [];
  const approve = (request: ApprovalRequest): boolean => requests.push(request) > 0;
  await using runtime = await createRuntime({ skillsDir: false, skills: [BankSkill], workers: 1, approve });
  await runtime.call("BankSkill.pay", input, { caller: { id: "ada\u202e", permissions: ["call:*"] } });
  const [request] = requests;
  if (request === undefined) throw new Error("no question");
  const card = String.raw`"ada\u202e" asks to call BankSkill.pay with` + `\n{\n  "to": "${text}",\n  "amount": 5\n}\n`;
  const { client, questions } = recorder();
  const { approve: ask } = approveBy({ client, cancellable: new Cancellation() });
  expect(await ask?.(request, new AbortController().signal)).toBe("once");
  expect(questions[0]?.["message"]).toContain(`Allow this call?\n${card}`);
  expect(approvalQuestion(request)).toContain(card);
});
