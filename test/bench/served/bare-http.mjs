// A bare server of `node:http`: parses the JSON of a request, and answers with JSON whose text has `?characters=` characters.

import { createServer } from "node:http";

const server = createServer((request, response) => {
  const parts = [];
  request.on("data", (part) => parts.push(part));
  request.on("end", () => {
    const { id } = JSON.parse(Buffer.concat(parts).toString("utf8"));
    const characters = Number(new URL(request.url, "http://localhost").searchParams.get("characters"));
    const result = { content: [{ type: "text", text: "x".repeat(characters) }] };
    const body = JSON.stringify({ jsonrpc: "2.0", id, result });
    response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
    response.end(body);
  });
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
