/** Answers `/` of a server without the console. */
export function answerStartPage(): Response {
  return new Response(PAGE, { headers: { "content-type": "text/html; charset=utf-8", ...SECURITY_HEADERS } });
}

const SECURITY_HEADERS = {
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
};

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Skillgate</title>
<h1>Skillgate</h1>
<p>This server has no console. MCP clients connect to <code>/mcp</code> with the token of the server or a key.
<p><code>/openapi.json</code> describes the other endpoints, and <code>/health</code> reports the state of the server.
</html>
`;
