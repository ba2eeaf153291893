/** The files that `skillgate policy init` writes. The rows are those of requirement P4. */
export const STARTER_POLICY = `# yaml-language-server: $schema=./tools.schema.json
# Rules for methods. A key is a path (MailSkill.send), a pattern (FilesystemMCP.write_*), the name of methods of any
# skill (web_search), or a capability (capability:web_search). The most specific row applies, and only that row.
# decision: allow | ask | deny. Check the file with: skillgate policy check

# Requests to APIs of the section "sources" that do not only read, by their effects there.
"*API.*":
  requires_approval: writes
"*Graph.*":
  requires_approval: writes

web_search:
  required_scopes: [tool:web_search]
  sensitivity: low
  rate_limit: 60
  requires_approval: false

documentation:
  sensitivity: low
  rate_limit: 100
  requires_approval: false

database_query:
  required_scopes: [tool:database]
  sensitivity: high
  rate_limit: 30
  requires_approval: true

file_system:
  sensitivity: medium
  rate_limit: 50

api_call:
  sensitivity: medium
  rate_limit: 100

code_execution:
  sensitivity: high
  rate_limit: 10
  requires_approval: true
`;

/** The keys of the rows of the starter policy. */
export const STARTER_KEYS: ReadonlySet<string> = new Set(
  [...STARTER_POLICY.matchAll(/^"?([\w.*]+)"?:$/gm)].map(([, key = ""]) => key),
);
