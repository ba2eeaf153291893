import type { Command } from "commander";

import type { CliCommand } from "../command.ts";
import { createUnknownValueError, getShownCommands } from "../usage-error.ts";

export function addCompletion(program: CliCommand): void {
  program
    .command("completion")
    .description("print a script that completes commands and options in a shell")
    .argument("<shell>", "bash, zsh or fish")
    .addHelpText("after", HELP)
    .run(async (_session, shell: string) => {
      const script = SCRIPTS.get(shell);
      if (script === undefined) throw createUnknownValueError("shell", shell, [...SCRIPTS.keys()]);
      const text = script(collectWords(program, []));
      return { json: { shell, script: text }, text };
    });
}

const HELP = `
Examples:
  skillgate completion bash > ~/.local/share/bash-completion/completions/skillgate
  skillgate completion zsh > ~/.zfunc/_skillgate
  skillgate completion fish > ~/.config/fish/completions/skillgate.fish`;

/** A command, with the subcommands and options that may follow it. */
interface CompletionWords {
  /** `["mcp", "add"]`; empty for the program itself. */
  readonly path: readonly string[];
  readonly commands: readonly { readonly name: string; readonly says: string }[];
  readonly options: readonly { readonly long: string; readonly says: string }[];
}

function collectWords(command: Command, path: readonly string[]): readonly CompletionWords[] {
  const children = getShownCommands(command);
  const commands = children.map((child) => ({ name: child.name(), says: child.description() }));
  const above = command.parent === null ? [] : collectOptions(command.parent);
  const own = { path, commands, options: [...collectOptions(command), ...above] };
  return [own, ...children.flatMap((child) => collectWords(child, [...path, child.name()]))];
}

function collectOptions(command: Command): CompletionWords["options"] {
  const own = command.options.flatMap(({ long, description }) => (long == null ? [] : [{ long, says: description }]));
  const inherited = command.parent === null ? [] : collectOptions(command.parent);
  return [...own, ...inherited.filter(({ long }) => own.every((option) => option.long !== long))];
}

const SCRIPTS: ReadonlyMap<string, (all: readonly CompletionWords[]) => string> = new Map([
  ["bash", bashScript],
  ["zsh", zshScript],
  ["fish", fishScript],
]);

/** Completes from the longest chain of commands that was typed. */
function bashScript(all: readonly CompletionWords[]): string {
  const cases = all.map(
    ({ path, commands, options }) =>
      `    "${["skillgate", ...path].join(" ")}") words="${[...commands.map(({ name }) => name), ...options.map(({ long }) => long), "--help"].join(" ")}" ;;`,
  );
  const chains = all.map(({ path }) => `"${["skillgate", ...path].join(" ")}"`).join("|");
  return `_skillgate() {
  local current="\${COMP_WORDS[COMP_CWORD]}" chain="skillgate" words="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$chain $word" in
    ${chains}) chain="$chain $word" ;;
    esac
  done
  case "$chain" in
${cases.join("\n")}
  esac
  COMPREPLY=()
  while IFS='' read -r word; do COMPREPLY+=("$word"); done < <(compgen -W "$words" -- "$current")
  if [ \${#COMPREPLY[@]} -eq 0 ]; then compopt -o default 2>/dev/null; fi
}
complete -F _skillgate skillgate`;
}

function zshScript(all: readonly CompletionWords[]): string {
  return `#compdef skillgate
autoload -U +X bashcompinit && bashcompinit
${bashScript(all)}`;
}

function fishScript(all: readonly CompletionWords[]): string {
  const rows = all.flatMap(({ path, commands, options }) => {
    const where =
      path.length === 0
        ? "__fish_use_subcommand"
        : path.map((name) => `__fish_seen_subcommand_from ${name}`).join("; and ");
    const others = commands.map(({ name }) => name).join(" ");
    const only = path.length === 0 || others === "" ? where : `${where}; and not __fish_seen_subcommand_from ${others}`;
    return [
      ...commands.map(({ name, says }) => `complete -c skillgate -f -n '${only}' -a '${name}' -d ${fishText(says)}`),
      ...options.map(
        ({ long, says }) => `complete -c skillgate -n '${where}' -l '${long.slice(2)}' -d ${fishText(says)}`,
      ),
    ];
  });
  return [...new Set(rows)].join("\n");
}

function fishText(text: string): string {
  return `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`;
}
