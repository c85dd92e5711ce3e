// Load each session file as `gemini --resume` does, and print the history that would be sent.
import {
  convertSessionToClientHistory,
  ensureStableToolIds,
  loadConversationRecord,
} from "@google/gemini-cli-core";

const found = {};
for (const path of process.argv.slice(2)) {
  const record = await loadConversationRecord(path);
  if (record === null) {
    found[path] = null;
    continue;
  }
  const history = convertSessionToClientHistory(record.messages);
  ensureStableToolIds(history); // a response without the id of its call gets one of its own here
  found[path] = { session: record.sessionId, history: history.map((turn) => turn.content) };
}
console.log(JSON.stringify(found));
process.exit(0);
