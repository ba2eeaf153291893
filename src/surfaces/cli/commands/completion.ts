import { Argument, type Command } from "commander";

import type { Catalog } from "../../../model/catalog.ts";
import type { CliCommand } from "../command.ts";
import { type CompletedForm, completePermission } from "../input/permission-matches.ts";
import { lines } from "../text/layout.ts";
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
  program
    .command("complete-permission", { hidden: true })
    .description("print the texts that complete the start of a permission, one per line, for the scripts above")
    .addArgument(new Argument("<form>").choices(Object.values(COMPLETED_OPTIONS)))
    .argument("[start]", "the word before the cursor", "")
    .run(async ({ openRuntime }, form: CompletedForm, start: string) => {
      const getCatalog = async (): Promise<Catalog> => (await openRuntime({ until: "shown" })).catalog;
      const candidates = await completePermission(start, form, getCatalog);
      return { json: { candidates }, text: lines(candidates) };
    });
}

/** The options whose values are permissions, or patterns of methods, in every command that has them. */
const COMPLETED_OPTIONS: Readonly<Record<string, CompletedForm>> = {
  "--call": "pattern",
  "--see": "pattern",
  "--permission": "permission",
  "--permissions": "permissions",
};

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
  const forms = Object.entries(COMPLETED_OPTIONS).map(([option, form]) => `    ${option}) form="${form}" ;;`);
  return `_skillgate() {
  local current="\${COMP_WORDS[COMP_CWORD]}" chain="skillgate" words="" form="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$chain $word" in
    ${chains}) chain="$chain $word" ;;
    esac
    case "$word" in
${forms.join("\n")}
    -*) form="" ;;
    esac
  done
  COMPREPLY=()
  if [[ -n "$form" && "$current" != -* ]]; then
    _skillgate_permission "$form"
    return
  fi
  case "$chain" in
${cases.join("\n")}
  esac
  while IFS='' read -r word; do COMPREPLY+=("$word"); done < <(compgen -W "$words" -- "$current")
  if [ \${#COMPREPLY[@]} -eq 0 ]; then compopt -o default 2>/dev/null; fi
}
${BASH_PERMISSION}
complete -F _skillgate skillgate`;
}

/**
 * Asks the command, which knows the skills. Bash ends words at colons, so the word is read from the line, and what stands before
 * its last colon is left out of the candidates. Outside of quotes, each `*` gets a backslash.
 */
const BASH_PERMISSION = String.raw`_skillgate_permission() {
  local line="${"$"}{COMP_LINE:0:COMP_POINT}" start before="" quote="" each
  start="${"$"}{line##* }"
  if [[ "$start" == [\'\"]* ]]; then
    quote="${"$"}{start:0:1}" start="${"$"}{start:1}"
  else
    start="${"$"}{start//\\/}"
    if [[ "$COMP_WORDBREAKS" == *:* && "$start" == *:* ]]; then before="${"$"}{start%:*}:"; fi
  fi
  while IFS='' read -r each; do
    if [[ -z "$quote" ]]; then each="${"$"}{each//\*/\\*}"; fi
    COMPREPLY+=("${"$"}{each#"$before"}")
  done < <("${"$"}{COMP_WORDS[0]}" complete-permission "$1" -- "$start" 2>/dev/null)
  if [[ "${"$"}{COMPREPLY[*]}" == *: ]]; then compopt -o nospace 2>/dev/null; fi
}`;

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
        ({ long, says }) =>
          `complete -c skillgate -n '${where}' -l '${long.slice(2)}'${fishValues(long)} -d ${fishText(says)}`,
      ),
    ];
  });
  return [...new Set(rows)].join("\n");
}

/** Completes the value of an option, if the command knows its values. */
function fishValues(option: string): string {
  const form = COMPLETED_OPTIONS[option];
  return form === undefined ? "" : ` -x -a '(skillgate complete-permission ${form} -- (commandline -ct) 2>/dev/null)'`;
}

function fishText(text: string): string {
  return `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`;
}
