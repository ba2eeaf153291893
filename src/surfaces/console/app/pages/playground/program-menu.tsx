import { useSignal } from "@preact/signals";

import type { MethodDetail, MethodSummary } from "../../../messages.ts";
import { InputError, request } from "../../api.ts";
import { CopyButton } from "../../components/copy-button.tsx";
import { type Choice, Field } from "../../components/form.tsx";
import { formatLink } from "../../router.ts";
import { showError } from "../../state/toasts.ts";
import { readHistory } from "./history.ts";

interface ProgramMenuProps {
  readonly getProgram: () => string;
  readonly onChoose: (program: string) => void;
}

/** Examples, earlier programs, and a link with the program. */
export function ProgramMenu({ getProgram, onChoose }: ProgramMenuProps) {
  /** Creates the lists again, so that they show their titles after a choice. */
  const version = useSignal(0);
  const choose = (program: string): void => {
    version.value += 1;
    onChoose(program);
  };
  const history = readHistory();
  return (
    <div class="row" key={version.value}>
      <Field
        name="example"
        label="Examples"
        isLabelHidden
        choices={[["", "Examples"], ...EXAMPLES.map(({ title }): Choice => [title, title])]}
        onText={(title) => void createExample(title).then(choose, showError)}
      />
      {history.length > 0 && (
        <Field
          name="history"
          label="History"
          isLabelHidden
          class="history"
          choices={[["", "History"], ...history.map((program, at): Choice => [String(at), formatTitle(program)])]}
          onText={(at) => choose(history[Number(at)] ?? "")}
        />
      )}
      <CopyButton label="Copy link" getText={() => createLink(getProgram())} />
    </div>
  );
}

const MAX_TITLE_UNITS = 60;

function formatTitle(program: string): string {
  return program.replaceAll(/\s+/g, " ").trim().slice(0, MAX_TITLE_UNITS);
}

/** Browsers and chats cut longer addresses. */
const MAX_LINKED_UNITS = 6_000;

function createLink(program: string): string {
  if (program.length <= MAX_LINKED_UNITS) return `${location.origin}/${formatLink(["playground"], { program })}`;
  throw new InputError(`The program is too long for a link: a link has at most ${MAX_LINKED_UNITS} characters`);
}

/** Programs to begin with; `call` is a call of a method of this server. */
const EXAMPLES: readonly { readonly title: string; readonly write: (call: string) => string }[] = [
  { title: "A call of a method", write: (call) => `return await ${call};\n` },
  {
    title: "Two calls at once",
    write: (call) =>
      `const [first, second] = await Promise.all([\n  ${call},\n  ${call},\n]);\nreturn { first, second };\n`,
  },
  {
    title: "A loop with output",
    write: (call) => `for (const number of [1, 2, 3]) {\n  console.log(number, await ${call});\n}\n`,
  },
  {
    title: "A call that may fail",
    write: (call) => `try {\n  return await ${call};\n} catch (error) {\n  return error.message;\n}\n`,
  },
];

async function createExample(title: string): Promise<string> {
  const { methods } = await request<{ readonly methods: readonly MethodSummary[] }>("/methods");
  const callable = methods.filter(({ callable: isCallable }) => isCallable);
  const method = callable.find(({ readOnly }) => readOnly) ?? callable.find(({ destructive }) => !destructive);
  if (method === undefined) throw new InputError("There is no method to call yet. Add a skill or an MCP server");
  const { example } = await request<MethodDetail>(`/methods/${encodeURIComponent(method.path)}`);
  return EXAMPLES.find((each) => each.title === title)?.write(example.replace(/^await /, "")) ?? "";
}
